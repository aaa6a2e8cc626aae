"""Limits and overloads: who waits for how long, who hands over, and what a wait survives."""

from __future__ import annotations

from datetime import datetime

import pytest

from tests.faults.harness import Project, try_post, until
from tests.faults.invariants import check_invariants
from tests.faults.test_agent_faults import made, oracle
from tests.faults.test_daemon_killed import write

__all__ = ["made", "oracle"]

LONG = 3600


def agents(made: Project, oracle, *first) -> None:
    """A first agent that meets a wall; whoever comes to the end has written `b.txt`."""
    made.script(
        "demo-first", write(oracle, "a.txt", "one"), *first, write(oracle, "b.txt", "one"), {"done": ""}
    )
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()


def task(**more) -> dict:
    return {"task": "write the files", "verify": ["test -f b.txt"], **more}


def ended(made: Project, oracle, *, starts: int, handoffs: int, state: str = "completed") -> dict:
    """The session ended so, and all invariants hold."""
    record = until(made.ended, "the session ends by itself")
    made.stop()
    assert (record["sessionState"], record["handoffsDone"]) == (state, handoffs), record["error"]
    assert len(made.starts()) == starts
    check_invariants(made, oracle)
    return record


def waits(made: Project) -> list[float]:
    """How long each wait was to be."""
    found = [e["meta"] for e in made.events() if e["tag"] == "waiting" and "until" in e["meta"]]
    return [
        (datetime.fromisoformat(m["until"]) - datetime.fromisoformat(m["at"])).total_seconds() for m in found
    ]


def waiting(api) -> dict:
    """The status of a session that waits."""
    return until(
        lambda: (s := api.get("/api/status"))["sessionState"] == "waiting" and s, "the session waits"
    )


def test_overloads_are_backed_off_and_then_handed_over(made, oracle):
    """1 s, 2 s, then somebody else; `retries` says how often."""
    agents(made, oracle, {"overload": {}, "times": 9})
    text = (made.root / "hub.toml").read_text()
    (made.root / "hub.toml").write_text(text.replace("[session]", "[session]\nretries = 3", 1))
    made.start().post("/api/run", task())
    until(made.ended, "the session ends by itself")
    first, second = waits(made)
    assert 1 <= first < 2.5
    assert 2 <= second < 3.5
    ended(made, oracle, starts=4, handoffs=1)


def test_a_short_reset_is_waited_for(made, oracle):
    """No handoff for a limit that is over in a moment: the same agent goes on in its own session."""
    agents(made, oracle, {"limit": {"resetsIn": 2}})
    api = made.start()
    api.post("/api/run", task())
    status = waiting(api)
    assert status["waitUntil"]
    assert status["waitReason"]
    record = ended(made, oracle, starts=2, handoffs=0)
    assert record["provider"] == "demo-first"


def test_a_wait_survives_the_daemon(made, oracle):
    """The instant is absolute: a daemon that was dead meanwhile neither shortens nor prolongs it."""
    agents(made, oracle, {"limit": {"resetsIn": 3}})
    api = made.start()
    api.post("/api/run", task())
    before = waiting(api)["waitUntil"]
    made.kill()
    api = made.start()
    assert api.get("/api/status")["waitUntil"] in (before, None)
    ended(made, oracle, starts=2, handoffs=0)


def test_a_handoff_request_ends_a_wait(made, oracle):
    """onLimit = wait: nobody is asked although somebody is there; the wait is the same after a restart; one call ends it."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    api = made.start()
    api.post("/api/run", task(onLimit="wait"))
    before = waiting(api)["waitUntil"]
    made.kill()
    api = made.start()
    assert api.get("/api/status")["waitUntil"] == before
    assert len(made.starts()) == 1
    api.post("/api/handoff")
    record = ended(made, oracle, starts=2, handoffs=1)
    assert record["trigger"] == "manual_handoff"


def test_a_crash_between_a_wait_and_its_handoff_tries_nobody_again(made, oracle):
    """The end of the wait and the beginning of the handoff are one write: before it the session still waits."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    api = made.start(HUB_FAILPOINTS="fsm.PAUSING.pre_write=kill9")
    api.post("/api/run", task(onLimit="wait"))
    before = waiting(api)["waitUntil"]
    try_post(api, "/api/handoff", {})
    made.wait_dead()
    api = made.start()
    assert waiting(api)["waitUntil"] == before
    api.post("/api/handoff")
    ended(made, oracle, starts=2, handoffs=1)


def test_overloads_with_work_between_them_are_none_in_a_row(made, oracle):
    """`retries` counts runs that came to nothing: one that did its part begins a new row."""
    steps = [step for n in range(3) for step in (write(oracle, f"{n}.txt", "x"), {"overload": {}})]
    agents(made, oracle, *steps)
    text = (made.root / "hub.toml").read_text()
    (made.root / "hub.toml").write_text(text.replace("[session]", "[session]\nretries = 2", 1))
    made.start().post("/api/run", task())
    until(made.ended, "the session ends by itself")
    assert all(wait < 2.5 for wait in waits(made))
    record = ended(made, oracle, starts=4, handoffs=0)
    assert record["provider"] == "demo-first"


def test_a_wait_can_be_stopped(made, oracle):
    """A stop ends the session at once, with its snapshot."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    api = made.start()
    api.post("/api/run", task(onLimit="wait"))
    waiting(api)
    api.post("/api/session/stop")
    record = ended(made, oracle, starts=1, handoffs=0, state="stopped")
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"


def test_on_limit_stop_ends_the_session_in_words(made, oracle):
    """onLimit = stop: `quota_exhausted`, although somebody else is there."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    made.start().post("/api/run", task(onLimit="stop"))
    record = ended(made, oracle, starts=1, handoffs=0, state="failed")
    assert record["error"]["code"] == "quota_exhausted"


def test_no_more_handoffs_than_allowed(made, oracle):
    """maxHandoffs reached: a limit is waited out."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    api = made.start()
    api.post("/api/run", task(maxHandoffs=0))
    waiting(api)
    api.post("/api/session/stop")
    ended(made, oracle, starts=1, handoffs=0, state="stopped")


@pytest.mark.parametrize(("used", "handoffs"), [(0.5, 1), (0.49, 0)])
def test_the_forecast_hands_over_before_the_wall(made, oracle, used, handoffs):
    """threshold: at it, and not below it; the agent is stopped at a safe point, and its reason is on record."""
    agents(made, oracle, {"quota": {"used": used, "resetsIn": LONG}}, *[{"sleep": 0.5}] * (8 * handoffs))
    made.start().post("/api/run", task(threshold=0.5))
    record = ended(made, oracle, starts=1 + handoffs, handoffs=handoffs)
    assert record["trigger"] == ("quota_breach" if handoffs else "")


@pytest.mark.xfail(
    reason="a receiver that meets its limit at once has taken nothing over, and no wait of its own is on record",
    strict=False,
)
def test_when_nobody_has_quota_the_earliest_reset_is_waited_for(made, oracle):
    """Both walls: the first account to come back goes on."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"limit": {"resetsIn": LONG}})
    made.script("demo-second", {"limit": {"resetsIn": 100}}, write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()
    api = made.start()
    api.post("/api/run", task())
    status = waiting(api)
    (wait,) = waits(made)
    assert 90 < wait <= 101
    assert status["activeProvider"] == "demo-second"
    api.post("/api/session/stop")
    ended(made, oracle, starts=2, handoffs=1, state="stopped")


def test_a_refusal_is_asked_of_one_other_and_then_told(made, oracle):
    """Never again on that provider for this task; a second refusal is the user's to read."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"refuse": "I cannot help with that"})
    made.script("demo-second", {"refuse": "Nor can I"})
    made.configure()
    made.start().post("/api/run", task())
    record = ended(made, oracle, starts=2, handoffs=1, state="failed")
    assert record["error"]["code"] == "refused"
    assert record["refusedBy"] == ["demo-first", "demo-second"]
