"""Pause, resume, reply and stop on agents that really run."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import Project, reply, until, write
from tests.faults.invariants import check_invariants, ends
from tests.faults.test_agent_faults import process

STOP_LIMIT = 10.0
TICKS = [{"say": "tick"}, {"sleep": 0.02}] * 2000


def state_of(pid: int) -> str:
    """The kernel's letter for what a process does; "" when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def ticking(made: Project, oracle) -> None:
    """An agent that says something all the time."""
    made.script("demo-first", write(oracle, "a.txt", "one"), *TICKS)
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()


def ticks(made: Project) -> int:
    return sum(e["msg"] == "tick" for e in made.events())


def paused(made, oracle, **more):
    """The daemon, and the process of an agent that stands still in it."""
    ticking(made, oracle)
    api = made.start()
    api.post("/api/run", {"task": "work", **more})
    made.says("tick")
    agent = process(made, "agent.json", "pid")
    api.post("/api/session/pause", {"pause": True})
    until(lambda: state_of(agent) == "T", "the agent stands still")
    return api, agent


def test_a_pause_stops_the_process_and_a_resume_continues_it(made, oracle):
    """Pause is real: state T in the process table, no event comes, and the very same process goes on."""
    api, agent = paused(made, oracle)
    assert api.get("/api/status")["sessionState"] == "paused"
    for on in (True, False, False):  # a wish that is repeated is no news
        api.post("/api/session/pause", {"pause": on})
    said = [event["msg"] for event in api.get("/api/events")]
    assert (said.count("paused"), said.count("resumed")) == (1, 1)
    until(lambda: state_of(agent) in ("S", "R"), "the agent goes on")
    before = ticks(made)
    until(lambda: ticks(made) > before, "it speaks again")
    assert api.get("/api/status")["sessionState"] == "running"
    assert made.stop() == 0
    assert state_of(agent) == ""
    assert len(made.starts()) == 1
    check_invariants(made, oracle)


def test_a_pause_survives_the_daemon(made, oracle):
    """The next daemon finds the agent standing still, leaves it so, and can let it go on."""
    api, agent = paused(made, oracle)
    made.kill()
    api = made.start()
    assert api.get("/api/status")["paused"] is True
    assert state_of(agent) == "T"
    api.post("/api/session/pause", {"pause": False})
    until(lambda: state_of(agent) in ("S", "R"), "the agent goes on")
    assert made.stop() == 0
    check_invariants(made, oracle)


def test_a_paused_agent_can_be_handed_over(made, oracle):
    """A handoff continues it only to let it leave in order; the receiver is not paused."""
    api, _ = paused(made, oracle, verify=["test -f b.txt"])
    api.post("/api/handoff")
    ends(made, oracle, verified=True, paused=False)


def test_a_handoff_that_is_asked_for_goes_through_whatever_is_left(made, oracle):
    """`maxHandoffs` is how often the work changes hands by itself; the user's own word is no part of that, and counts."""
    ticking(made, oracle)
    api = made.start()
    api.post("/api/run", {"task": "work", "maxHandoffs": 0, "verify": ["test -f b.txt"]})
    made.says("tick")
    api.post("/api/handoff")
    record = ends(made, oracle, starts=2, handoffsDone=1, provider="demo-second", verified=True)
    assert record["maxHandoffs"] == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_paused_agent_can_be_stopped(made, oracle, number):
    """A signal to the daemon, or its terminal closed, while the agent stands still: stopped in order all the same."""
    _, agent = paused(made, oracle)
    assert made.stop(number) == 0
    assert state_of(agent) == ""
    assert made.fsm()["sessionState"] == "stopped"
    check_invariants(made, oracle)


def test_a_reply_outlives_the_daemon_that_accepted_it(made, oracle):
    """Accepted is a promise: a runner that could not take it gets it from the next daemon, and each one once."""
    asks = [{"ask": "Which colour?"}, {"ask": "Which size?"}]
    made.script("demo-first", *asks, write(oracle, "a.txt", "one"), {"done": "finished"})
    made.configure()
    api = made.start()
    api.post("/api/run", {"task": "ask"})
    made.says("Which colour?")
    runner = process(made, "claim", "pid")
    os.kill(runner, signal.SIGSTOP)
    assert api.post("/api/session/reply", {"reply": "blue"})["ok"] is True
    made.kill()
    os.kill(runner, signal.SIGCONT)
    made.start()
    made.says("Which size?")
    made.kill()
    api = made.start()
    until(lambda: api.get("/api/status")["needsInput"], "the second question is still open")
    reply(api, "large")
    until(made.ended, "the session ends by itself")
    heard = [e["msg"] for e in made.events() if e["meta"].get("role") == "user" and "dispatchId" in e["meta"]]
    assert heard == ["blue", "large"]
    ends(made, oracle, starts=1, needsInput=False)


def test_an_agent_without_a_way_in_takes_no_reply(made):
    """409 `reply_unsupported` for an agent that was given its prompt as a file; it works on."""
    program = made.program("silent", "exec tail -f /dev/null")
    (made.root / "hub.toml").write_text(
        f'[session]\nchain = ["aider"]\n[providers.aider]\nprogram = "{program}"\n'
    )
    api = made.start()
    api.post("/api/run", {"task": "work"})
    agent = process(made, "agent.json", "pid")
    with pytest.raises(HubError) as caught:
        api.post("/api/session/reply", {"reply": "hello"})
    assert (caught.value.code, caught.value.status) == (Code.REPLY_UNSUPPORTED, 409)
    assert state_of(agent) in ("R", "S")
    assert made.stop() == 0
    assert state_of(agent) == ""


@pytest.mark.parametrize("command", ["worktree", "read-tree"])
def test_a_stop_does_not_wait_for_a_worktree_that_takes_its_time(made, oracle, tmp_path, command):
    """A checkout of a large repository: its git is ended with the session, and nothing of it is in the next one's way."""
    folder, waits = tmp_path / "programs", tmp_path / "waits"
    folder.mkdir()
    waits.touch()
    git, pid = shutil.which("git"), tmp_path / "pid"
    (folder / "git").write_text(
        f"#!/bin/sh\nfor word; do [ $word = {command} ] && [ -f {waits} ] &&"
        f' echo $$ > {pid} && exec tail -f /dev/null; done\nexec {git} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    made.script("demo-first", write(oracle, "a.txt", "one"), {"done": "finished"})
    made.configure()
    api = made.start(PATH=f"{folder}:{os.environ['PATH']}")
    api.post("/api/run", {"task": "work"})
    child = int(until(lambda: pid.exists() and pid.read_text(), "git is at it"))
    begun = time.monotonic()
    api.post("/api/session/stop")
    assert time.monotonic() - begun < STOP_LIMIT
    assert state_of(child) == ""
    assert (made.fsm()["sessionState"], made.fsm()["worktreeReady"]) == ("stopped", False)
    waits.unlink()
    api.post("/api/run", {"task": "again"})
    assert until(made.ended, "the next session ends")["sessionState"] == "completed"
    assert made.stop() == 0
    check_invariants(made, oracle)
