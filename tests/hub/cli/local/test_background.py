"""`hub run -d` and `hub attach` without a terminal: who carries on, and what is said of it."""

import json
import os
import signal

import pytest
from click.testing import CliRunner

from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.cli.commands import attach
from hub.cli.group import cli
from hub.client.place import told_by
from hub.client.quick import Api
from tests.faults.harness import until
from tests.hub.cli.command import hub
from tests.sample import sample
from tests.waiting import ended

DONE = ({"say": "I begin."}, {"write": {"path": "made.txt", "text": "made"}}, {"done": "made it"})


@pytest.fixture
def left(work):
    """The project; whatever daemon serves it is gone after the test."""
    yield work
    pid = told_by(work.root).pid
    if pid:
        os.kill(pid, signal.SIGTERM)
        assert ended(pid)


def test_it_starts_a_daemon_and_returns(left):
    """What can be done next is printed, and each of these commands works."""
    left.script("demo-first", {"say": "I begin."}, {"ask": "Which colour?"}, *DONE[1:])
    left.configure()
    env = left.environ()
    done = hub("run", "-d", "make it", cwd=left.root, env=env)
    assert done.returncode == 0, done.stderr
    session = done.stdout.split("hub attach ")[1].split()[0]
    assert f"session {session} on hub/{session}" in done.stderr
    again = hub("run", "-d", "--queue", "--json", "another", cwd=left.root, env=env)
    assert json.loads(again.stdout)["position"] == 1
    assert "in the background" not in again.stderr, "the same daemon"
    api = Api(told_by(left.root).port)
    until(lambda: api.get("/api/status", {"sessionId": session})["needsInput"], "the agent asks")
    assert hub("reply", "--session", session[:-3], "blue", cwd=left.root, env=env).returncode in (0, 3)
    api.post("/api/session/stop", {"sessionId": json.loads(again.stdout)["sessionId"]})
    seen = hub("attach", session, cwd=left.root, env=env)
    assert seen.returncode == 0, seen.stderr
    assert "I begin." in seen.stderr
    assert "made it" in seen.stderr
    assert "done, not verified" in seen.stdout
    assert "\x1b" not in seen.stderr + seen.stdout
    over = hub("attach", session[:-2], "--json", cwd=left.root, env=env)
    assert json.loads(over.stdout)["sessionState"] == "completed"


def test_a_daemon_that_refuses_the_order_and_stays_is_told(left):
    """It went on with the session of the killed one, unseen: the next `hub daemon` found the project held."""
    left.script("demo-first", {"ask": "Which colour?"}, *DONE)
    left.configure()
    api = left.start()
    session = api.post("/api/run", {"task": "make it"})["sessionId"]
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    left.kill()
    refused = hub("run", "-d", "another", cwd=left.root, env=left.environ())
    assert refused.returncode == 1
    assert refused.stderr.startswith("started a daemon for")
    assert f"{session} is running." in refused.stderr


def test_what_a_daemon_has_to_tell_at_its_start_is_told(left):
    """In a copy of a project (`cp -r`) all sessions were gone at once, and only the log in the background said why."""
    left.script("demo-first", *DONE)
    left.configure()
    left.start()
    left.stop()
    (left.hub / "stamp.json").write_text("{}")
    done = hub("run", "-d", "make it", cwd=left.root, env=left.environ())
    assert done.stderr.startswith(f"hub: {left.hub} was not made by this hub at this place: it was copied")
    assert "git worktree repair" in done.stderr
    assert f"\nstarted a daemon for {left.root} in the background: " in done.stderr


def test_a_start_that_fails_is_told_as_if_it_were_here(work):
    """The daemon's own error, with its exit status."""
    work.configure()
    (work.root / ".hub").write_text("not a folder")
    done = hub("run", "-d", "--json", "x", cwd=work.root, env=work.environ())
    here = hub("run", "--json", "x", cwd=work.root, env=work.environ())
    assert json.loads(done.stdout)["error"]["code"] == json.loads(here.stdout)["error"]["code"]
    assert done.returncode == here.returncode != 0


def test_a_node_that_is_over_is_over_though_its_pipeline_said_more_of_it(left):
    """Attaching to it waited for ever for an end that had been."""
    left.script("demo-first", {"done": "made it"})
    left.configure(
        '[[pipelines]]\nname = "p"\n[[pipelines.nodes]]\nid = "a"\nprovider = "demo-first"\ntask = "x"\n'
    )
    api = left.start()
    api.post("/api/pipelines/run", {"name": "p"})
    until(lambda: api.get("/api/pipelines/run")["state"] == "completed", "the pipeline is over")
    node = api.get("/api/pipelines/run")["nodes"][0]["sessionId"]
    over = hub("attach", node, "--json", cwd=left.root, env=left.environ())
    assert json.loads(over.stdout)["sessionState"] == "completed"


def test_who_leaves_a_session_at_work_is_told_in_the_way_that_was_asked_for(monkeypatch):
    """With --json it was two sentences."""

    class Daemon:
        def read(self, kind, path, query=None):
            if kind is Sessions:
                return Sessions(sessions=[sample(Session, sessionId="s-1")], concurrent=1)
            return sample(Status, sessionId=query["sessionId"], sessionState="running")

        def again(self):
            return self

    async def left_at_once(*_, **__):
        return None

    monkeypatch.setattr(attach, "running", lambda _: Daemon())
    monkeypatch.setattr(attach, "_watch", left_at_once)
    said = CliRunner().invoke(cli, ["attach", "--json"])
    assert (said.exit_code, json.loads(said.output)["sessionState"]) == (0, "running")
    assert CliRunner().invoke(cli, ["attach"]).output.startswith("left at work")


def test_nobody_to_come_back_to(work):
    work.configure()
    assert hub("attach", cwd=work.root, env=work.environ()).returncode == 69
    work.start()
    assert hub("attach", cwd=work.root, env=work.environ()).returncode == 1
    assert hub("attach", "s-9", cwd=work.root, env=work.environ()).returncode == 3


def test_a_question_about_the_code_goes_on_with_no_session(work):
    """Bug: `hub graph show` after a crash started a daemon, and the agent with it."""
    work.script("demo-first", {"ask": "Which colour?"}, *DONE)
    work.configure()
    api = work.start()
    api.post("/api/run", {"task": "make it"})
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    work.kill()
    asked = hub("graph", "show", cwd=work.root, env=work.environ())
    assert asked.returncode == 69
    assert "would go on with session s-" in asked.stderr
    assert not (work.state / "daemons").exists(), "no daemon was begun"
