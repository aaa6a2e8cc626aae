"""The five real programs, running at the same time: each is found once and rightly, and another one ends its work."""

from __future__ import annotations

import json
import subprocess

import psutil
import pytest

from tests.agents import PROGRAMS, base_env
from tests.e2e.programs import NAMES, key, start
from tests.faults.harness import HUB, git, until
from tests.model_server import Turn
from tests.waiting import PATIENCE

pytestmark = pytest.mark.agents

NEXT = dict(zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True))
"""Who goes on with whose work."""
VERIFY = 'verify = ["test -f one.txt && test -f two.txt"]'
EXACT = ("claude", "codex")
"""One writes down which process works on which session, one holds the session's file open."""
ONE_LOOK = "[detect]\ninterval = 100000"
"""The daemon looks once within this test: what it has not told by then it never tells."""


def test_agents_that_run_at_once_are_found_and_each_goes_on_with_the_work_of_another(team):
    """In one test, for they take their time to start: what is found, what is announced, and what becomes of the work."""
    team.hire(*(f"{name}:account" for name in NAMES), session=f"{VERIFY}\n{ONE_LOOK}")
    agents = {}
    try:
        for name in NAMES:
            agents[name] = begun(team, name)
        for name in NAMES:  # it has done its first turn, and waits for the model now
            team.models.wait_for(lambda seen, name=name: len(team.models.mains(key(name))) > 1, PATIENCE)
        api = team.start(HUB_AMBIENT="1")
        found = until(lambda: whole(team), "each is found, with what it did")
        for name, agent in agents.items():
            check(found[name], agent)
            announced(team, found[name])
        for name in NAMES:
            goes_on(team, api, found[name], NEXT[name])
    finally:
        for agent in agents.values():
            agent.end()


def begun(team, name):
    """An agent of the user's, in a worktree of the user's own; it will have written a file when the model hangs."""
    folder = team.tmp / f"work-{name}"
    git(team.made.root, "worktree", "add", "-q", "-b", f"users-{name}", str(folder))
    team.models.script(key(name), Turn.write("one.txt", f"by {name}\n"), Turn.hold())
    return start(name, team.models, team.tmp, folder, f"Write one.txt and two.txt for {name}.")


def whole(team):
    """What `hub detect` tells of them, by the provider's name, once all of them have kept their first turn."""
    env = team.made.environ(**base_env(team.tmp / "home"))
    done = subprocess.run(
        [*HUB, "detect", "--json"], cwd=team.made.root, env=env, check=True, capture_output=True
    )
    found = [one for one in json.loads(done.stdout) if one["workDir"].startswith(f"{team.tmp}/work-")]
    kept = [one for one in found if one["session"] and one["session"]["filesTouched"]]
    if len(kept) < len(NAMES):
        return {}
    assert sorted(one["provider"] for one in found) == sorted(NAMES)
    return {one["provider"]: one for one in found}


def check(one, agent):
    """What is told against what was started."""
    name, session = agent.name, one["session"]
    assert one["pid"] in (agent.process.pid, *wrapped(agent.process.pid))
    assert (one["running"], one["owner"], one["adoptable"]) == (True, "user", True)
    assert (one["workDir"], one["surface"], one["account"]) == (str(agent.folder), "command-line", "account")
    assert one["id"] == f"{name}:{session['sessionId']}"
    assert one["detectedVia"] == ["process", "transcript"]
    assert one["confidence"] == ("exact" if name in EXACT else "likely")
    assert session["model"] == PROGRAMS[name].model.rpartition("/")[2]
    assert session["initialPrompt"] == f"Write one.txt and two.txt for {name}."
    assert [path.rpartition("/")[2] for path in session["filesTouched"]] == ["one.txt"]
    assert (session["tokensIn"] > 0, session["tokensOut"] > 0, session["tokensExact"]) == (True, True, True)
    assert [turn["role"] for turn in session["recentTurns"]] == ["user", "assistant"]
    assert (one["alarm"], session["alarm"]) == ("", "")


def wrapped(pid):
    """What a wrapper of Node runs: a Node that came with Python's packages is started by one, which is no agent."""
    return [child.pid for child in psutil.Process(pid).children()]


def runs(pid):
    """Whether the process does anything yet; whoever started it may not have asked for its status."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def announced(team, one):
    """The daemon said it once, of its own accord, at its only look."""
    team.made.says(f"runs in {one['workDir']} (pid {one['pid']})")
    [told] = [event for event in team.made.events() if event.get("meta", {}).get("workDir") == one["workDir"]]
    assert told["tag"] == "system"
    assert {name: told["meta"][name] for name in ("provider", "pid", "account", "nativeSession")} == {
        "provider": one["provider"],
        "pid": one["pid"],
        "account": "account",
        "nativeSession": one["session"]["sessionId"],
    }
    assert told["msg"].endswith(one["session"]["initialPrompt"])


def goes_on(team, api, one, target):
    """The agent is ended, with all its processes; the other one is told what it did, and does the rest."""
    member = f"{target}:account"
    team.script(member, Turn.write("two.txt", f"by {target}\n"), Turn.text("Both are there."))
    answer = api.post("/api/detect/adopt", {"id": one["id"], "target": target, "start": True, "stop": True})
    assert set(one["pids"]) <= set(answer["stopped"])
    assert not any(runs(pid) for pid in answer["stopped"])

    def over():
        record = team.made.ended()
        return record if record.get("sessionId") == answer["sessionId"] else {}

    record = until(over, f"{target} ends the work of {one['provider']}")
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, target)
    assert team.branch_file("one.txt") == f"by {one['provider']}\n".encode()
    assert team.branch_file("two.txt") == f"by {target}\n".encode()
    assert team.contract_seen(member, f"c-{answer['sessionId']}")
    assert one["session"]["initialPrompt"] in str(team.mains(member)[0].body)
