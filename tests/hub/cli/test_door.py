"""Commands find their own project's daemon, open its door by themselves, and talk to no other project's."""

from __future__ import annotations

import json

import pytest

from hub.client.quick import Api
from hub.errors import Code, HubError
from tests.faults.harness import project, until
from tests.hub.cli.command import environ, hub

TOKEN = "correct-horse-battery"


def env_of(made, **more):
    return {**environ(made.root.parent), "HUB_STATE_DIR": str(made.state), **more}


def test_commands_bring_the_token_and_take_the_socket(work):
    """G14 end to end: refused without, served with, and nothing to do for the user."""
    work.script("demo-first", {"ask": "Which colour?"}, {"done": "finished"})
    work.configure(f'[server]\ntoken = "{TOKEN}"\nsocket = ".hub/hub.sock"\n')
    api = work.start()
    with pytest.raises(HubError) as refused:
        api.get("/api/status")
    assert refused.value.code is Code.TOKEN_NEEDED
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
