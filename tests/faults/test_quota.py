"""The wall is seen coming: a real daemon hands over before the limit, and works on where the quota lasts."""

from __future__ import annotations

import time

from hub.actors.quota.store import FORM, QuotaStore
from hub.domain.quota.window import QuotaReading
from tests.faults.harness import Project, until, write
from tests.faults.invariants import ends

HOUR = 3600
RUN = {"task": "write the files", "verify": ["test -f b.txt"]}


def agents(made: Project, oracle, *first) -> None:
    """The first agent's steps; whoever comes to the end has written `b.txt`."""
    made.script("demo-first", write(oracle, "a.txt", "one"), *first)
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()


def remembered(made: Project, provider: str, used: int, *, pace: int, resets_in: float) -> None:
    """The ledger of a daemon that was here before: an hour of work at `pace` per mille a minute, up to `used`."""
    now = time.time()
    store = QuotaStore(cursor=0)
    for minutes in range(60, 0, -1):
        shown = used - pace * (minutes - 1)
        reading = QuotaReading(provider, "default", "demo", shown, now + resets_in, at=now - 60 * minutes)
        store.note(reading)
    made.put("quota.json", FORM.encode(store.kept()))


def wallet(api) -> dict:
    return {entry["provider"]: entry for entry in api.get("/api/quota/wallet")}


def test_the_work_is_handed_over_before_the_limit(made, oracle):
    """Spec 5: on a quota breach seen coming; the limit itself is never met."""
    agents(
        made,
        oracle,
        {"quota": {"used": 0.5, "resetsIn": HOUR}},
        {"quota": {"used": 0.93, "resetsIn": HOUR}},
        *[{"sleep": 0.1}] * 300,
        {"limit": {"resetsIn": HOUR}},
    )
    api = made.start()
    api.post("/api/run", RUN)
    record = until(made.ended, "the session ends")
    assert record["handoff"]["trigger"] == "quota_breach"
    assert "demo at 93 %" in record["handoff"]["reason"]
    assert not [e for e in made.events() if e["meta"].get("failure") == "usage_limit"]
    found = wallet(api)
    first = found["demo-first"]
    assert (first["remaining"], first["total"], first["source"], first["account"]) == (
        7,
        100,
        "stream",
        "default",
    )
    assert first["ageSeconds"] < 120
    assert found["demo-second"]["source"] == "none"
    assert [e["msg"] for e in made.events() if "forecast" in e["meta"]]
    ends(made, oracle, handoffsDone=1)


def test_at_the_threshold_a_quota_that_lasts_until_its_reset_is_worked_on_with(made, oracle):
    """One per mille a minute: 9 % last ten minutes."""
    remembered(made, "demo-first", 905, pace=1, resets_in=600)
    agents(
        made,
        oracle,
        {"quota": {"used": 0.906, "resetsIn": 600}},
        *[{"sleep": 0.1}] * 10,
        write(oracle, "b.txt", "one"),
        {"done": ""},
    )
    api = made.start()
    assert wallet(api)["demo-first"]["forecast"] == "ready"
    api.post("/api/run", RUN)
    ends(made, oracle, handoffsDone=0)


def test_the_work_is_not_handed_to_somebody_at_his_own_wall(made, oracle):
    """Two accounts at the threshold would pass the work to and fro until no handoff is left."""
    remembered(made, "demo-second", 970, pace=1, resets_in=HOUR)
    agents(
        made,
        oracle,
        {"quota": {"used": 0.93, "resetsIn": HOUR}},
        {"sleep": 0.2},
        write(oracle, "b.txt", "one"),
        {"done": ""},
    )
    api = made.start()
    api.post("/api/run", RUN)
    ends(made, oracle, handoffsDone=0)


def test_at_the_limit_itself_the_last_of_a_quota_is_used(made, oracle):
    """Somebody at his threshold is better than nobody."""
    remembered(made, "demo-second", 970, pace=1, resets_in=HOUR)
    agents(made, oracle, {"limit": {"resetsIn": HOUR}})
    api = made.start()
    api.post("/api/run", RUN)
    until(made.ended, "the session ends")
    assert wallet(api)["demo-first"]["source"] == "limit"
    ends(made, oracle, handoffsDone=1)
