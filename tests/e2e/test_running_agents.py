"""The five real programs, running at the same time: each is found once and rightly, and another one ends its work."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import datetime

import attrs
import psutil
import pytest

from hub.actors.detector.scanner import Scout
from hub.domain.config.reader import Config
from hub.providers.registry import load, load_all
from tests.agents import PROGRAMS, base_env
from tests.e2e.programs import NAMES, key, start
from tests.faults.harness import HUB, git, until
from tests.hub.io.agents import running
from tests.model_server import Turn
from tests.waiting import PATIENCE

pytestmark = pytest.mark.agents

NEXT = dict(zip(NAMES, (*NAMES[1:], NAMES[0]), strict=True))
"""Who goes on with whose work."""
_DAY = 86_400
VERIFY = 'verify = ["test -f one.txt && test -f two.txt"]'
EXACT = ("claude", "codex")
"""One writes down which process works on which session, one holds the session's file open."""


def test_agents_that_run_at_once_are_announced_found_and_each_goes_on_with_the_work_of_another(team):
    """In one test, for they take their time to start: what is announced, what is found, and what becomes of the work."""
    team.hire(*(f"{name}:account" for name in NAMES), session=VERIFY)
    api = team.start(HUB_AMBIENT="1")
    agents, started = {}, time.time()
    with running(
        team.tmp, cwd=team.made.root
    ) as pid:  # the daemon has looked once, when it tells of this one
        until(lambda: [one for one in said(team) if one.meta.get("pid") == pid], "the daemon looks")
    try:
        for name in NAMES:
            agents[name] = begun(team, name)
        visible = until(Watch(team, agents), "each runs and has kept its prompt")
        told = until(lambda: heard(team, agents), "each is announced, with nobody asking")
        for name in NAMES:
            announced(told[name], agents[name], *visible[name])
        for name in NAMES:  # it has done its first turn, and waits for the model now
            team.models.wait_for(lambda seen, name=name: len(team.models.mains(key(name))) > 1, PATIENCE)
        found = until(lambda: whole(team), "each is found, with what it did")
        for name, agent in agents.items():
            check(found[name], agent)
            assert told[name][-1].meta["nativeSession"] == found[name]["session"]["sessionId"]
        until(
            lambda: all(metered(api, found[name], started) for name in NAMES),
            "what each has spent is in the wallet, once",
        )
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


class Watch:
    """A look at the machine beside the daemon's: when each agent, and when its prompt, could be seen at the latest."""

    def __init__(self, team, agents):
        home = str(team.tmp / "home")
        self._scout = Scout(team.made.root, load_all(), Config(), env={"HOME": home}, home=home)
        self._names = {str(agent.folder): name for name, agent in agents.items()}
        self._seen = {}

    def __call__(self):
        """By the provider's name, once all are known: the moments at which this knew of the agent and of its prompt."""
        found = [one for one in self._scout.scan(time.time()) if one.agent and one.work_dir in self._names]
        now = time.time()
        for one in found:
            seen = self._seen.setdefault(self._names[one.work_dir], [now])
            if one.prompt and len(seen) == 1:
                seen.append(now)
        return self._seen if sum(map(len, self._seen.values())) == 2 * len(self._names) else {}


def said(team):
    """What the daemon has said, oldest first; read from the disk, for a client might make it look."""
    with closing(sqlite3.connect(f"file:{team.made.hub}/events.db?mode=ro", uri=True)) as log:
        rows = log.execute("SELECT tag, msg, meta FROM events ORDER BY id").fetchall()
    return [Said(tag, msg, json.loads(meta)) for tag, msg, meta in rows]


def heard(team, agents):
    """What it has said of each agent, once it has said of all what they do."""
    folders = {str(agent.folder): name for name, agent in agents.items()}
    told = {name: [] for name in agents}
    for one in said(team):
        if (folder := one.meta.get("workDir")) in folders:
            told[folders[folder]].append(one)
    return told if all(events and events[-1].meta["prompt"] for events in told.values()) else {}


@attrs.frozen
class Said:
    """An event of the log."""

    tag: str
    msg: str
    meta: dict


def announced(told, agent, ran, asked):
    """That it runs, and what it does: with one event or with two, and each within one poll interval.

    Every announcement says when the last look began at which there was no such thing. Had a look that began after this
    test could see it missed it, that moment would be later than this test's own.
    """
    assert [bool(one.meta["prompt"]) for one in told] in ([True], [False, True])
    for one, visible in ((told[0], ran), (told[-1], asked)):
        assert datetime.fromisoformat(one.meta["absentAt"]).timestamp() < visible
        assert one.tag == "system"
        assert one.msg.startswith(
            f"{load(agent.name).display_name} runs in {agent.folder} (pid {one.meta['pid']})"
        )
        assert (one.meta["provider"], one.meta["account"]) == (agent.name, "account")
        assert one.meta["pid"] in (agent.process.pid, *wrapped(agent.process.pid))
    assert told[-1].msg.endswith(f": Write one.txt and two.txt for {agent.name}.")


def metered(api, one, since):
    """Whether the wallet has just what the agent's own session tells; it tells of one day, from midnight to midnight UTC."""
    if int(since // _DAY) != int(time.time() // _DAY):
        return True
    [entry] = [row for row in api.get("/api/quota/wallet") if row["provider"] == one["provider"]]
    assert entry["tokensElsewhere"] <= one["session"]["tokensIn"] + one["session"]["tokensOut"]
    return entry["tokensElsewhere"] == one["session"]["tokensIn"] + one["session"]["tokensOut"]


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
