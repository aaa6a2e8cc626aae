"""`hub run` and `hub daemon` as processes: a task to its end, Ctrl-C, and what is refused before a daemon is started."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import attrs
import click
import pytest

from hub.api.status import Status
from hub.cli.ending import cause_of
from hub.cli.local import join
from hub.cli.terminal import outcome
from hub.client.quick import Api
from hub.domain.session import SessionState
from hub.errors import Code, HubError
from tests.faults.harness import git, until
from tests.hub.cli.command import hub
from tests.left import users_umask
from tests.sample import sample

DONE = ({"write": {"path": "made.txt", "text": "made"}}, {"done": "made it"})
TASK = ("run", "--verify", "test -f made.txt", "make it")


def run_json(work, *args, status=0, **env):
    """`hub run --json` in the project; its document."""
    done = hub(*args, "--json", cwd=work.root, env=work.environ(**env))
    assert done.returncode == status, (done.stdout, done.stderr)
    assert "starting hub" not in done.stderr, "that is for people"
    return json.loads(done.stdout)


@pytest.fixture
def ready(work):
    """A project whose first agent makes a file and is done."""
    work.script("demo-first", *DONE)
    work.configure()
    return work


def test_run_with_a_daemon_of_its_own(ready):
    """One command from nothing to verified work; what is shown goes to stderr, the outcome to stdout."""
    done = hub(*TASK, cwd=ready.root, env=ready.environ())
    assert done.returncode == 0, done.stderr
    assert "done and verified" in done.stdout
    told = ["starting hub ...", "hub serves this session on"]  # it was silent for seconds before
    assert [line[: len(words)] for line, words in zip(done.stderr.splitlines(), told, strict=False)] == told
    assert "write made.txt" in done.stderr
    session = done.stdout.partition("take it:  hub take ")[2].strip()
    assert git(ready.root, "show", f"hub/{session}:made.txt") == "made"
    assert not (ready.hub / "daemon.json").exists(), "its daemon has ended"
    assert (ready.root / "README.md").read_text() == "hello\n"


def test_run_joins_the_daemon_that_runs(ready):
    """The same command beside a daemon: the session is that daemon's, and the daemon lives on."""
    api = ready.start()
    status = run_json(ready, *TASK)
    assert api.get("/api/status")["sessionId"] == status["sessionId"]
    assert len(ready.starts()) == 1


def test_run_does_not_join_another_projects_daemon(ready, repo):
    """HUB_PORT names a port, not a project: a daemon that serves another one is left alone."""
    api = ready.start()
    (repo / "hub.toml").write_text("[providers.demo-first]\nenabled = true\n")
    done = hub("run", "x", "--json", cwd=repo, env=ready.environ(HUB_PORT=str(ready.port)))
    assert done.returncode == 76
    assert api.get("/api/status")["sessionState"] == "idle"


def test_a_repository_without_a_commit_is_refused_before_a_daemon_is_started(tmp_path):
    """It started one, which made all its files, only to be told so."""
    git(tmp_path, "init", "-q")
    done = hub("run", "x", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"hub: {tmp_path} has no commit yet.\n     Run: git commit --allow-empty -m start\n"
    assert not (tmp_path / ".hub").exists()


NOBODY = "".join(
    f"[providers.{name}]\nprogram = '/nowhere'\n"
    for name in ("claude", "codex", "gemini", "opencode", "qwen", "copilot", "aider")
)


@pytest.mark.parametrize(("more", "says"), [((), "hub demo"), (("--provider", "codex"), "npm install")])
def test_where_no_agent_is_installed_no_daemon_is_started_to_say_so(repo, more, says):
    """It was started, and told its address, for nothing."""
    (repo / "hub.toml").write_text(NOBODY)
    done = hub("run", *more, "x", cwd=repo)
    assert (done.returncode, done.stdout) == (1, "")
    assert "installed." in done.stderr
    assert says in done.stderr
    assert "hub serves" not in done.stderr
    assert not (repo / ".hub").exists()


def test_a_daemon_that_runs_may_have_an_agent_that_is_not_on_the_path(work, tmp_path):
    """Its PATH is not the user's: only where the daemon would be one's own is it sure that nobody is there."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    plain = "/usr/bin:/bin"
    work.start(PATH=f"{program.parent}:{plain}", HOME=str(tmp_path), IS_SANDBOX="1")  # or it refuses root
    refused = run_json(work, "run", "x", status=4, PATH=plain)["error"]
    assert (refused["code"], "claude" in refused["detail"]) == ("auth_needed", True)


def test_a_chain_that_names_nobody_is_refused_before_a_daemon_is_started(repo):
    """A misspelt name was passed by, and what was said is that no agent is installed."""
    (repo / "hub.toml").write_text('[session]\nchain = ["claude", "cluade"]\n')
    done = hub("run", "x", "--json", cwd=repo)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (2, "config_invalid")
    assert "'cluade'" in error["detail"]
    assert "claude, codex" in error["hint"]
    assert not (repo / ".hub").exists()


def test_settings_hold_in_their_order(work):
    """Option over environment over hub.toml: with no handoff allowed, the limit ends the run with 6."""
    work.script("demo-first", {"limit": {"resetsIn": 3600}})
    work.script("demo-second", *DONE)
    work.configure(session='onLimit = "stop"\n')
    stopped = run_json(work, "run", "x", status=6)
    assert stopped["error"]["code"] == "quota_exhausted"
    shutil.rmtree(work.hub)  # nobody begins with an account that is known to be used up
    assert run_json(work, "run", "x", HUB_ON_LIMIT="handoff")["handoffsDone"] == 1
    shutil.rmtree(work.hub)
    assert (
        run_json(work, "run", "--on-limit", "stop", "x", status=6, HUB_ON_LIMIT="handoff")["handoffsDone"]
        == 0
    )


class Watched:
    """A running `hub run` in a process group of its own, with what it has said so far."""

    def __init__(self, work, **env):
        self.child = subprocess.Popen(
            [sys.executable, "-m", "hub", "run", "long work"],
            cwd=work.root,
            env=work.environ(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.said = ""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        for text in self.child.stderr:
            self.said += text

    def has_said(self, text):
        """Wait until it has."""
        until(lambda: text in self.said or not self._reader.is_alive(), f"hub run says {text!r}")
        assert text in self.said, self.said

    def end(self):
        """Its exit status and its standard output."""
        out = self.child.stdout.read()
        status = self.child.wait(timeout=60)
        self._reader.join()
        self.child.stdout.close()
        self.child.stderr.close()
        return status, out


@pytest.fixture
def watched(work):
    """`hub run` with an agent that has written half and would work for ten minutes."""
    work.script(
        "demo-first", {"write": {"path": "half.txt", "text": "half"}}, {"say": "HALF"}, {"sleep": 600}
    )
    work.configure()
    made = Watched(work)
    yield made
    if made.child.poll() is None:
        os.killpg(made.child.pid, signal.SIGKILL)
        made.end()


@pytest.mark.parametrize("whom", ["group", "process"])
def test_ctrl_c_once_stops_in_order(work, watched, whom):
    """A terminal sends SIGINT to the whole group: the session ends stopped, snapshot included, exit 130."""
    watched.has_said("HALF")
    send = os.killpg if whom == "group" else os.kill
    send(watched.child.pid, signal.SIGINT)
    status, out = watched.end()
    assert status == 130
    assert "stopped; the work so far is on the branch" in out
    assert "Traceback" not in watched.said
    record = work.fsm()
    assert record["sessionState"] == "stopped"
    assert git(work.root, "show", f"{record['branch']}:half.txt") == "half"
    assert not (work.hub / "daemon.json").exists()


def test_a_closed_terminal_stops_in_order(work, watched):
    """It ended the daemon as a crash does: the session was never over, and the next `hub run` was refused."""
    watched.has_said("HALF")
    os.killpg(watched.child.pid, signal.SIGHUP)
    os.kill(watched.child.pid, signal.SIGHUP)  # from the terminal and from its shell
    assert watched.end()[0] == 130
    record = work.fsm()
    assert record["sessionState"] == "stopped"
    assert git(work.root, "show", f"{record['branch']}:half.txt") == "half"


@pytest.mark.parametrize(("beside", "status", "state"), [(False, 130, "stopped"), (True, 0, "running")])
def test_a_reader_that_leaves_stops_the_session_of_this_process(work, beside, status, state):
    """`hub run 2>&1 | head`: the session was stopped, and the status 0 as if it was done."""
    more = [{"say": f"line {n} {'.' * 80}"} for n in range(100)]
    work.script("demo-first", {"say": "HALF"}, *more, {"sleep": 600})
    work.configure()
    api = work.start() if beside else None
    child = subprocess.Popen(
        [sys.executable, "-m", "hub", "run", "x"], cwd=work.root, env=work.environ(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pipesize=4096,
    )  # fmt: skip
    with child.stdout as reader:
        while b"HALF" not in reader.readline():
            pass
    assert child.wait(timeout=60) == status
    assert (api.get("/api/status") if api else work.fsm())["sessionState"] == state


@pytest.mark.parametrize("more", [(), ("--json",), ("--quiet",)])
def test_a_session_that_failed_is_told_by_the_status_whoever_has_left(work, more):
    """`hub run x | true`: its last lines met a reader that had gone, and the status was 0 as if it was done."""
    work.script("demo-first", {"done": "x"})
    work.configure()
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "hub", "run", "--verify", "false", *more, "x"]
    with os.fdopen(writing, "wb") as nobody:
        done = subprocess.run(
            words, cwd=work.root, env=work.environ(), stdout=nobody, timeout=120, check=False
        )
    assert (done.returncode, work.fsm()["sessionState"]) == (1, "failed")


@pytest.mark.parametrize(
    ("number", "status", "state"), [(signal.SIGHUP, 129, "running"), (signal.SIGINT, 130, "stopped")]
)
def test_beside_a_daemon_a_closed_terminal_leaves_the_session_and_ctrl_c_stops_it(
    work, number, status, state
):
    """The session is another process's: the daemon lives on."""
    work.script("demo-first", {"say": "HALF"}, {"sleep": 600})
    work.configure()
    api = work.start()
    watched = Watched(work)
    watched.has_said("HALF")
    os.killpg(watched.child.pid, number)
    assert watched.end()[0] == status
    assert api.get("/api/status")["sessionState"] == state


def test_leaving_at_once_says_who_goes_on(work, watched):
    """Ctrl-C twice: the agent is left to the next daemon, and the next `hub run` neither ends nor hides its session."""
    watched.has_said("HALF")
    os.kill(watched.child.pid, signal.SIGSTOP)  # both are there before it can act upon the first
    os.kill(watched.child.pid, signal.SIGINT)
    os.kill(watched.child.pid, signal.SIGTERM)
    os.kill(watched.child.pid, signal.SIGCONT)
    status, _ = watched.end()
    assert status in (130, 143)
    assert "See to the end of its session: hub daemon" in watched.said
    session = work.fsm()["sessionId"]
    refused = run_json(work, "run", "another task", status=1)["error"]
    assert refused["code"] == "session_already_running", refused
    assert session in refused["detail"]
    assert "hub daemon" in refused["hint"]
    assert work.fsm()["sessionState"] == "running"
    api = work.start()
    assert api.get("/api/status")["sessionId"] == session
    api.post("/api/session/stop")


def test_a_stop_that_was_left_at_once_is_seen_through_by_the_next_run(work):
    """The agent had obeyed the first Ctrl-C: its session was told as `failed`, and another task was refused."""
    work.script(
        "demo-first", {"write": {"path": "half.txt", "text": "half"}}, {"say": "HALF"}, {"sleep": 600}
    )
    work.configure()
    watched = Watched(work, HUB_FAILPOINTS="stop.gone=exit:130")  # the second Ctrl-C, at that very moment
    watched.has_said("HALF")
    os.kill(watched.child.pid, signal.SIGINT)
    assert watched.end()[0] == 130
    left = work.fsm()
    assert (left["sessionState"], left["stopping"]) == ("running", "user")
    work.script("demo-first", *DONE)
    done = hub(*TASK, cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    assert f"the earlier session {left['sessionId']} is being stopped in order\n" in done.stderr
    assert git(work.root, "show", f"{left['branch']}:half.txt") == "half"
    timeline = json.loads(hub("history", "--json", cwd=work.root, env=work.environ()).stdout)
    ends = [row["summary"] for row in timeline if row["event"] == "session_ended"]
    assert ends == ["stopped", "completed"]


async def test_ctrl_c_while_the_daemon_starts(work, monkeypatch):
    """It fell out of the start as an internal error: now the start is finished, nothing is run, and all ends in order."""
    work.configure()
    for name, value in work.environ().items():
        monkeypatch.setenv(name, value)
    sent = []

    def interrupted(event):
        if not sent:
            sent.append(event)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setenv("HUB_DEBUG", "1")
    monkeypatch.setattr(join, "report", interrupted)
    with pytest.raises(HubError) as refused, leaf_of(), users_umask():
        async with join.daemon_for(work.root, None, quiet=True) as joined:
            await joined.start_session({"task": "x"})
    assert refused.value.code is Code.INTERRUPTED
    assert sent
    assert not (work.hub / "daemon.json").exists()
    assert not (work.hub / "fsm.json").exists(), "no session was started"


@contextmanager
def leaf_of():
    """The error that the nurseries raised their groups for."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise cause_of(group) from group


@pytest.mark.parametrize("command", [("run", "x"), ("daemon", "--port", "0"), ("init",), ("audit", "verify")])
def test_outside_a_repository(tmp_path, command):
    """What is wrong and the command that mends it; nothing is left in the folder."""
    where = tmp_path / "empty"
    where.mkdir()
    done = hub(*command, "--json", cwd=where)
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "not_a_repository"
    assert "git init" in error["hint"]
    assert not list(where.iterdir())


@pytest.mark.parametrize("command", [("run", "x"), ("daemon", "--port", "0")])
@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("[session]\nchain = [\n", ":3:1", ""),
        ("[session]\nthreshold = 2\n", ":2:", "session.threshold"),
        ("[sesion]\n", ":1:", "session"),
    ],
)
def test_a_bad_hub_toml(work, command, text, place, says):
    """The file, the line and the column, before anything is started."""
    (work.root / "hub.toml").write_text(text)
    done = hub(*command, "--json", cwd=work.root, env=work.environ())
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["code"] == "config_invalid"
    assert f"hub.toml{place}" in error["detail"]
    assert says in error["detail"]
    assert not work.hub.exists()


def test_no_permission_to_write(ready):
    """A project that may only be read: said so, with the path, and no traceback.

    Root gives its capabilities away for it, and stays root: another user might not enter the folder of the checkout.
    """
    weak = ["setpriv", "--bounding-set=-all"] if os.geteuid() == 0 else []
    ready.root.chmod(0o555)
    done = subprocess.run(
        [*weak, sys.executable, "-m", "hub", "daemon", "--port", "0"],
        cwd=ready.root,
        env=ready.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    ready.root.chmod(0o755)
    assert done.returncode == 1, done
    assert str(ready.root) in done.stderr
    assert "Traceback" not in done.stderr
    assert not ready.hub.exists()


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("--provider", "Known: claude, codex,"),
        ("--profile", "Known: careful."),
        ("--kind", "There are profiles for: docs."),
    ],
)
def test_a_name_that_nothing_has_starts_no_daemon(repo, option, says):
    """A daemon was started to say so, and said its address first; a profile's hint named a route of the API."""
    (repo / "hub.toml").write_text('[[profiles]]\nname = "careful"\nkinds = ["docs"]\n')
    done = hub("run", option, "nope", "work", cwd=repo)
    assert done.returncode == 2, done
    assert says in done.stderr
    assert "'nope'" in done.stderr.splitlines()[0]
    assert not (repo / ".hub").exists()


@pytest.mark.parametrize("how", ["flag", "variable"])
def test_the_demo_pair_is_off_unless_asked_for(work, how):
    """`hub daemon --demo` and HUB_DEMO=1 do the same."""

    def enabled(*args, **env):
        child = subprocess.Popen(
            [sys.executable, "-m", "hub", "daemon", "--port", "0", "--json", *args],
            cwd=work.root,
            env=work.environ(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with child:
            told = json.loads(child.stdout.readline())
            found = {
                entry["name"]: entry["enabled"] for entry in Api(told["port"]).get("/api/config/providers")
            }
            child.send_signal(signal.SIGTERM)
            child.stdout.read()
            assert child.wait(timeout=60) == 0
        return found["demo-first"], found["demo-second"]

    assert enabled() == (False, False)
    assert enabled(
        *(["--demo"] if how == "flag" else []), **({} if how == "flag" else {"HUB_DEMO": "1"})
    ) == (True, True)


def test_in_a_narrow_terminal_the_outcome_is_broken_between_words(monkeypatch, tmp_path):
    """The words "on the branc" and "h" stood on two lines at 40 columns; what is to be copied stays whole."""
    monkeypatch.setattr(outcome, "columns", lambda _: 40)
    told = sample(
        Status, sessionId="s-1", sessionState="stopped", handoffsDone=0, tokensUsed=2560, error=None
    )
    text = click.unstyle(outcome.summary(told, tmp_path))
    assert "stopped; the work so far is on the\nbranch\n" in text
    done = attrs.evolve(told, session_state=SessionState.COMPLETED, verified=False)
    lines = click.unstyle(outcome.summary(done, tmp_path)).split("\n")
    assert '  hub run --verify "make test" "..."' in lines


@pytest.mark.parametrize(
    ("code", "where"),
    [("quota_exhausted", "the work so far is on the branch"), ("worktree_tampered", "still in its worktree")],
)
def test_of_one_that_failed_it_is_said_where_its_work_is(tmp_path, code, where):
    """With what keeps a snapshot from being made the last work is on no branch."""
    error = {"code": code, "detail": "why", "hint": "next"}
    told = sample(Status, sessionState="failed", error=error, worktree=str(tmp_path))
    assert where in click.unstyle(outcome.summary(told, tmp_path))


def test_of_one_that_failed_before_it_had_a_worktree_nothing_can_be_seen_or_taken(tmp_path):
    """It was said that its work is still in its worktree, and how to take it."""
    error = {"code": "no_permission", "detail": "why", "hint": "do this"}
    told = sample(Status, sessionState="failed", error=error, worktree=str(tmp_path / "none"))
    said = click.unstyle(outcome.summary(told, tmp_path))
    assert "failed; no agent has begun" in said
    assert said.endswith("next: do this")
