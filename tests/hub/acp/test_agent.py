"""What hub tells an editor before anything is worked on: which projects, who may work, and what there is."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from hub import __version__
from hub.acp.agent import page_of
from hub.api.sessions import Session
from hub.wire.frames import RefusedError
from tests.faults.harness import git, project
from tests.hub.acp.kit import editor, opened
from tests.sample import sample


@pytest.fixture
def work(tmp_path):
    with project(tmp_path) as made:
        made.script("demo-first", {"done": "done"})
        made.script("demo-second", {"done": "done by the second"})
        made.configure()
        yield made


def test_a_session_is_for_the_project_around_the_folder(work):
    work.start()
    inner = work.root / "src"
    inner.mkdir()
    with editor(work) as ed:
        assert "result" in ed.ask("session/new", cwd=str(inner), mcpServers=[])


def test_a_folder_without_a_project_is_refused_with_the_next_step(work, tmp_path):
    with editor(work) as ed:
        error = ed.ask("session/new", cwd=str(tmp_path), mcpServers=[])["error"]
    assert error["data"]["code"] == "not_a_repository"
    assert f"git -C {tmp_path} init" in error["message"]


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_a_folder_that_is_none_is_said_to_be_none(work, name):
    (work.root / "file").touch()
    with editor(work) as ed:
        error = ed.ask("session/new", cwd=str(work.root / name), mcpServers=[])["error"]
    assert error["code"] == -32602
    assert str(work.root / name) in error["message"]


def test_an_agent_for_one_project_takes_no_other(work, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    with opened(tmp_path, work.environ(), "--project", str(work.root)) as ed:
        error = ed.ask("session/new", cwd=str(other), mcpServers=[])["error"]
    assert error["data"]["code"] == "outside_project"


def test_a_project_that_is_not_trusted_starts_nothing_and_says_what_to_do(work):
    with editor(work, HUB_TRUST="") as ed:
        error = ed.ask("session/new", cwd=str(work.root), mcpServers=[])["error"]
    assert error["data"]["code"] == "trust_needed"
    assert error["message"].endswith("in a terminal in that folder: hub trust")
    assert error["data"]["details"] in error["message"], "Toad shows this member"
    assert not (work.hub / "daemon.json").exists()


def test_the_daemon_is_started_where_there_is_none_and_outlives_the_editor(work):
    with editor(work) as ed:
        ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
        assert ed.leave() == 0
        pid = work.announced()
        with editor(work) as again:
            again.new()
            assert work.announced() == pid


class OlderDaemon(BaseHTTPRequestHandler):
    """A daemon of an older version, as far as an editor sees it: its agents lack a member, and most is not there."""

    def do_GET(self):
        known = {
            "/api/health": {"ok": True, "port": self.server.server_port, "version": "0.0.9", "project": "/"},
            "/api/providers": [{"name": "claude", "status": "standby"}],
        }
        missing = {
            "code": "not_found",
            "detail": "There is no such thing here.",
            "hint": "See /openapi.json.",
            "status": 404,
        }
        body = json.dumps(known.get(self.path, missing)).encode()
        self.send_response(200 if self.path in known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_beside_an_older_daemon_it_says_so_and_goes_on_once_that_has_ended(work):
    """Both versions, the daemon's process, and what to do; the same editor then works with a daemon of its own."""
    older = ThreadingHTTPServer(("127.0.0.1", 0), OlderDaemon)
    Thread(target=older.serve_forever).start()
    work.script("demo-first", {"write": {"path": "a.txt", "text": "a\n"}}, {"done": "made it"})
    work.configure()
    work.hub.mkdir(mode=0o700)
    (work.hub / "daemon.json").write_text(json.dumps({"pid": 4_000_001, "port": older.server_port}))
    with editor(work) as ed:
        for method in ("session/new", "session/list"):
            error = ed.ask(method, cwd=str(work.root), mcpServers=[])["error"]
            assert "hub 0.0.9" in error["message"]
            assert f"hub {__version__}" in error["message"]
            assert "kill 4000001" in error["message"]
        older.shutdown()
        older.server_close()
        ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
        assert "made it" in ed.words()


def test_agents_and_profiles_are_offered_and_chosen(work):
    work.configure('\n[[profiles]]\nname = "careful"\nchain = ["demo-first"]\n')
    work.start()
    with editor(work) as ed:
        answer = ed.ask("session/new", cwd=str(work.root), mcpServers=[])["result"]
        ed.session = answer["sessionId"]
        agent, profile = answer["configOptions"]
        assert (agent["id"], agent["category"], agent["currentValue"]) == ("agent", "model", "auto")
        assert {"auto", "demo-first", "demo-second"} <= {option["value"] for option in agent["options"]}
        assert (profile["id"], profile["category"]) == ("profile", "mode")
        assert answer["modes"]["currentModeId"] == "auto"
        chosen = ed.ask(
            "session/set_config_option", sessionId=ed.session, configId="agent", value="demo-second"
        )["result"]
        assert chosen["configOptions"][0]["currentValue"] == "demo-second"
        for wrong in ({"configId": "agent", "value": "nobody"}, {"configId": "x", "value": "auto"}):
            answer = ed.ask("session/set_config_option", sessionId=ed.session, **wrong)
            assert answer["error"]["code"] == -32602
        assert ed.ask("session/set_mode", sessionId=ed.session, modeId="careful")["result"] == {}
        assert ed.updates[-1]["configOptions"][1]["currentValue"] == "careful", "both ways of choosing agree"
        ed.ask("session/set_config_option", sessionId=ed.session, configId="profile", value="auto")
        assert ed.updates[-1] == {"sessionUpdate": "current_mode_update", "currentModeId": "auto"}
        ed.prompt("make it")
    assert "done by the second" in ed.words()


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
def test_what_has_not_begun_is_opened_again_with_nothing_in_it(work, method):
    work.start()
    with editor(work) as ed:
        session = ed.new()
        answer = ed.ask(method, sessionId=session, cwd=str(work.root), mcpServers=[])
        assert answer["result"]["modes"]["currentModeId"] == "auto"
        assert ed.updates == []
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    assert "done" in ed.words()


def test_sessions_are_listed_the_newest_first(work):
    work.start()
    with editor(work) as ed:
        assert ed.ask("session/list")["result"] == {"sessions": []}
        first = ed.new()
        ed.prompt("make it")
        second = ed.new()
        ed.prompt("make more")
        rows = ed.ask("session/list", cwd=str(work.root))["result"]["sessions"]
    assert [(row["sessionId"], row["title"]) for row in rows] == [(second, "make more"), (first, "make it")]
    assert {row["cwd"] for row in rows} == {str(work.root)}


def test_a_long_list_comes_in_pages():
    rows = [sample(Session, sessionId=f"s-1-{n}") for n in range(250)]
    seen, cursor = [], None
    for size in (100, 100, 50):
        page, more = page_of(rows, cursor)
        assert len(page) == size
        seen += page
        cursor = page[-1].session_id
    assert not more
    assert seen == rows
    assert page_of(rows[:100], None) == (rows[:100], False)
    for wrong in ("s-1-none", 7, ["s-1-1"]):
        with pytest.raises(RefusedError):
            page_of(rows, wrong)


def test_without_a_daemon_a_list_starts_none(work):
    with editor(work) as ed:
        assert ed.ask("session/list")["result"] == {"sessions": []}
    assert not (work.hub / "daemon.json").exists()
