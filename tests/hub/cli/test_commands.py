"""The commands against a real daemon with real child processes, one session from its start to its history."""

import json
import subprocess
import sys

import pytest

from hub.client.quick import Api
from tests.faults.harness import PATIENCE, git, project, until
from tests.hub.cli.command import hub

ASK = {"ask": "Which colour?"}
RUN = {"task": "paint it", "verify": ["test -f done.txt"]}


@pytest.fixture
def say(work):
    """Run a command in the project; returns what it said as JSON, having seen that it went well."""

    def command(*args, status=0):
        done = hub(*args, "--json", cwd=work.root, env=work.environ())
        assert done.returncode == status, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    return command


def asking(work):
    """A daemon whose agent waits for an answer."""
    work.script(
        "demo-first", {"say": "hello"}, ASK, {"write": {"path": "done.txt", "text": "x"}}, {"done": "painted"}
    )
    work.script(
        "demo-second", {"say": "mine"}, {"write": {"path": "done.txt", "text": "y"}}, {"done": "done"}
    )
    work.configure()
    api = work.start()
    api.post("/api/run", RUN)
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    return api


def test_a_session_from_question_to_rewind(work, say):
    """status, pause, resume, reply, logs, diff, history, rewind and audit, in the order of a session."""
    api = asking(work)
    assert say("status")["needsInput"] is True
    assert "hub reply" in hub("status", cwd=work.root, env=work.environ()).stdout
    assert say("pause")["ok"] is True
    assert say("resume")["ok"] is True
    assert say("reply", "green")["ok"] is True
    until(work.ended, "the session ends")
    ended = say("status")
    assert (ended["sessionState"], ended["verified"]) == ("completed", True)
    assert ended["cost"] == api.get("/api/session/cost")
    assert ended["pipeline"] is None
    assert "cost      $0\n" in hub("status", cwd=work.root, env=work.environ()).stdout

    records = say("logs")
    assert [record["id"] for record in records] == list(range(1, len(records) + 1))
    assert any("Which colour?" in record["msg"] for record in records)
    assert say("logs", "--since", str(len(records))) == []
    assert "done.txt" in say("diff")["diff"]
    assert "done.txt" in hub("diff", "--stat", cwd=work.root, env=work.environ()).stdout
    assert say("history")[-1]["event"]
    assert say("history", "--handoffs") == []

    commit = say("history", "--commits")[0]
    assert say("history", "--diff", commit["sha"])["sha"] == commit["sha"]
    branch = say("rewind", commit["short"])["branch"]
    assert git(work.root, "rev-parse", branch) == commit["sha"]
    assert git(work.root, "rev-parse", "--abbrev-ref", "HEAD") == "main"
    assert say("audit", "verify")["state"] == "intact"


def test_a_handoff_by_hand_and_its_picture(work, say):
    """hub handoff moves the work; hub history --handoffs draws how long each state took."""
    asking(work)
    given = hub("handoff", cwd=work.root, env=work.environ())
    session = say("status")["sessionId"]
    assert given.stdout == f"handing over - watch it: hub attach {session}\n"
    until(work.ended, "the second agent ends it")
    assert say("status")["handoffsDone"] == 1
    drawn = hub("history", "--handoffs", cwd=work.root, env=work.environ()).stdout.splitlines()
    assert drawn[0].startswith("handed over in ")
    assert [row.split()[0] for row in drawn[1:]] == [
        "PAUSING",
        "SNAPSHOTTED",
        "ENVELOPE_BUILT",
        "DISPATCHED",
        "RESUMING",
        "RUNNING",
    ]


def test_stop_leaves_a_snapshot(work, say):
    """hub stop: the session is stopped, and what the agent wrote is on the branch."""
    work.script("demo-first", {"write": {"path": "half.txt", "text": "half"}}, ASK)
    work.configure()
    api = work.start()
    api.post("/api/run", RUN)
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    assert say("stop")["ok"] is True
    status = say("status")
    assert status["sessionState"] == "stopped"
    assert git(work.root, "show", f"{status['branch']}:half.txt") == "half"


@pytest.mark.parametrize(
    ("arguments", "status", "code"),
    [
        (("handoff",), 1, "no_active_session"),
        (("reply", "x"), 1, "no_active_session"),
        (("stop",), 1, "no_active_session"),
        (("rewind", "abcdef1"), 3, "not_found"),
        (("rewind", "--", "--output=x"), 2, "usage"),
        (("history", "--diff", "HEAD"), 2, "usage"),
    ],
)
def test_what_the_daemon_refuses_is_coded(quiet, arguments, status, code):
    """The daemon's problem document becomes the command's exit status, in both outputs."""
    told = hub(arguments[0], "--json", *arguments[1:], cwd=quiet.root, env=quiet.environ())
    assert told.returncode == status, told
    error = json.loads(told.stdout)["error"]
    assert error["code"] == code
    plain = hub(*arguments, cwd=quiet.root, env=quiet.environ())
    assert (plain.returncode, plain.stdout) == (status, "")
    assert plain.stderr.splitlines()[0] == f"hub: {error['detail']}"


def test_a_second_daemon_is_75_and_a_taken_port_76(quiet, repo_beside):
    """The table of exit statuses, as a service manager sees it."""
    second = hub("daemon", "--port", "0", "--json", cwd=quiet.root, env=quiet.environ())
    assert second.returncode == 75
    error = json.loads(second.stdout)["error"]
    assert (error["code"], str(quiet.daemon.pid) in error["detail"]) == ("project_locked", True)
    taken = hub("daemon", "--port", str(quiet.port), "--json", cwd=repo_beside, env=quiet.environ())
    assert taken.returncode == 76
    assert json.loads(taken.stdout)["error"]["code"] == "port_in_use"
    assert "--port 0" in json.loads(taken.stdout)["error"]["hint"]


def test_logs_into_head_end_quietly(idle):
    """`hub logs -f | head -1`: the reader leaves, the command ends at the next record, without a word."""
    child = subprocess.Popen(
        [sys.executable, "-m", "hub", "logs", "-f", "--json"],
        cwd=idle.root,
        env=idle.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    api = Api(idle.port)
    api.post("/api/run", {"task": "say much"})
    assert json.loads(child.stdout.readline())["id"]
    child.stdout.close()
    until(idle.ended, "the session ends")
    with child.stderr as errors:
        assert errors.read() == ""
    assert child.wait(timeout=60) == 0


def test_a_watch_ends_when_its_reader_leaves(quiet):
    """`hub ls --watch | head -1` looked on for as long as nothing changed."""
    argv = [sys.executable, "-m", "hub", "ls", "--watch", "--json"]
    with subprocess.Popen(
        argv,
        cwd=quiet.root,
        env=quiet.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout.readline().startswith("{")
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(timeout=PATIENCE) == 0


def test_an_empty_log_is_said_to_be(quiet):
    """It said nothing at all; for programs it is an empty list."""
    assert hub("logs", cwd=quiet.root, env=quiet.environ()).stdout == "nothing yet\n"
    assert hub("logs", "--json", cwd=quiet.root, env=quiet.environ()).stdout == "[]\n"


def test_no_colour_without_a_terminal_and_with_one_when_forced(idle):
    """NO_COLOR wins over FORCE_COLOR; a pipe gets none by itself."""
    api = Api(idle.port)
    api.post("/api/run", {"task": "say much"})
    until(idle.ended, "the session ends")

    def said(**more):
        return hub("logs", cwd=idle.root, env=idle.environ(**more)).stdout

    assert "\x1b[" not in said()
    assert "\x1b[" in said(FORCE_COLOR="1")
    assert "\x1b[" not in said(FORCE_COLOR="1", NO_COLOR="1")


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A daemon that is asked for nothing that changes it, for all tests of this file."""
    with project(tmp_path_factory.mktemp("quiet")) as made:
        made.configure()
        made.start()
        yield made


@pytest.fixture
def idle(work):
    """A daemon without a session; its agent says much and ends."""
    work.script("demo-first", {"say": "word", "times": 40}, {"done": "said"})
    work.configure()
    work.start()
    return work


@pytest.fixture
def repo_beside(repo):
    """Another project, for a daemon that cannot start."""
    return repo
