"""Commands find their own project's daemon, open its door by themselves, and talk to no other project's."""

import json
import os
import signal

from hub.client.quick import Api
from hub.errors import Code
from tests.faults.harness import project, until
from tests.hub.cli.command import environ, hub
from tests.refusals import refuses

TOKEN = "correct-horse-battery"


def env_of(made, **more):
    return {**environ(made.root.parent), "HUB_STATE_DIR": str(made.state), **more}


def test_commands_bring_the_token_and_take_the_socket(work):
    """G14 end to end: refused without, served with, and nothing to do for the user."""
    work.script("demo-first", {"ask": "Which colour?"}, {"done": "finished"})
    work.configure(f'[server]\ntoken = "{TOKEN}"\nsocket = ".hub/hub.sock"\n')
    api = work.start()
    with refuses(Code.TOKEN_NEEDED):
        api.get("/api/status")
    told = json.loads((work.hub / "daemon.json").read_text())
    assert (told["socket"], told["guarded"]) == (str(work.hub / "hub.sock"), True)
    assert TOKEN not in json.dumps(told)
    env = env_of(work)
    assert "idle" in hub("status", cwd=work.root, env=env).stdout
    assert "idle" in hub("--port", str(work.port), "status", cwd=work.root, env=env).stdout
    wrong = hub("status", "--json", cwd=work.root, env=env_of(work, HUB_TOKEN="wrong-horse-battery"))
    assert (wrong.returncode, json.loads(wrong.stdout)["error"]["code"]) == (4, "token_needed")
    asker = Api(work.port, socket=told["socket"], token=TOKEN)
    asker.post("/api/run", {"task": "ask"})
    until(lambda: asker.get("/api/status")["needsInput"], "the question is shown")
    assert hub("reply", f"blue {TOKEN}", cwd=work.root, env=env).returncode == 0
    until(work.ended, "the session ends")
    logs = hub("logs", "--json", cwd=work.root, env=env).stdout
    assert "[REDACTED:server-token:" in logs
    assert TOKEN not in logs
    assert work.stop() == 0
    assert not (work.hub / "hub.sock").exists()


def test_a_run_joins_a_daemon_with_a_token(work):
    """`hub run` beside a guarded daemon, and `hub run` that is the daemon itself."""
    work.script("demo-first", {"done": "finished"})
    work.configure(f'[server]\ntoken = "{TOKEN}"\nsocket = ".hub/hub.sock"\n')
    alone = hub("run", "--quiet", "--json", "work", cwd=work.root, env=env_of(work))
    assert json.loads(alone.stdout)["sessionState"] == "completed", alone.stderr
    work.start()
    joined = hub("run", "--quiet", "--json", "work", cwd=work.root, env=env_of(work))
    assert json.loads(joined.stdout)["sessionState"] == "completed", joined.stderr


def test_another_projects_daemon_is_not_talked_to(work, tmp_path):
    """HUB_PORT, --port or 4748 may lead to a stranger: `hub stop` must not end its session."""
    (tmp_path / "second").mkdir()
    with project(tmp_path / "second") as other:
        other.start()
        env = env_of(work, HUB_PORT=str(other.port))
        for args in (("stop", "--json"), ("status", "--json"), ("logs", "--json")):
            done = hub(*args, cwd=work.root, env=env)
            told = json.loads(done.stdout)["error"]
            assert (done.returncode, told["code"]) == (69, "other_project")
            assert str(other.root.resolve()) in told["detail"]
            assert "hub daemon" in told["hint"]
        done = hub("--port", str(other.port), "status", "--json", cwd=work.root, env=env_of(work))
        assert json.loads(done.stdout)["error"]["code"] == "other_project"
        meant = hub("-C", str(other.root), "status", "--json", cwd=work.root, env=env)
        assert json.loads(meant.stdout)["sessionState"] == "idle"


def test_another_projects_daemon_stands_in_nobodys_way(work, tmp_path):
    """It has the port that commands try where no daemon is told of: what needs none works as if nobody were there."""
    work.configure()
    (tmp_path / "second").mkdir()
    with project(tmp_path / "second") as other:
        other.start()
        env = env_of(work, HUB_PORT=str(other.port))
        for args in (
            ("key", "list"), ("account", "list"), ("providers",), ("detect",), ("usage",),
            ("account", "add", "claude", "work"), ("account", "switch", "claude", "work"), ("pipeline", "show"),
        ):  # fmt: skip
            done = hub(*args, "--json", cwd=work.root, env=env)
            assert (done.returncode, '"error": {' in done.stdout) == (0, False), (args, done.stdout)
        done = hub("key", "set", "claude", cwd=work.root, env=env, given="sk-1")
        assert done.returncode == 0, done.stderr
        assert "ANTHROPIC_API_KEY" in (work.hub / ".env").read_text()
        assert not (other.hub / ".env").exists()


ELSEWHERE = (
    ("ls",), ("ls", "-A"), ("status",), ("detect",), ("usage",), ("quota",), ("providers",), ("account", "list"),
    ("key", "list"), ("approvals",), ("graph", "show"), ("adopt", "claude:none", "--for", "codex"), ("stop",),
    ("clean",), ("take",), ("open", "--print"),
)  # fmt: skip
"""What works without a project, in none, and beside other projects' daemons; and what must touch none of them."""
ANYWHERE = {"ls -A", "detect", "usage", "quota", "providers", "account list", "key list"}


def test_in_two_projects_at_once_and_in_none(work, tmp_path):
    """Each command speaks for the project it is typed in; in none it says so, whatever daemons run."""
    (tmp_path / "second").mkdir()
    with project(tmp_path / "second") as other:
        for made in (work, other):
            made.script("demo-first", {"approve": f"deploy {made.root.parent.name}"}, {"done": "x"})
            made.configure('[[approvals]]\ncommand = "deploy*"\n')
        begun = []
        for made in (work, other):
            api = made.start()
            begun.append(api.post("/api/run", {"task": made.root.parent.name})["sessionId"])
            until(lambda api=api: api.get("/api/approvals"), "it waits")
        nowhere = tmp_path / "nowhere"
        nowhere.mkdir()
        states = env_of(work)  # both write themselves down in the same folder
        for made, session in zip((work, other), begun, strict=True):
            for words in ELSEWHERE:
                if words[0] not in ("stop", "clean", "take", "open"):
                    done = hub(*words, "--json", cwd=made.root, env=env_of(made))
                    assert done.returncode == (3 if words[0] == "adopt" else 0), (words, done.stdout)
            (row,) = json.loads(hub("ls", "--json", cwd=made.root, env=env_of(made)).stdout)["sessions"]
            assert row["sessionId"] == session
            (waiting,) = json.loads(hub("approvals", "--json", cwd=made.root, env=env_of(made)).stdout)
            assert made.root.parent.name in waiting["action"]
        for words in ELSEWHERE:
            done = hub(*words, "--json", cwd=nowhere, env=states)
            if " ".join(words) in ANYWHERE:
                assert done.returncode == 0, (words, done.stdout)
            else:
                told = json.loads(done.stdout)["error"]
                assert (done.returncode, told["code"]) == (2, "not_a_repository"), words
        assert begun[0] in hub("ls", "-A", "--json", cwd=nowhere, env=states).stdout
        assert "hub ls -A" in hub("ls", cwd=nowhere, env=states).stderr
        assert all(Api(made.port).get("/api/status")["sessionState"] == "running" for made in (work, other))
        assert not list(nowhere.iterdir())


def test_what_is_known_without_a_daemon(work):
    """The quota that the last daemon read, and nobody who waits; where none ran, a graph starts one."""
    work.script("demo-first", {"limit": {"resetsIn": 3600}})
    work.script("demo-second", {"done": "finished"})
    work.configure()
    env = env_of(work)
    assert hub("run", "--quiet", "write", cwd=work.root, env=env).returncode == 0
    rows = {row["provider"]: row for row in json.loads(hub("quota", "--json", cwd=work.root, env=env).stdout)}
    assert rows["demo-first"]["fractionUsed"] == 1
    shown = hub("quota", cwd=work.root, env=env | {"PATH": "/usr/bin:/bin"}).stdout
    assert "demo-first" in shown
    assert "claude" not in shown, "it is not installed"
    assert json.loads(hub("approvals", "--json", cwd=work.root, env=env).stdout) == []
    found = hub("graph", "show", "--json", cwd=work.root, env=env)
    try:
        assert json.loads(found.stdout)["nodes"], found.stderr
        assert "started a daemon" in found.stderr
    finally:
        os.kill(json.loads((work.hub / "daemon.json").read_text())["pid"], signal.SIGTERM)


def test_a_port_that_another_project_has_taken_over_is_no_daemon_of_ours(work, tmp_path):
    """A killed daemon's `daemon.json` may name a port that is another project's by then: `hub run` starts its own."""
    work.script("demo-first", {"done": "finished"})
    work.configure()
    (tmp_path / "second").mkdir()
    with project(tmp_path / "second") as other:
        other.start()
        work.hub.mkdir()
        (work.hub / "daemon.json").write_text(json.dumps({"port": other.port, "pid": 1}))
        done = hub("run", "--quiet", "--json", "work", cwd=work.root, env=env_of(work))
        assert json.loads(done.stdout)["sessionState"] == "completed", done.stderr
        assert Api(other.port).get("/api/status")["sessionState"] == "idle"


def test_from_inside_a_sessions_worktree_the_projects_daemon_is_found(work):
    """An agent that runs `hub status` in its worktree asks the daemon that runs it."""
    work.script("demo-first", {"hang": {}})
    work.configure()
    api = work.start()
    tree = api.post("/api/run", {"task": "work"})["worktree"]
    until(lambda: api.get("/api/status")["sessionState"] == "running", "the agent runs")
    done = hub("status", "--json", cwd=tree, env=env_of(work))
    assert json.loads(done.stdout)["sessionState"] == "running", done.stdout
