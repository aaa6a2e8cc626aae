"""Ten stories of who is next, on a real daemon; after each the wallet, the providers, the circuit and the history agree."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import IO

from tests.faults.agreement import agree
from tests.faults.harness import Project, until

HOUR = 3600
FIRST, SECOND = "demo-first/default", "demo-second/default"
DONE = {"done": "finished"}
SAID = {"say": "working"}


def begin(made: Project, *first, second=(SAID, DONE), extra: str = "", **env: str):
    """The scripted agents, and the daemon's API."""
    made.script("demo-first", *first)
    made.script("demo-second", *second)
    made.configure(extra)
    return made.start(**env)


def session(made: Project, api, **more) -> dict:
    """A whole session; its last record."""
    number = api.post("/api/run", {"task": "write", **more})["sessionId"]
    return until(lambda: (r := made.ended()).get("sessionId") == number and r, "the session ends")


def waiting(api) -> dict:
    return until(lambda: (s := api.get("/api/status"))["sessionState"] == "waiting" and s, "it waits")


def states(api) -> dict:
    """The breakers' states by name."""
    return {row["name"]: row["state"] for row in api.get("/api/circuit")}


def breakers(made: Project, **fields) -> None:
    """What a daemon that was here before knew of the first agent."""
    made.put(
        "breakers.json", json.dumps([{"provider": "demo-first", "account": "default", **fields}]).encode()
    )


def test_a_limit(made):
    """Exhausted in all four at once, with its reset; the next session begins with the other one."""
    api = begin(made, SAID, {"limit": {"resetsIn": HOUR}})
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"]) == ("demo-second", 1)
    found = agree(api)
    assert (found[FIRST]["status"], found[FIRST]["used"]) == ("exhausted", 1.0)
    assert found[FIRST]["resetsAt"]
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"], len(made.starts())) == ("demo-second", 0, 3)
    status = api.get("/api/status")
    assert [(out["provider"], out["reason"][:28]) for out in status["leftOut"]] == [
        ("demo-first", "its usage limit is reached u")
    ]
    agree(api)


def test_a_full_reading_before_the_limit(made):
    """A reading of 100 % left breaker and status untouched, and the agent was chosen again."""
    full = {"quota": {"used": 1.0, "resetsIn": HOUR}}
    api = begin(made, SAID, full, {"sleep": 30}, {"limit": {}})
    assert session(made, api)["provider"] == "demo-second"
    found = agree(api)
    assert (found[FIRST]["status"], found[FIRST]["state"], found[FIRST]["used"]) == ("exhausted", "open", 1.0)
    assert session(made, api)["handoffsDone"] == 0
    assert len(made.starts()) == 3, "the one that is used up was not started again"
    agree(api)


def test_a_limit_that_says_no_reset_has_the_one_that_was_read_before(made):
    """An account that had just met its limit showed no reset: the limit's own words told none, the meter had."""
    api = begin(made, SAID, {"quota": {"used": 0.72, "resetsIn": HOUR}}, SAID, {"limit": {}})
    assert session(made, api)["provider"] == "demo-second"
    found = agree(api)[FIRST]
    assert (found["status"], found["used"], bool(found["wallet"]["resetsAt"])) == ("exhausted", 1.0, True)


def test_overload_for_the_fifth_time(made):
    """The fifth in a row opens the breaker, and the work goes elsewhere."""
    breakers(made, state="closed", failures=4)
    api = begin(made, SAID, {"overload": {}})
    assert session(made, api)["provider"] == "demo-second"
    found = agree(api)[FIRST]
    assert (found["status"], found["state"]) == ("error", "open")
    assert "failed too often" in found["reason"]
    assert next(row for row in api.get("/api/circuit") if row["name"] == FIRST)["failures"] == 5


def test_a_success_ends_a_row_of_failures(made):
    """No end of an agent was counted as a success: five failures with good sessions between them opened it."""
    breakers(made, state="closed", failures=4)
    api = begin(made, SAID, DONE)
    session(made, api)
    assert next(row for row in api.get("/api/circuit") if row["name"] == FIRST)["failures"] == 0
    agree(api)


def test_an_agent_without_a_login_hands_nothing_over(made):
    """It began, said that it was not logged in, and that was a handoff: the other one begins in its place."""
    api = begin(made, {"auth": {}})
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"], record["hfsHistory"]) == ("demo-second", 0, [])
    agree(api)


def test_a_receiver_without_a_login_takes_nothing_over(made):
    """`Not logged in` was a heartbeat, a completed handoff and a success of the breaker; then all was given up."""
    api = begin(made, SAID, {"limit": {"resetsIn": HOUR}}, second=({"auth": {}},))
    api.post("/api/run", {"task": "write"})
    status = waiting(api)
    assert (status["handoffsDone"], status["fsmState"], len(made.starts())) == (0, "RUNNING", 2)
    for words in (
        "demo-first/default: its usage limit is reached until",
        "demo-second/default: its login was not accepted",
        "demo-first/default is free first, at",
        "Next: ",
    ):
        assert words in status["waitReason"]
    assert status["waitUntil"]
    found = agree(api)
    assert next(row for row in api.get("/api/circuit") if row["name"] == SECOND)["failures"] == 1
    assert found[SECOND]["state"] == "closed"
    api.post("/api/session/stop")
    assert "not handed over" in [r for r in api.get("/api/history") if r["event"] == "handoff"][-1]["summary"]
    agree(api)


def test_an_agent_that_cannot_be_started(made):
    """A failed start counted as a handoff, "handed over in 84616 ms"."""
    program = made.program("broken", "exit 3")
    made.script("demo-second", SAID, DONE)
    made.configure(f'[providers.demo-first]\nenabled = true\nprogram = "{program}"\n')
    api = made.start()
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"]) == ("demo-second", 0)
    assert [row for row in api.get("/api/history") if row["event"] == "handoff"] == []
    agree(api)


def test_a_pause_at_the_limit(made):
    """The pause was dropped and the next agent started: nobody does until the user lets the session go on.

    An agent is held at its next event, and that must be the limit: so it is told what to do after the pause.
    """
    api = begin(made, SAID)
    script = made.root.parent / "demo-first.json"
    script.unlink()
    os.mkfifo(script)
    api.post("/api/run", {"task": "write"})
    until(lambda: api.get("/api/status")["fsmState"] == "RUNNING", "it has begun")
    writing = until(lambda: written(script), "it waits for its script")
    api.post("/api/session/pause", {"pause": True})
    with writing as out:
        json.dump({"steps": [{"limit": {"resetsIn": HOUR}}]}, out)
    until(lambda: states(api).get(FIRST) == "open", "the limit is met")
    agree(api)
    status = api.get("/api/status")
    assert (status["sessionState"], status["paused"], status["fsmState"]) == ("paused", True, "RUNNING")
    made.kill()
    api = made.start()
    assert api.get("/api/status")["paused"] is True
    assert len(made.starts()) == 1
    api.post("/api/session/pause", {"pause": False})
    record = until(made.ended, "the session ends")
    assert (record["provider"], record["handoffsDone"], len(made.starts())) == ("demo-second", 1, 2)
    agree(api)


def written(pipe: Path) -> IO[str] | None:
    """A pipe's end for writing, once somebody reads."""
    try:
        return os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC), "w")
    except OSError:
        return None


def test_a_cap_that_is_spent(made):
    """A declared cap is a wall like any other, until midnight; a higher one takes it away at once."""
    spent = {"usage": {"tokensIn": 900, "tokensOut": 200}}
    api = begin(made, SAID, spent, SAID, DONE)
    api.post("/api/config/providers", {"name": "demo-first", "declaredCap": 1000})
    session(made, api)
    found = agree(api)[FIRST]
    assert (found["status"], found["state"]) == ("exhausted", "open")
    assert "cap of tokens is spent" in found["reason"]
    assert session(made, api)["provider"] == "demo-second"
    agree(api)
    api.post("/api/config/providers", {"name": "demo-first", "declaredCap": 100_000})
    assert agree(api)[FIRST]["status"] == "standby"
    assert session(made, api)["provider"] == "demo-first"


def test_a_reset_that_has_come(made):
    """The breaker is half-open by the clock alone; one attempt goes through, and its end closes it."""
    api = begin(made, {"quota": {"used": 1.0, "resetsIn": 4}}, SAID, {"sleep": 30})
    record = session(made, api)
    assert record["provider"] == "demo-second"
    made.script("demo-first", SAID, DONE)
    until(lambda: states(api).get(FIRST) == "half-open", "the reset has come")
    assert agree(api)[FIRST]["status"] == "standby"
    assert session(made, api)["provider"] == "demo-first"
    assert agree(api)[FIRST]["state"] == "closed"


def test_a_half_open_attempt_that_fails(made):
    """It opens again, for twice as long."""
    now = time.time()
    breakers(made, state="open", failures=5, opened_at=now - 31, until=now - 1, trips=1)
    api = begin(made, SAID, {"overload": {}})
    assert agree(api)[FIRST]["state"] == "half-open"
    assert session(made, api)["provider"] == "demo-second"
    assert agree(api)[FIRST]["state"] == "open"
    kept = json.loads((made.hub / "breakers.json").read_bytes())["breakers"][0]
    assert 55 < kept["until"] - kept["openedAt"] <= 60


def test_a_session_that_nobody_can_begin_waits_for_the_first_reset(made):
    """It began on the one that was used up. Now it waits, says why of each, and begins by itself."""
    second = ({"quota": {"used": 1.0, "resetsIn": HOUR}}, SAID, DONE)
    api = begin(made, SAID, {"quota": {"used": 1.0, "resetsIn": 12}}, DONE, second=second)
    session(made, api, provider="demo-second", maxHandoffs=0)
    session(made, api)  # the time runs from its reading to the wait: nothing that takes long lies between
    made.script("demo-first", SAID, DONE)
    before = len(made.starts())
    agree(api)
    api.post("/api/run", {"task": "write"})
    status = waiting(api)
    assert "demo-second/default: its usage limit is reached until" in status["waitReason"]
    assert len(made.starts()) == before
    record = until(made.ended, "the session ends")
    assert (record["sessionState"], record["provider"], record["handoffsDone"]) == (
        "completed",
        "demo-first",
        0,
    )
    agree(api)
