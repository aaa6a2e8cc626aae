"""The wall is seen coming: a real daemon hands over before the limit, and works on where the quota lasts."""

from __future__ import annotations

import json
import time

import pytest

from hub.actors.quota.store import FORM, QuotaStore
from hub.domain.quota.window import QuotaReading
from tests.faults.harness import Project, until, write
from tests.faults.invariants import check_invariants
from tests.hub.cli.command import hub

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


def ended(made: Project, oracle, handoffs: int) -> dict:
    """The session is done, with every invariant whole."""
    record = until(made.ended, "the session ends")
    assert (record["sessionState"], record["handoffsDone"]) == ("completed", handoffs), record["error"]
    return record


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
    record = ended(made, oracle, handoffs=1)
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
    made.stop()
    check_invariants(made, oracle)


@pytest.mark.parametrize(("resets_in", "handoffs"), [(600, 0), (10 * HOUR, 1)])
def test_at_the_threshold_the_forecast_decides(made, oracle, resets_in, handoffs):
    """One per mille a minute: 9 % last ten minutes, not ten hours."""
    remembered(made, "demo-first", 905, pace=1, resets_in=resets_in)
    agents(
        made,
        oracle,
        {"quota": {"used": 0.906, "resetsIn": resets_in}},
        *[{"sleep": 0.1}] * 10,
        write(oracle, "b.txt", "one"),
        {"done": ""},
    )
    api = made.start()
    assert wallet(api)["demo-first"]["forecast"] == "ready"
    api.post("/api/run", RUN)
    ended(made, oracle, handoffs)
    made.stop()
    check_invariants(made, oracle)


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
    ended(made, oracle, handoffs=0)
    made.stop()
    check_invariants(made, oracle)


def test_at_the_limit_itself_the_last_of_a_quota_is_used(made, oracle):
    """Somebody at his threshold is better than nobody."""
    remembered(made, "demo-second", 970, pace=1, resets_in=HOUR)
    agents(made, oracle, {"limit": {"resetsIn": HOUR}})
    api = made.start()
    api.post("/api/run", RUN)
    ended(made, oracle, handoffs=1)
    assert wallet(api)["demo-first"]["source"] == "limit"
    made.stop()
    check_invariants(made, oracle)


def test_the_wallet_outlives_the_daemon_and_is_shown(made, oracle):
    """kill -9: what an agent said of its quota is known to the next daemon, and to `hub quota`."""
    agents(made, oracle, {"quota": {"used": 0.42, "resetsIn": HOUR}}, {"ask": "go on?"})
    api = made.start()
    api.post("/api/run", RUN)
    until(lambda: wallet(api)["demo-first"]["source"] == "stream", "the quota is known")
    made.kill()
    api = made.start()
    until(lambda: wallet(api)["demo-first"]["fractionUsed"] == 0.42, "it still is")
    shown = hub("quota", cwd=made.root, env=made.environ()).stdout
    assert "demo-first/default" in shown
    assert "58 %" in shown  # left
    assert "stream" in shown
    told = json.loads(hub("quota", "--json", cwd=made.root, env=made.environ()).stdout)
    assert [entry["provider"] for entry in told if entry["remaining"] == 58] == ["demo-first"]
    api.post("/api/session/stop")
    made.stop()
