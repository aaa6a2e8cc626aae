"""The breakers as an actor: remembered over restarts, told once, and never in the way of the daemon's start."""

from __future__ import annotations

from contextlib import asynccontextmanager

import attrs
import pytest
import trio

from hub.actors.audit import AuditWriter
from hub.actors.breakers import Breakers
from hub.actors.common.outbox import Outbox
from hub.actors.events import EventLog
from hub.api.convert import unstructure
from hub.domain.failure import Failure, FailureClass
from hub.domain.quota.window import Standing
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.seal import split
from hub.io.files.sealed import write_sealed
from hub.io.records.breakers import breaker_store
from hub.message_map import slot_of
from hub.messages.breakers import BreakerClosed, BreakerFailure, BreakerSnapshots, BreakerSuccess, Shut
from hub.messages.events import EventsSince
from supervisors import Actor, Slot, SupervisorSpec, actor_spec
from tests.clock import Clock
from tests.trees import running

CALL = 20.0
CRASH = Failure(FailureClass.CRASH, "gone")


@attrs.define
class Bench:
    """The actor, its log and its clock."""

    breakers: Slot
    events: Slot
    clock: Clock

    async def ask(self, message):
        return await self.breakers.ref.call(message, timeout=CALL)

    async def fail(self, failure=CRASH, account="default", times=1):
        for _ in range(times):
            await self.ask(BreakerFailure("demo", account, failure))

    async def state(self):
        return [(b.name, b.state, b.failures) for b in await self.ask(BreakerSnapshots())]

    async def told(self):
        found = await self.events.ref.call(EventsSince(0), timeout=CALL)
        return [(r.tag, r.meta["breaker"]) for r in found]


class Wallet(Actor):
    """Knows what it was given."""

    def __init__(self, standings):
        self._standings = standings

    async def handle(self, message):
        return message.answer(self._standings)


@asynccontextmanager
async def bench_of(places, clock=None, standings=None):
    audit, log, breakers, quota = map(slot_of, ("audit", "events", "breakers", "quota"))
    clock = clock or Clock(1000.0)
    outbox = Outbox(log.ref, clock, audit.ref, patience=10.0)
    spec = SupervisorSpec(
        children=[
            actor_spec("audit", lambda: AuditWriter(places, b"k" * 32), audit),
            actor_spec("events", lambda: EventLog(places, audit.ref, clock), log),
            actor_spec("breakers", lambda: Breakers(places, outbox, quota.ref), breakers),
            *([] if standings is None else [actor_spec("quota", lambda: Wallet(standings), quota)]),
        ]
    )
    async with running(spec):
        yield Bench(breakers, log, clock)


async def test_five_failures_open_it_and_a_restart_remembers(places):
    """Open after five, half-open when the cool-down is over, closed by a success; each told once."""
    clock = Clock(1000.0)
    async with bench_of(places, clock) as bench:
        await bench.fail(times=4)
        assert await bench.ask(BreakerClosed()) == {}
        await bench.fail()
        assert await bench.ask(BreakerClosed()) == {("demo", "default"): Shut(1030.0, limited=False)}
    async with bench_of(places, clock) as bench:
        assert unstructure(await bench.ask(BreakerSnapshots())) == [
            {
                "name": "demo/default", "state": "open", "failures": 5, "openedAt": "1970-01-01T00:16:40.000Z",
                "until": "1970-01-01T00:17:10.000Z",
            }
        ]  # fmt: skip
        clock.now += 30
        assert await bench.ask(BreakerClosed()) == {}
        await bench.ask(BreakerSuccess("demo", "default"))
        assert unstructure(await bench.ask(BreakerSnapshots())) == [
            {"name": "demo/default", "state": "closed", "failures": 0}
        ]
        assert await bench.told() == [("quota", "open"), ("quota", "closed")]


async def test_a_limit_that_the_wallet_knows_too_is_one_write(places, monkeypatch):
    """The wallet hears of it from the log, the breakers from the session: the file was written for each."""
    written = []
    full = Standing(full=True, until=5000.0, at=1000.0)
    async with bench_of(places, standings={("demo", "default"): full}) as bench:
        monkeypatch.setattr(breaker_store(places).__class__, "save", lambda _, value: written.append(value))
        limit = Failure(FailureClass.USAGE_LIMIT, "limit", resets_at=5000.0)
        for _ in range(2):
            await bench.ask(BreakerFailure("demo", "default", limit, "d-1"))
        assert await bench.ask(BreakerClosed()) == {("demo", "default"): Shut(5000.0, limited=True)}
        assert await bench.told() == [("quota", "open")]
    assert [one.heard for kept in written for one in kept.breakers] == ["d-1"]


async def test_a_usage_limit_shuts_one_account_until_its_reset(places):
    async with bench_of(places) as bench:
        await bench.fail(Failure(FailureClass.USAGE_LIMIT, "limit", resets_at=5000.0), account="a")
        assert await bench.ask(BreakerClosed()) == {("demo", "a"): Shut(5000.0, limited=True)}


@pytest.mark.parametrize(
    ("content", "sealed"), [(b"{", True), (b'[{"state": "dreaming"}]', True), (b"{", False)]
)
async def test_a_file_that_cannot_be_read_is_no_reason_not_to_work(places, content, sealed):
    path = places.hub_dir / "breakers.json"
    write_sealed(path, content) if sealed else path.write_bytes(content)
    async with bench_of(places) as bench:
        assert await bench.state() == []
        await bench.fail()
        assert len(breaker_store(places).look().breakers) == 1
        assert list(path.parent.glob("breakers.json.*-*")), "what was there is kept"


async def test_beside_a_newer_hubs_record_they_are_remembered_while_they_live(places):
    path = places.hub_dir / "breakers.json"
    write_sealed(path, b'{"v":2}')
    before = path.read_bytes()
    async with bench_of(places) as bench:
        await bench.fail(times=5)
        assert await bench.state() == [("demo/default", "open", 5)]
    assert path.read_bytes() == before


async def test_a_breaker_that_hub_did_not_open_is_closed(places):
    """A forged record would keep hub from every account."""
    async with bench_of(places) as bench:
        await bench.fail(times=5)
    path = places.hub_dir / "breakers.json"
    path.write_bytes(split(path.read_bytes())[0])
    async with bench_of(places) as bench:
        assert await bench.state() == []


async def test_a_planted_link_is_not_read(places, tmp_path):
    """Security row 28: hub's own files are not followed to somewhere else."""
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text("[]")
    (places.hub_dir / "breakers.json").symlink_to(elsewhere)
    async with bench_of(places) as bench:
        await bench.fail()
    assert elsewhere.read_text() == "[]"


async def test_a_failure_that_could_not_be_kept_is_not_counted(places, monkeypatch):
    """The sender is refused and sends it again: it counts once."""
    async with bench_of(places) as bench:
        await bench.fail()

        def full(path, data, **_):
            raise HubError(Code.NO_SPACE, "full")

        with monkeypatch.context() as broken:
            broken.setattr("hub.io.files.sealed.write_sealed", full)
            with pytest.raises(HubError):
                await bench.fail()
        assert await bench.state() == [("demo/default", "closed", 1)]


async def test_a_change_is_kept_although_it_cannot_be_told(places):
    """The event log refuses (disk full): the breaker is open all the same, and its sender need not know."""
    async with bench_of(places) as bench:
        await bench.fail(times=4)
        failpoints.arm("events.append=enospc")
        try:
            await bench.fail()
        finally:
            failpoints.arm("")
        assert await bench.state() == [("demo/default", "open", 5)]
    with trio.fail_after(CALL):
        async with bench_of(places) as bench:
            assert await bench.state() == [("demo/default", "open", 5)]
