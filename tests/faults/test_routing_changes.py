"""Who is next while the world changes: logins that come and go, resets that have passed, a clock that was set back."""

import time
from datetime import UTC, datetime

from tests.faults.agreement import agree
from tests.faults.harness import until
from tests.faults.test_routing import (
    DONE,
    FIRST,
    HOUR,
    SAID,
    SECOND,
    begin,
    breakers,
    session,
    waiting,
)

LIMITED = (SAID, {"limit": {"resetsIn": HOUR}})
ACCOUNTS = (
    '\n[[providers.demo-first.accounts]]\nlabel = "a"\n\n[[providers.demo-first.accounts]]\nlabel = "b"\n'
)


def test_an_account_that_is_added_while_everybody_waits(made):
    """ "Next: add a login", said the wait, and slept on for an hour beside it."""
    api = begin(made, *LIMITED, second=LIMITED)
    api.post("/api/run", {"task": "write"})
    assert "Next: add a login" in waiting(api)["waitReason"]
    agree(api)
    made.script("demo-second", SAID, DONE)
    api.post("/api/providers/account/add", {"provider": "demo-second", "label": "fresh"})
    record = until(made.ended, "the session goes on")
    assert (record["provider"], record["account"]) == ("demo-second", "fresh")
    assert (record["sessionState"], record["handoffsDone"]) == ("completed", 2)
    agree(api)


def test_an_agent_that_is_turned_on_while_the_other_one_waits(made):
    """Also after a kill of the daemon in the middle of the wait."""
    api = begin(made, *LIMITED)
    api.post("/api/config/providers", {"name": "demo-second", "enabled": False})
    api.post("/api/run", {"task": "write"})
    assert "demo-second/default: turned off in hub.toml" in waiting(api)["waitReason"]
    made.kill()
    api = made.start()
    api.post("/api/config/providers", {"name": "demo-second", "enabled": True})
    record = until(made.ended, "the session goes on")
    assert (record["provider"], record["handoffsDone"]) == ("demo-second", 1)
    agree(api)


def test_a_reset_that_has_passed_already(made):
    """The vendor's clock, or its words, are behind: used up all the same, until an attempt finds out."""
    api = begin(made, SAID, {"limit": {"resetsIn": -500}})
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"]) == ("demo-second", 1)
    found = agree(api)[FIRST]
    assert (found["status"], found["used"], found["wallet"]["resetsAt"]) == ("exhausted", 1.0, None)


def test_each_at_its_limit_after_the_other(made):
    """Three accounts, two agents: the last one finishes, and three are shown as they are."""
    api = begin(made, *LIMITED, extra=ACCOUNTS)
    record = session(made, api)
    assert (record["provider"], record["handoffsDone"], record["sessionState"]) == (
        "demo-second",
        2,
        "completed",
    )
    found = agree(api)
    assert [found[name]["status"] for name in ("demo-first/a", "demo-first/b", SECOND)] == [
        "exhausted",
        "exhausted",
        "standby",
    ]


def test_a_clock_that_was_set_back(made):
    """What opened tomorrow is shut for half a minute, not for a day."""
    now = time.time()
    breakers(made, state="open", failures=5, opened_at=now + 86_400, until=now + 86_430, trips=1)
    api = begin(made, SAID, DONE)
    found = agree(api)[FIRST]
    assert found["state"] == "open"
    left = datetime.fromisoformat(found["resetsAt"]) - datetime.now(UTC)
    assert left.total_seconds() <= 30
    assert session(made, api)["provider"] == "demo-second"
    agree(api)
