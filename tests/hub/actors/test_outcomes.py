"""The outcomes actor: a fold over the event log that counts nothing twice, however often it dies."""

from __future__ import annotations

from contextlib import asynccontextmanager

import attrs

from hub.actors.audit import AuditWriter
from hub.actors.events import EventLog
from hub.actors.outcomes import FORM, Outcomes
from hub.api.convert import unstructure
from hub.domain.event import EventType, Tag
from hub.io.events.store import NewEvent
from hub.io.project.places import Places
from hub.io.records.store import RecordStore
from hub.message_map import slot_of
from hub.messages.events import EventAppend
from hub.messages.outcomes import GetCosts, GetOutcomes
from supervisors import Slot, SupervisorSpec, actor_spec
from tests.trees import restarted, running
from tests.waiting import answered

CALL = 20.0


@attrs.define
class Bench:
    """The actor and the log it follows."""

    outcomes: Slot
    events: Slot
    count: int = 0

    async def log(self, session, **meta):
        self.count += 1
        body = {"sessionId": session, "dispatchId": f"d-{session}", **meta}
        event = NewEvent(str(Tag.SYSTEM), "", body, self.count, f"d-{session}", self.count)
        await self.events.ref.call(EventAppend([event]), timeout=CALL)

    async def used(self, session, tokens, **meta):
        await self.log(session, type=str(EventType.USAGE), tokensIn=tokens, tokensOut=0, **meta)

    async def ended(self, session, state="completed", *, verified=True, profile="fast"):
        await self.log(session, ended=state, verified=verified, **({"profile": profile} if profile else {}))

    async def ask(self):
        return unstructure(await self.outcomes.ref.call(GetOutcomes(), timeout=CALL))

    async def until(self, runs, profile="fast"):
        found = await answered(
            self.ask, lambda all_: any(o["profile"] == profile and o["runs"] == runs for o in all_)
        )
        return next(o for o in found if o["profile"] == profile)


@asynccontextmanager
async def bench(tmp_path):
    places = Places(tmp_path / "repo", tmp_path / "state")
    places.hub_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    audit, events, outcomes = slot_of("audit"), slot_of("events"), slot_of("outcomes")
    children = [
        actor_spec("audit", lambda: AuditWriter(places, b"k" * 32, print), audit),
        actor_spec("events", lambda: EventLog(places, audit.ref, lambda: 1.0), events),
        actor_spec("outcomes", lambda: Outcomes(places, events.ref), outcomes),
    ]
    async with running(SupervisorSpec(children=children)):
        yield Bench(outcomes, events)


async def test_a_session_counts_for_its_profile_when_it_ends(tmp_path):
    async with bench(tmp_path) as it:
        await it.used("s-1", 100, costUsdMicros=500_000)
        await it.used("s-1", 20, costUsdMicros=500_000)
        await it.ended("s-1")
        await it.used("s-2", 80)
        await it.ended("s-2", "failed", verified=None)
        found = await it.until(2)
        assert (found["judged"], found["successes"], found["successRate"]) == (2, 1, 0.5)
        assert (found["avgTokens"], found["avgCostUsd"]) == (100.0, 1.0)
        assert found["lastRun"]


async def test_a_session_without_a_profile_counts_for_none(tmp_path):
    async with bench(tmp_path) as it:
        await it.ended("s-1", profile="")
        await it.ended("s-2", profile="deep")
        await it.until(1, "deep")
        assert [o["profile"] for o in await it.ask()] == ["deep"]


async def test_an_agent_cannot_end_a_session_in_its_own_words(tmp_path):
    async with bench(tmp_path) as it:
        await it.log("s-1", type="text", ended="completed", verified=True, profile="fast")
        await it.ended("s-1", "failed", verified=None)
        found = await it.until(1)
        assert found["successes"] == 0


async def test_a_death_loses_and_doubles_nothing(tmp_path):
    """Killed with a session under way: its first events are read again, those of the ended one are not."""
    async with bench(tmp_path) as it:
        await it.used("s-1", 10)
        await it.ended("s-1")
        await it.until(1)
        await it.used("s-2", 30)
        await restarted(it.outcomes.ref, lambda: it.outcomes.ref.try_cast("no message of its own"))
        await it.ended("s-2")
        found = await it.until(2)
        assert found["avgTokens"] == 20.0
    async with bench(tmp_path) as it:
        assert (await it.ask())[0]["runs"] == 2


async def test_the_tally_outlives_its_file_and_a_new_log(tmp_path):
    async with bench(tmp_path) as it:
        await it.used("s-1", 10)
        await it.ended("s-1")
        await it.until(1)
    kept = tmp_path / "repo/.hub/outcomes.json"
    kept.write_bytes(b"not json")
    async with bench(tmp_path) as it:
        assert (await it.until(1))["avgTokens"] == 10.0
    for file in (tmp_path / "repo/.hub").glob("events.db*"):
        file.unlink()
    async with bench(tmp_path) as it:
        await it.ended("s-2")
        assert (await it.until(2))["runs"] == 2


async def test_what_sessions_have_cost_is_told_by_day_and_agent(tmp_path):
    """Of those under way too; what has ended is kept over a death, and counted once."""
    async with bench(tmp_path) as it:

        async def costs():
            return unstructure(await it.outcomes.ref.call(GetCosts(), timeout=CALL))["spent"]

        await it.used("s-1", 100, costUsdMicros=500_000, provider="claude")
        await it.used("s-1", 40, dispatchId="d-other", provider="codex", costUsdMicros=250_000)
        rows = await answered(costs, lambda rows: len(rows) == 2)
        assert [(row["provider"], row["usd"], row["tokensIn"], row["ended"]) for row in rows] == [
            ("claude", 0.5, 100, False),
            ("codex", 0.25, 40, False),
        ]
        assert rows[0]["day"] == "1970-01-01"
        await it.ended("s-1")
        await answered(costs, lambda rows: all(row["ended"] for row in rows))
        await restarted(it.outcomes.ref, lambda: it.outcomes.ref.try_cast("no message of its own"))
        await it.used("s-2", 7, costUsdMicros=1, provider="claude")
        rows = await answered(costs, lambda rows: len(rows) == 3)
        assert [(row["sessionId"], row["ended"]) for row in rows] == [
            ("s-1", True),
            ("s-1", True),
            ("s-2", False),
        ]


async def test_what_a_session_has_cost_is_on_record_when_hub_stops_right_behind_it(tmp_path):
    """`hub run` ends its daemon in that moment, and `hub cost` reads the record: it said that nothing was used."""
    async with bench(tmp_path) as it:
        await it.used("s-1", 100)
        await answered(lambda: it.outcomes.ref.call(GetCosts(), timeout=CALL), lambda found: found.spent)
        await it.ended("s-1")  # told while the follower holds its breath
    kept, _ = RecordStore(
        Places(tmp_path / "repo", tmp_path / "state").hub_dir / "outcomes.json", FORM
    ).load()
    assert [(row.session_id, row.tokens_in, row.ended) for row in kept.spent] == [("s-1", 100, True)]
