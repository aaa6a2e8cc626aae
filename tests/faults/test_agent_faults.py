"""Agents that die, hang, ignore every signal, fail to start or leave no trace: explicit, and never started twice."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

from hub.errors import Code, HubError
from tests.faults.harness import Project, until, write
from tests.faults.invariants import check_invariants, ends
from tests.refusals import refuses

TASK = {"task": "write the files", "verify": ["test -f b.txt"]}


def process(made: Project, which: str, member: str) -> int:
    """A process of the current dispatch, from its runner's own files."""

    def look():
        owner = made.fsm().get("dispatchId")
        try:
            return owner and json.loads((made.hub / "run" / owner / which).read_bytes())[member]
        except (FileNotFoundError, ValueError):
            return 0

    return int(until(look, f"{which} is there"))


def errors(made: Project) -> list[str]:
    """The failure classes and codes of the error events."""
    found = [e["meta"] for e in made.events() if e["tag"] == "error"]
    return [m.get("code") or m.get("failure") for m in found]


def waits(made: Project) -> dict:
    """Nobody took over: the session waits for the reset of the one who had the work, and is in no state between."""
    found = until(lambda: (r := made.fsm()).get("sessionState") == "waiting" and r, "the session waits")
    assert (found["state"], found["handoffsDone"]) == ("RUNNING", 0)
    assert "demo-first/default is free first, at" in found["wait"]["reason"]
    return found


def test_an_agent_that_is_killed_is_handed_over(made, oracle):
    """F7 in RUNNING: the death is told with its signal, and the work goes on elsewhere."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"say": "ready"}, {"hang": {}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure()
    made.start().post("/api/run", TASK)
    made.says("ready")
    os.kill(process(made, "agent.json", "pid"), signal.SIGKILL)
    made.says("signal 9")
    ends(made, oracle, starts=2, verified=True, handoffsDone=1)


def test_an_agent_that_crashes_with_nobody_left_fails_in_words(made, oracle):
    """F7: `agent_exited`, with the exit status in the detail; its bytes are snapshotted."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"crash": 3}, {"crash": 3})
    made.configure()
    made.start().post("/api/run", TASK)
    error = ends(made, oracle, sessionState="failed")["error"]
    assert (error["code"], "exit code 3" in error["detail"]) == ("agent_exited", True)


def test_a_silent_agent_is_noticed(made, oracle):
    """F7: the watchdog calls an agent silent that says nothing for `silentAfter`, and hands over."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"hang": {}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure(session="silentAfter = 1\n")
    made.start().post("/api/run", TASK)
    made.says("No event for 1 s")
    ends(made, oracle, starts=2, verified=True)


def pausing(made, oracle) -> int:
    """A stubborn agent that is being paused for a handoff."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"say": "ready"}, {"hang": {"stubborn": True}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure()
    api = made.start()
    api.post("/api/run", TASK)
    made.says("ready")
    agent = process(made, "agent.json", "pid")
    api.post("/api/handoff")
    until(lambda: made.fsm()["state"] == "PAUSING", "the handoff has begun", patience=30)
    return agent


def test_an_agent_that_ignores_every_signal_is_killed(made, oracle):
    """F7 in PAUSING: interrupt, SIGINT and SIGTERM are ignored; SIGKILL ends it, and it counts as paused."""
    pausing(made, oracle)
    ends(made, oracle, starts=2, verified=True)


def test_an_agent_killed_while_it_is_paused_for_a_handoff(made, oracle):
    """F7 in PAUSING: its death is the safe point."""
    victim = pausing(made, oracle)
    os.kill(victim, signal.SIGKILL)
    ends(made, oracle, starts=2, verified=True)


def test_a_receiver_that_says_nothing_is_given_up(made, oracle):
    """F7 in RESUMING: after `resumeTimeout` it is killed, the session says so and waits for the first one's reset."""
    silent = made.program("silent", "exec tail -f /dev/null")
    made.script("demo-first", write(oracle, "a.txt", "one"), {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"done": ""})
    made.configure(session="resumeTimeout = 1\n", programs={"demo-second": silent})
    made.start().post("/api/run", TASK)
    record = waits(made)
    told = [e["msg"] for e in made.events() if e["tag"] == "error"]
    made.stop()
    assert "it did not take over (silent)" in record["wait"]["reason"]
    assert any("no sign of life" in text for text in told)
    check_invariants(made, oracle)


def lose_the_runner(made: Project, oracle: Path, *, daemon_up: bool):
    """The runner dies under an agent that never says a word; nobody can know what it did."""
    mute = made.program("mute", f'echo "$HUB_RUN_ID" >> {made.log}\nexec tail -f /dev/null')
    made.script("demo-first", {"done": ""})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure(programs={"demo-first": mute})
    api = made.start()
    api.post("/api/run", TASK)
    runner = process(made, "claim", "pid")
    until(made.starts, "the agent was let go")
    if daemon_up:
        os.kill(runner, signal.SIGKILL)
    else:
        made.kill()
        os.kill(runner, signal.SIGKILL)
        api = made.start()
    until(lambda: (api.get("/api/status")["error"] or {}).get("code") == "dispatch_ambiguous", "it is told")
    return api


def waits_for_the_user(made, api):
    """Loud, with the way out, and nothing was started by itself."""
    status = api.get("/api/status")
    assert (status["needsInput"], status["sessionState"]) == (True, "waiting")
    assert (status["error"]["code"], bool(status["error"]["hint"])) == ("dispatch_ambiguous", True)
    assert len(made.starts()) == 1


def test_an_unknowable_dispatch_waits_for_the_user(made, oracle):
    """X11: it became so while no daemon was there; one handoff request resolves it."""
    api = lose_the_runner(made, oracle, daemon_up=False)
    waits_for_the_user(made, api)
    api.post("/api/handoff")
    ends(made, oracle, starts=2, verified=True)


def test_an_unknowable_dispatch_can_be_stopped(made, oracle):
    """X11: the other way out."""
    api = lose_the_runner(made, oracle, daemon_up=True)
    api.post("/api/session/stop")
    assert made.fsm()["sessionState"] == "stopped"
    made.stop()
    assert len(made.starts()) == 1
    check_invariants(made, oracle)


def test_an_unknowable_dispatch_survives_a_restart(made, oracle):
    """X11: the question is still there for the next daemon, and still nothing was started."""
    waits_for_the_user(made, lose_the_runner(made, oracle, daemon_up=True))
    made.kill()
    api = made.start()
    with refuses(Code.SESSION_ALREADY_RUNNING):
        api.post("/api/run", TASK)
    waits_for_the_user(made, api)
    api.post("/api/handoff")
    ends(made, oracle, starts=2, verified=True)


def test_a_second_handoff_is_refused_in_every_state(made, oracle):
    """F9: accepted once; until it is over every other request is told that one is under way."""
    made.script("demo-first", {"say": "ready"}, {"hang": {}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": "finished"})
    made.configure()
    slow = ("PAUSING", "SNAPSHOTTED", "ENVELOPE_BUILT", "DISPATCHED", "RESUMING")
    api = made.start(HUB_FAILPOINTS=";".join(f"act.{s}.mid=sleep:0.3" for s in slow))
    api.post("/api/run", TASK)
    made.says("ready")
    api.post("/api/handoff")
    # Once it is over the receiver's work could be handed over in its turn: there is nobody to take it.
    api.post("/api/config/providers", {"name": "demo-first", "enabled": False})
    refused = set()

    def again():
        try:
            api.post("/api/handoff")
        except HubError as error:
            refused.add(error.code)
        return made.ended()

    until(again, "the session ends by itself")
    assert Code.HANDOFF_IN_PROGRESS in refused
    assert refused <= {Code.HANDOFF_IN_PROGRESS, Code.NO_FALLBACK, Code.NO_ACTIVE_SESSION}
    ends(made, oracle, handoffsDone=1)
