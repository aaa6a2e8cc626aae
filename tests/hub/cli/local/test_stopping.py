"""`hub stop` where no daemon runs: what an earlier one left is ended in order, and nothing else begins."""

import json

import pytest

from tests.faults.harness import git, until
from tests.hub.cli.command import hub

TASK = {"task": "paint it"}


def left(work):
    """A session whose agent asks, and whose daemon was killed."""
    work.script("demo-first", {"write": {"path": "half.txt", "text": "half"}}, {"ask": "Which colour?"})
    work.configure()
    api = work.start()
    begun = api.post("/api/run", TASK)["sessionId"]
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    return api, begun


def test_a_session_that_a_dead_daemon_left_is_ended_in_order(work):
    """`hub run` names this command to whoever is kept out by it: its agent is gone, and its work is on the branch."""
    _, begun = left(work)
    work.kill()
    refused = hub("run", "other", cwd=work.root, env=work.environ())
    assert "hub stop" in refused.stderr
    done = hub("stop", cwd=work.root, env=work.environ())
    assert (done.returncode, done.stdout) == (
        0,
        f"session {begun} stopped - see what was done: hub diff {begun}\n",
    ), done.stderr
    assert git(work.root, "show", f"hub/{begun}:half.txt") == "half"
    assert work.fsm()["sessionState"] == "stopped"
    events = json.loads(hub("logs", "--json", cwd=work.root, env=work.environ()).stdout)
    assert sum(event["msg"] == "Which colour?" for event in events) == 1, "its agent was not started again"
    again = hub("stop", "--json", cwd=work.root, env=work.environ())
    error = json.loads(again.stdout)["error"]
    assert (again.returncode, error["code"]) == (69, "daemon_not_running")
    assert "hub daemon" not in error["hint"], "who stops wants nothing started"


@pytest.mark.parametrize(
    "command", ["stop", "pause", "resume", "handoff", "reply yes", "approve", "deny", "attach", "status"]
)
def test_where_nothing_runs_nothing_is_to_be_started(repo, command):
    """An order to a session, without any: the advice was to start a daemon, which would have had none either."""
    done = hub(*command.split(), cwd=repo)
    told = "hub: Nothing runs in this project.\n     What has run here: hub ls   What runs in other projects: hub ls -A\n"
    assert (done.returncode, done.stdout, done.stderr) == (69, "", told)


def test_nothing_that_waits_begins_for_it(work):
    """A daemon of the command's own would give the free place to the next in the queue."""
    api, begun = left(work)
    waiting = api.post("/api/run", {"task": "next", "queue": True})["sessionId"]
    work.kill()
    refused = hub("stop", "--json", cwd=work.root, env=work.environ())
    error = json.loads(refused.stdout)["error"]
    assert (refused.returncode, error["code"]) == (69, "daemon_not_running")
    assert waiting in error["detail"]
    assert f"hub stop {begun}" in error["hint"]


def test_of_several_one_is_named(work):
    """As with a daemon: an id, or a part of one, that fits none is not found."""
    left(work)
    work.kill()
    told = hub("stop", "s-none", "--json", cwd=work.root, env=work.environ())
    assert json.loads(told.stdout)["error"]["code"] == "not_found"
