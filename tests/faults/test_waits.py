"""Limits and overloads: who waits for how long, who hands over, and what a wait survives."""

from __future__ import annotations

import time
from datetime import datetime
from itertools import pairwise

import pytest

from hub.domain.wallclock import iso
from tests.faults.agreement import agree
from tests.faults.harness import Project, try_post, until, write
from tests.faults.invariants import ends

LONG = 3600


def alone(made: Project, oracle, *first) -> None:
    """One agent, and nobody else: it has written `b.txt` when it comes to the end."""
    made.script(
        "demo-first", write(oracle, "a.txt", "one"), *first, write(oracle, "b.txt", "one"), {"done": ""}
    )
    made.configure()


def agents(made: Project, oracle, *first) -> None:
    """A first agent that meets a wall; whoever comes to the end has written `b.txt`."""
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    alone(made, oracle, *first)


def task(**more) -> dict:
    return {"task": "write the files", "verify": ["test -f b.txt"], **more}


def waits(made: Project) -> list[float]:
    """How long each wait was to be."""
    found = [e["meta"] for e in made.events() if e["tag"] == "waiting" and "until" in e["meta"]]
    return [_seconds(m["at"], m["until"]) for m in found]


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()


def waiting(api) -> dict:
    """The status of a session that waits."""
    return until(
        lambda: (s := api.get("/api/status"))["sessionState"] == "waiting" and s, "the session waits"
    )


def at_the_wall(made: Project, env=None, **order):
    """The API of a daemon whose session waits for a reset."""
    api = made.start(**env or {})
    api.post("/api/run", task(**order))
    waiting(api)
    return api


def test_overloads_are_backed_off_and_then_handed_over(made, oracle):
    """1 s, 2 s, then somebody else; `retries` says how often."""
    agents(made, oracle, {"overload": {}, "times": 9})
    made.configure(session="retries = 3\n")
    made.start().post("/api/run", task())
    until(made.ended, "the session ends by itself")
    first, second = waits(made)
    assert first < 2.5
    assert second < 3.5
    told = [e["meta"] for e in made.events() if "overloaded" in e["msg"] and e["tag"] in ("error", "waiting")]
    least = [_seconds(failed["at"], wait["until"]) for failed, wait in pairwise(told) if "until" in wait]
    assert least[0] >= 1  # counted from the failure: the news of a wait is told a moment after it was begun
    assert least[1] >= 2
    ends(made, oracle, starts=4, handoffsDone=1)


def test_a_short_reset_is_waited_for(made, oracle):
    """No handoff for a limit that is over in a moment: the same agent goes on in its own session.

    The instant is absolute: a daemon that was dead meanwhile neither shortens nor prolongs it.
    """
    agents(made, oracle, {"limit": {"resetsIn": 3}})
    api = made.start()
    api.post("/api/run", task())
    # By the log, which keeps it: three seconds are over before a busy machine has asked.
    (told,) = until(lambda: [e for e in made.events() if e["tag"] == "waiting"], "the wait is told")
    assert told["msg"]
    made.kill()
    api = made.start()
    assert api.get("/api/status")["waitUntil"] in (told["meta"]["until"], None)
    ends(made, oracle, starts=2, handoffsDone=0, provider="demo-first")


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
    record = ends(made, oracle, starts=2, handoffsDone=1)
    assert record["handoff"]["trigger"] == "manual_handoff"


@pytest.mark.parametrize("point", ["wait.recorded", "fsm.RUNNING.post_rename@2"])
def test_a_crash_between_a_wait_and_its_line_loses_no_line(made, oracle, point):
    """On record it waited, and the log never said so. Of the same agent, and after a handoff that found nobody."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}} if point == "wait.recorded" else {"auth": {}})
    made.script("demo-second", {"limit": {"resetsIn": LONG}})
    name, _, nth = point.partition("@")
    api = made.start(HUB_FAILPOINTS=f"{name}=kill9" + (f"@{nth}" if nth else ""))
    try_post(api, "/api/run", task(onLimit="wait" if point == "wait.recorded" else "handoff"))
    made.wait_dead()
    died = iso(time.time())
    for _ in range(2):
        api = made.start()
        on_record = waiting(api)["waitUntil"]
        (told,) = until(
            lambda: [e["meta"] for e in made.events() if e["tag"] == "waiting"], "it is told, once"
        )
        assert told["until"] == on_record
        assert told["at"] > died, "the next daemon told of it"
        made.kill()


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
    ends(made, oracle, starts=2, handoffsDone=1)


def test_overloads_with_work_between_them_are_none_in_a_row(made, oracle):
    """`retries`, and the breaker, count runs that came to nothing: one that did its part begins a new row."""
    steps = [step for n in range(6) for step in (write(oracle, f"{n}.txt", "x"), {"overload": {}})]
    agents(made, oracle, *steps)
    made.configure(session="retries = 2\n")
    made.start().post("/api/run", task())
    until(made.ended, "the session ends by itself")
    assert all(wait < 2.5 for wait in waits(made))
    ends(made, oracle, starts=7, handoffsDone=0, provider="demo-first")


@pytest.mark.parametrize("order", [{"onLimit": "wait"}, {"maxHandoffs": 0}])
def test_a_wait_can_be_stopped(made, oracle, order):
    """A stop ends the session at once, with its snapshot; where no handoff is left, a limit is waited out too."""
    agents(made, oracle, {"limit": {"resetsIn": LONG}})
    at_the_wall(made, **order).post("/api/session/stop")
    record = ends(made, oracle, starts=1, handoffsDone=0, sessionState="stopped")
    assert made.show(f"{record['snapshotSha']}:a.txt") == b"one\n"


def test_the_forecast_hands_over_at_the_sessions_own_threshold(made, oracle):
    """The agent is stopped at a safe point, and its reason is on record."""
    agents(made, oracle, {"quota": {"used": 0.5, "resetsIn": LONG}}, *[{"sleep": 0.5}] * 200)
    made.start().post("/api/run", task(threshold=0.5))
    record = ends(made, oracle, starts=2, handoffsDone=1)
    assert record["handoff"]["trigger"] == "quota_breach"


def test_when_nobody_has_quota_the_earliest_reset_is_waited_for(made, oracle):
    """Both walls: the wait is on record and told; who met its limit at once has taken nothing over.

    The first account to come back gets the work, with its contract.
    """
    made.script("demo-first", write(oracle, "a.txt", "one"), {"limit": {"resetsIn": LONG}})
    made.script("demo-second", {"limit": {"resetsIn": 12}})
    made.configure()
    api = made.start()
    api.post("/api/run", task())
    status = waiting(api)
    (wait,) = until(lambda: waits(made), "the wait is told: it is on record before that")
    assert 0 < wait <= 13
    assert "demo-second/default is free first, at" in status["waitReason"]
    assert (status["activeProvider"], status["handoffsDone"]) == ("demo-first", 0)
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    ends(made, oracle, starts=3, handoffsDone=1, provider="demo-second")


@pytest.mark.parametrize("why", [{"limit": {"resetsIn": LONG}}, {"auth": {}}])
def test_a_receiver_that_is_overloaded_is_asked_again_in_a_moment(made, oracle, why):
    """It had one chance: after its overload the session waited an hour for the first one's reset, or failed."""
    made.script("demo-first", write(oracle, "a.txt", "one"), why)
    made.script("demo-second", {"overload": {}})
    made.configure()
    api = made.start()
    api.post("/api/run", task())
    until(lambda: len(waits(made)) >= 2, "it is left alone for a moment, twice")
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    until(made.ended, "the session ends by itself")
    assert max(waits(made)) < 60
    ends(made, oracle, starts=len(made.starts()), handoffsDone=1, provider="demo-second")


@pytest.mark.parametrize("on_limit", ["handoff", "wait"])
def test_a_handoff_request_where_nobody_else_is_tries_once_more(made, oracle, on_limit):
    """It began the same wait anew: the account's breaker still said that it is used up."""
    alone(made, oracle, {"limit": {"resetsIn": LONG}})
    api = at_the_wall(made, onLimit=on_limit)
    api.post("/api/handoff")
    ends(made, oracle, starts=2, handoffsDone=0, provider="demo-first", verified=True)


def test_what_the_users_try_has_shown_is_known_to_all(made, oracle):
    """It came to a good end: wallet, breaker and status take the limit for over, and the next session begins at once."""
    alone(made, oracle, {"limit": {"resetsIn": LONG}})
    api = at_the_wall(made)
    assert agree(api)["demo-first/default"]["status"] == "exhausted"
    api.post("/api/handoff")
    assert until(made.ended, "the session ends")["sessionState"] == "completed"
    assert agree(api)["demo-first/default"]["status"] == "standby"
    made.script("demo-first", {"done": ""})
    number = api.post("/api/run", {"task": "again"})["sessionId"]
    record = until(lambda: (r := made.ended()).get("sessionId") == number and r, "the next one ends")
    assert (record["sessionState"], len(made.starts())) == ("completed", 3)


def test_each_request_is_one_try(made, oracle):
    """The same limit again: it waits again, until the same reset; a second request tries a second time."""
    alone(made, oracle, {"limit": {"resetsIn": LONG}, "times": 2})
    api = at_the_wall(made)
    for tries in (2, 3):
        api.post("/api/handoff")
        until(lambda tries=tries: len(made.starts()) == tries, "it is tried")
        if tries == 2:
            waiting(api)
            assert len(made.starts()) == 2
            agree(api)
    ends(made, oracle, starts=3, handoffsDone=0)


@pytest.mark.parametrize("point", ["runner.spawn", "act.RUNNING.mid"])
def test_a_crash_between_the_request_and_the_start_keeps_the_one_try(made, oracle, point):
    """The user's word is on record until its agent has started: neither lost nor heard twice."""
    alone(made, oracle, {"limit": {"resetsIn": LONG}, "times": 2})
    api = at_the_wall(made, {"HUB_FAILPOINTS": f"{point}=kill9@2"})
    try_post(api, "/api/handoff", {})
    made.wait_dead()
    api = made.start()
    until(lambda: len(made.starts()) == 2 and waiting(api), "it was tried, and waits again")
    assert made.fsm()["insisted"] is False
    assert len(made.starts()) == 2
    api.post("/api/session/stop")
    ends(made, oracle, starts=2, handoffsDone=0, sessionState="stopped")


def test_a_handoff_request_begins_a_session_that_waits_for_its_first_agent(made, oracle):
    """Nobody could begin: the user's word lets the one who is free first begin now."""
    alone(made, oracle, {"limit": {"resetsIn": LONG}})
    api = at_the_wall(made)
    api.post("/api/session/stop")
    until(made.ended, "the first session has ended")
    number = api.post("/api/run", task())["sessionId"]
    waiting(api)
    alone(made, oracle)
    api.post("/api/handoff")
    until(lambda: made.ended().get("sessionId") == number, "the second one ends")
    ends(made, oracle, starts=2, handoffsDone=0)


def test_a_handoff_request_ends_the_wait_before_the_one_who_may_not_work_again(made, oracle):
    """Who had the work may not have it again, the other one is used up: the other one is tried, once."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"auth": {}})
    made.script("demo-second", {"limit": {"resetsIn": LONG}})
    made.configure()
    api = at_the_wall(made)
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    api.post("/api/handoff")
    ends(made, oracle, starts=3, handoffsDone=1, provider="demo-second")


def test_a_refusal_is_asked_of_one_other_and_then_told(made, oracle):
    """Never again on that provider for this task; a second refusal is the user's to read."""
    made.script("demo-first", write(oracle, "a.txt", "one"), {"refuse": "I cannot help with that"})
    made.script("demo-second", {"refuse": "Nor can I"})
    made.configure()
    made.start().post("/api/run", task())
    record = ends(made, oracle, starts=2, handoffsDone=1, sessionState="failed")
    assert record["error"]["code"] == "refused"
    assert record["refusedBy"] == ["demo-first", "demo-second"]
