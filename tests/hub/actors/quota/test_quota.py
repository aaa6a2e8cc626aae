"""The quota actor: a fold over the event log that outlives every death, and warns once."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import attrs
import pytest
from trio.testing import wait_all_tasks_blocked

from hub.actors.audit import AuditWriter
from hub.actors.common.job import Jobs
from hub.actors.common.outbox import Outbox
from hub.actors.events import EventLog
from hub.actors.quota.actor import Quota
from hub.actors.quota.store import FORM, KeptQuota
from hub.actors.settings.actor import Settings
from hub.api.convert import unstructure
from hub.api.tables import parse_config
from hub.domain.event import EventType, Tag
from hub.domain.quota.elsewhere import UNSEEN, Growth, Used
from hub.domain.quota.forecast import Outlook
from hub.domain.quota.window import QuotaReading
from hub.io.events.store import NewEvent
from hub.io.files.sealed import write_sealed
from hub.io.project.trust import Gate
from hub.io.records.store import RecordStore
from hub.message_map import slot_of
from hub.messages.events import EventAppend, EventsSince
from hub.messages.quota import GetProspects, GetWallet, SpentElsewhere
from supervisors import DynamicHandle, Slot, SupervisorSpec, actor_spec
from tests.clock import Clock
from tests.trees import restarted, running
from tests.waiting import answered, changed

CALL = 20.0
START = 1_795_000_000
TOML = """
[providers.claude]
[[providers.claude.accounts]]
label = "work"
[providers.codex]
enabled = false
[providers.gemini]
declaredCap = 10000
"""


def kept(places):
    """The ledger, as it stands on disk."""
    return RecordStore(places.hub_dir / "quota.json", FORM).look() or KeptQuota()


@attrs.define
class Bench:
    """The actor, the log it follows, and the clock."""

    quota: Slot
    events: Slot
    clock: Clock
    offset: int = 0

    async def placed(self, places):
        """It has found its place in the log, and follows it from there."""
        await changed(places.hub_dir, lambda: kept(places).cursor >= 0)

    async def ask(self, message):
        return await self.quota.ref.call(message, timeout=CALL)

    async def log(self, kind, **meta):
        """One event of an agent, now."""
        self.offset += 1
        body = {"type": str(kind), "provider": "claude", "account": "work", "dispatchId": "d-1", **meta}
        tag = Tag.ERROR if kind is EventType.ERROR else Tag.QUOTA
        event = NewEvent(str(tag), "", body, int(self.clock.now * 1000), "d-1", self.offset)
        await self.events.ref.call(EventAppend([event]), timeout=CALL)

    async def used(self, permille, window="five_hour", resets_at=START + 18_000, **meta):
        await self.log(EventType.QUOTA, used=permille, window=window, resetsAt=resets_at, **meta)

    async def burn(self, minutes, pace, start):
        for _ in range(minutes):
            self.clock.now += 60
            start += pace
            await self.used(start)
        return start

    async def wallet(self, name="claude"):
        return next(row for row in unstructure(await self.ask(GetWallet())) if row["provider"] == name)

    async def until(self, condition, name="claude"):
        """The first entry that fits: the log is followed by a task of its own."""
        return await answered(partial(self.wallet, name), condition)

    async def warnings(self):
        found = await self.events.ref.call(EventsSince(0), timeout=CALL)
        return [record.msg for record in found if "forecast" in record.meta]


@asynccontextmanager
async def bench_of(places, clock=None, config=TOML):
    audit, log, settings, session, quota = map(slot_of, ("audit", "events", "settings", "session", "quota"))
    clock = clock or Clock(START)
    providers = ("claude", "codex", "gemini")

    def actor():
        return Quota(
            places,
            events=log.ref,
            settings=settings.ref,
            session=session.ref,
            providers=providers,
            clients=lambda _: None,
            clock=clock,
        )

    def conf():
        read = partial(parse_config, config)
        nobody = Jobs(DynamicHandle("jobs"), lambda job, _: pytest.fail(f"{job} was started"), str)
        outbox = Outbox(log.ref, clock, audit.ref, patience=10.0)
        return Settings(places, read, {}, outbox=outbox, jobs=nobody, gate=Gate.of(places.root, {}))

    spec = SupervisorSpec(
        intensity=10,
        children=[
            actor_spec("audit", lambda: AuditWriter(places, b"k" * 32), audit),
            actor_spec("events", lambda: EventLog(places, audit.ref, clock), log),
            actor_spec("settings", conf, settings),
            actor_spec("quota", actor, quota),
        ],
    )
    async with running(spec):
        bench = Bench(quota, log, clock)
        await bench.placed(places)
        yield bench


async def test_what_an_agent_says_is_in_the_wallet_with_its_source_and_age(places):
    async with bench_of(places) as bench:
        assert (await bench.wallet())["source"] == "none"
        await bench.used(420)
        found = await bench.until(lambda row: row["source"] == "stream")
        assert (found["account"], found["remaining"], found["total"], found["fractionUsed"]) == (
            "work", 58, 100, 0.42,
        )  # fmt: skip
        assert (found["forecast"], found["etaMinutes"], found["burnPerMin"]) == ("accumulating", None, None)
        bench.clock.now += 65
        assert (await bench.wallet())["ageSeconds"] == 65


async def test_the_wallet_has_every_account_of_every_enabled_provider(places):
    async with bench_of(places) as bench:
        rows = await bench.ask(GetWallet())
        assert [(row.provider, row.account) for row in rows] == [
            ("claude", "work"),
            ("gemini", "default"),
        ]


async def test_a_pace_becomes_a_forecast_and_a_warning_told_once(places):
    """Burn and forecast are events with the tag quota."""
    async with bench_of(places) as bench:
        await bench.used(300)
        await bench.burn(40, 10, 300)
        found = await bench.until(lambda row: row["fractionUsed"] == 0.7)
        assert found["forecast"] == "ready"
        assert found["burnPerMin"] == pytest.approx(1.0, rel=0.1)
        assert found["etaLowMinutes"] < 30 < found["etaHighMinutes"]
        assert len(await bench.warnings()) == 1
        await bench.burn(25, 10, 700)
        await bench.until(lambda row: row["fractionUsed"] == 0.95)
        ahead, near = await bench.warnings()
        assert "wall in about" in ahead
        assert "burning 1 % a minute" in near


async def test_a_clock_that_is_set_back_stops_no_meter(places):
    """What was read after it counted as old, a limit too, until the clock came to the old time again."""
    async with bench_of(places) as bench:
        await bench.used(300)
        await bench.burn(40, 10, 300)
        await bench.until(lambda row: row["fractionUsed"] == 0.7)
        bench.clock.now -= 86_400
        found = await bench.wallet()
        assert (found["ageSeconds"], found["forecast"]) == (0, "ready")
        await bench.burn(5, 10, 700)
        found = await bench.until(lambda row: row["fractionUsed"] == 0.75)
        assert found["burnPerMin"] == pytest.approx(1.0, rel=0.1)
        assert len(await bench.warnings()) == 1


async def test_a_killed_actor_loses_nothing_and_doubles_nothing(places):
    """The ledger is a fold over the log: whatever was not written down is read again."""
    async with bench_of(places) as bench:
        await bench.used(300)
        await bench.burn(40, 10, 300)
        before = await bench.until(lambda row: row["fractionUsed"] == 0.7)
        for _ in range(3):
            await restarted(bench.quota.ref, lambda: bench.quota.ref.try_cast("no message of its own"))
            assert await bench.until(lambda row: row["fractionUsed"] == 0.7) == before
        assert len(await bench.warnings()) == 1


async def test_a_restart_of_the_daemon_remembers(places):
    clock = Clock(START)
    async with bench_of(places, clock) as bench:
        await bench.used(300)
        await bench.burn(40, 10, 300)
        before = await bench.until(lambda row: row["fractionUsed"] == 0.7)
    async with bench_of(places, clock) as bench:
        assert await bench.wallet() == before


@pytest.mark.parametrize("write", [write_sealed, Path.write_bytes])
async def test_a_ledger_that_cannot_be_read_is_no_reason_not_to_work(places, write):
    write(places.hub_dir / "quota.json", b'{"cursor":1,"burns":[1]}')
    async with bench_of(places) as bench:
        await bench.used(420)
        assert await bench.until(lambda row: row["fractionUsed"] == 0.42)


async def test_a_log_that_begins_anew_is_followed(places):
    """The place kept lies beyond a log that was put aside."""
    async with bench_of(places) as bench:
        await bench.burn(20, 10, 0)
        await bench.until(lambda row: row["fractionUsed"] == 0.2)
    for path in places.hub_dir.glob("events.db*"):
        path.unlink()
    (places.hub_dir / "events.reserved").unlink(missing_ok=True)
    async with bench_of(places, Clock(START + 7200)) as bench:
        await wait_all_tasks_blocked()
        await bench.used(500)
        assert await bench.until(lambda row: row["fractionUsed"] == 0.5)


async def test_a_usage_limit_is_the_end_of_its_window_until_the_reset(places):
    async with bench_of(places) as bench:
        meta = {"failure": "usage_limit", "window": "day", "resetsAt": START + 600}
        await bench.log(EventType.ERROR, **meta)
        found = await bench.until(lambda row: row["source"] == "limit")
        assert (found["remaining"], found["window"]) == (0, "day")
        bench.clock.now += 600
        assert (await bench.wallet())["source"] == "none"  # begun anew: nobody knows what is used of it


@pytest.mark.parametrize("resets", [{"resetsAt": START + 18_000}, {}])
async def test_a_limit_is_over_when_an_agent_came_to_a_good_end(places, resets):
    """A result that tells of the limit itself is none: it forgot an undated limit as soon as it was met."""
    async with bench_of(places) as bench:
        await bench.placed(places)
        await bench.log(EventType.ERROR, failure="usage_limit", window="five_hour", **resets)
        await bench.log(EventType.RESULT, isError=True, failure="usage_limit")
        await bench.log(EventType.RESULT, interrupted=True)
        assert (await bench.until(lambda row: row["fractionUsed"] is not None))["fractionUsed"] == 1.0
        await bench.log(EventType.RESULT, isError=False)
        assert (await bench.until(lambda row: row["fractionUsed"] is None))["source"] == "none"


async def test_the_wall_of_an_account_stands_for_it_and_every_window_is_told(places):
    async with bench_of(places) as bench:
        await bench.used(130)
        await bench.used(400, window="seven_day", resets_at=START + 500_000)
        found = await bench.until(lambda row: len(row["windows"]) == 2)
        assert found["window"] == "seven_day"
        assert [w["window"] for w in found["windows"]] == ["five_hour", "seven_day"]


async def test_a_declared_cap_counts_tokens_where_nobody_tells(places):
    """Last resort: tokens hub saw today, in the provider's own declared cap."""
    async with bench_of(places) as bench:
        untouched = await bench.wallet("gemini")
        assert (untouched["source"], untouched["remaining"], untouched["total"]) == (
            "declared",
            10_000,
            10_000,
        )
        await bench.log(EventType.USAGE, provider="gemini", account="default", tokensIn=3000, tokensOut=500)
        found = await bench.until(lambda row: row["fractionUsed"], "gemini")
        assert (found["remaining"], found["unit"], found["source"]) == (6500, "tokens", "declared")
        await bench.used(100, provider="gemini", account="default")
        told = await bench.until(lambda row: row["source"] == "stream", "gemini")
        assert [w["source"] for w in told["windows"]] == ["stream"]


async def test_who_asks_for_prospects_is_answered_with_what_he_has_just_heard(places):
    """The session asks while the event is on its way through the log."""
    async with bench_of(places) as bench:
        reading = QuotaReading("claude", "work", "five_hour", 950, START + 600.0, "stream", START)
        found = await bench.ask(GetProspects([reading]))
        (only,) = found["claude", "work"]
        assert (only.reading, only.forecast.outlook) == (reading, Outlook.ACCUMULATING)


async def test_a_figure_without_a_reset_is_forgotten_after_a_day(places):
    async with bench_of(places) as bench:
        await bench.ask(GetProspects([QuotaReading("claude", "work", "w", 950, None, "stream", START)]))
        bench.clock.now += 86_000
        assert await bench.ask(GetProspects()) != {}
        bench.clock.now += 1000
        assert await bench.ask(GetProspects()) == {}


async def test_windows_are_bounded(places):
    """Their names come from agents."""
    async with bench_of(places) as bench:
        readings = [QuotaReading("claude", "work", f"w{n}", 1, None, "stream", START + n) for n in range(300)]
        found = await bench.ask(GetProspects(readings))
        assert len(found["claude", "work"]) == 200


async def test_what_other_agents_of_an_account_spend_counts_once_across_a_death(places):
    """Burn of foreign sessions feeds the wallet: told twice, or again by a detector that was restarted, it counts once."""
    one = Growth("gemini", "default", "s", UNSEEN, 10, (Used("a", START - 5, 3000),))
    two = Growth("gemini", "default", "s", 10, 20, (Used("a", START - 5, 3000), Used("b", START - 1, 500)))
    strange = Growth("gemini", "/some/folder", "t", UNSEEN, 9, (Used("c", START, 70),))
    async with bench_of(places) as bench:
        await bench.log(EventType.USAGE, provider="gemini", account="default", tokensIn=1000, tokensOut=0)
        await bench.until(lambda row: row["tokensToday"] == 1000, "gemini")
        assert await bench.ask(SpentElsewhere()) == {}
        for growth in (one, one, two, strange):
            places_told = await bench.ask(SpentElsewhere([growth]))
        assert places_told == {"s": 20, "t": 9}
        found = await bench.wallet("gemini")
        assert (found["tokensToday"], found["tokensElsewhere"], found["remaining"]) == (4500, 3500, 5500)
        assert found["source"] == "declared"
        await changed(places.hub_dir, lambda: kept(places).elsewhere.places == places_told)
    async with bench_of(places) as bench:
        assert await bench.ask(SpentElsewhere([one, two])) == places_told
        found = await bench.wallet("gemini")
        assert (found["tokensToday"], found["tokensElsewhere"]) == (4500, 3500)


async def test_the_wall_of_an_account_that_only_others_use_is_warned_of(places):
    async with bench_of(places) as bench:
        used = (Used("a", START - 5, 9500),)
        await bench.ask(SpentElsewhere([Growth("gemini", "default", "s", UNSEEN, 10, used)]))
        [said] = await answered(bench.warnings, bool)
        assert said.startswith("gemini/default day 95 % used")
