"""The event log as an actor: each event once, readers without gap or double, the audit log in step."""

from __future__ import annotations

import subprocess
import threading
from contextlib import asynccontextmanager, suppress

import attrs
import pytest
import trio
import trio.testing

from hub.actors import events
from hub.actors.audit import AuditWriter
from hub.actors.events import EventLog
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.events.store import EventStore, NewEvent
from hub.io.project.places import Places
from hub.message_map import slot_of
from hub.messages.audit import AuditHistory
from hub.messages.events import EventAppend, EventsOnRecord, EventsSince, Subscribe, Unsubscribe
from supervisors import ActorDied, Restart, Slot, SupervisorSpec, actor_spec
from tests.trees import Recorder, kill, running
from tests.waiting import answered

pytestmark = pytest.mark.usefixtures("arm")
CALL = 20.0


@attrs.define
class Logs:
    """The two logs of one project, as they stand in the daemon's tree."""

    root: object
    audit: Slot
    events: Slot
    seen: Recorder

    async def append(self, *news):
        return await self.events.ref.call(EventAppend(news), timeout=CALL)

    async def since(self, after=0):
        return await self.events.ref.call(EventsSince(after, 100_000), timeout=CALL)

    async def audited(self):
        """The event ids on the audit log, in its order."""
        found = await self.audit.ref.call(AuditHistory(10_000), timeout=CALL)
        return [entry for entry in found if entry.event == "agent_event"]

    async def until_audited(self, count):
        return await answered(self.audited, lambda found: len(found) >= count)

    async def kill(self, name):
        """Kill the actor and wait for its next incarnation."""
        slot = self.audit if name == "audit" else self.events
        gone = trio.Event()
        slot.ref.monitor(lambda _: gone.set())
        kill(self.root, name)
        await gone.wait()
        await slot.ref.wait_alive()


@asynccontextmanager
async def logs_of(folder):
    places = Places(folder)
    places.ensure()
    audit, log = slot_of("audit"), slot_of("events")
    spec = SupervisorSpec(
        intensity=100,
        children=[
            actor_spec("audit", lambda: AuditWriter(places, b"k" * 32), audit, restart=Restart.PERMANENT),
            actor_spec("events", lambda: EventLog(places, audit.ref, lambda: 1.0), log),
        ],
    )
    seen = Recorder()
    async with running(spec, on_event=seen) as root:
        yield Logs(root, audit, log, seen)


@pytest.fixture
def folder(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def said(number, dispatch="d-1", index=0, **meta):
    """An agent's event at its place in the spool."""
    full = {"type": "text", "sessionId": "s-1", "provider": "demo", **meta}
    return NewEvent("text", f"line {number}.{index}", full, 1000 + number, dispatch, number, index)


def own(text):
    """An event of hub's own: it has no place, and may be said twice."""
    return NewEvent("system", text, {"sessionId": "s-1"}, 5)


async def test_an_event_enters_once_by_its_place(folder):
    """Idempotence by (dispatch, offset, index), whatever the batches; the old id is the answer."""
    async with logs_of(folder) as logs:
        first = await logs.append(said(1), said(1, index=1), said(2))
        again = await logs.append(said(2), said(1, index=1), said(3), said(1))
        other = await logs.append(said(1, dispatch="d-2"))
        assert (first, again, other) == ([1, 2, 3], [3, 2, 4, 1], [5])
        assert await logs.append(own("x"), own("x")) == [6, 7]
        assert [r.id for r in await logs.since()] == [1, 2, 3, 4, 5, 6, 7]


async def test_ids_go_on_over_a_restart_and_places_are_remembered(folder):
    async with logs_of(folder) as logs:
        await logs.append(said(1), said(2))
        await logs.kill("events")
        assert await logs.append(said(2), said(3)) == [2, 3]
    async with logs_of(folder) as logs:
        assert await logs.append(said(3), said(4)) == [3, 4]


async def test_a_session_is_read_in_pages(folder):
    async with logs_of(folder) as logs:
        await logs.append(*(said(n) for n in range(5)), said(9, sessionId="s-2"))
        page = await logs.events.ref.call(EventsSince(0, 3, "s-1"), timeout=CALL)
        rest = await logs.events.ref.call(EventsSince(page[-1].id, 3, "s-1"), timeout=CALL)
        assert [r.id for r in (*page, *rest)] == [1, 2, 3, 4, 5]


async def test_what_is_kept_in_memory_is_what_the_file_has(folder, monkeypatch):
    monkeypatch.setattr(events, "_RECENT", 8)
    async with logs_of(folder) as logs:
        for n in range(20):
            await logs.append(said(n, sessionId=f"s-{n % 2}"), own("x"))
        for after in (0, 5, 31, 32, 33, 38, 40):
            for session in ("", "s-0", "s-2"):
                [near, far] = [
                    await logs.events.ref.call(EventsSince(after, 6, session, until), timeout=CALL)
                    for until in (None, 1000)
                ]
                assert near == far


async def test_replay_and_live_meet_without_gap_or_double(folder):
    """`since` first replays, then goes on live, while events come in all the time."""
    async with logs_of(folder) as logs:
        await logs.append(*(own(f"past {n}") for n in range(2500)))
        views = [
            await logs.events.ref.call(Subscribe(since), timeout=CALL) for since in (0, 1234, 2500, None)
        ]
        got, ends = [[] for _ in views], [trio.Event() for _ in views]

        async def read(view, into, end):
            async for records in view.channel:
                into += [r.id for r in records]
                if into[-1] == 3000:
                    end.set()

        async with trio.open_nursery() as nursery:
            for view, into, end in zip(views, got, ends, strict=True):
                nursery.start_soon(read, view, into, end)
            for n in range(500):
                await logs.append(own(f"live {n}"))
            with trio.fail_after(CALL):
                for end in ends:
                    await end.wait()
            for view in views:
                await logs.events.ref.cast(Unsubscribe(view.token))
        assert got == [list(range(first, 3001)) for first in (1, 1235, 2501, 2501)]


async def test_a_reader_that_takes_nothing_is_dropped_as_lagged(folder, monkeypatch):
    """It gets what was queued, then the end, and is told why; others are not held up."""
    monkeypatch.setattr(events, "_QUEUE", 8)
    async with logs_of(folder) as logs:
        slow = await logs.events.ref.call(Subscribe(), timeout=CALL)
        for n in range(10):
            await logs.append(own(str(n)))
        assert slow.lagged.is_set()
        assert [r.id async for records in slow.channel for r in records] == list(range(1, 9))
        assert (await logs.append(own("after"))) == [11]


async def test_what_several_say_at_once_is_told_at_once(folder, monkeypatch):
    """Three agents at full speed were three lists, and each a write to every client; a list has its bound all the same."""
    async with logs_of(folder) as logs:
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)

        async def told(*news):
            async with trio.open_nursery() as nursery:
                for one in news:
                    nursery.start_soon(logs.events.ref.call, EventAppend([one], spooled=True), CALL)
            return [[r.id for r in live.channel.receive_nowait()] for _ in range(_waiting(live))]

        assert await told(said(1), said(2), said(3)) == [[1, 2, 3]]
        monkeypatch.setattr(events, "_LIST", 2)
        assert await told(*map(said, range(4, 9))) == [[4, 5], [6, 7], [8]]


async def test_what_waits_to_be_told_is_told_where_the_next_is_not_taken(folder):
    """Nobody may wait for a later one that does not come."""
    async with logs_of(folder) as logs:
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        failpoints.arm("events.append=enospc@2")
        assert logs.events.ref.try_cast(EventAppend([said(1)], spooled=True))
        with pytest.raises(HubError):
            await logs.events.ref.call(EventAppend([said(2)], spooled=True), timeout=CALL)
        assert [r.id for r in live.channel.receive_nowait()] == [1]


async def test_what_waits_to_be_told_waits_for_no_disk(folder, monkeypatch):
    """An agent's line before one of hub's own, which is told when it is durable."""
    async with logs_of(folder) as logs:
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        disk = threading.Event()
        monkeypatch.setattr(EventStore, "sync", lambda _: disk.wait(CALL))
        assert logs.events.ref.try_cast(EventAppend([said(1)], spooled=True))
        assert logs.events.ref.try_cast(EventAppend([own("later")]))
        await trio.testing.wait_all_tasks_blocked(0.01)
        told = [[r.id for r in live.channel.receive_nowait()] for _ in range(_waiting(live))]
        disk.set()
        assert told == [[1]]
        assert [r.id for r in await live.channel.receive()] == [2]


def _waiting(subscription):
    return subscription.channel.statistics().current_buffer_used


async def test_a_long_replay_waits_for_its_reader(folder, monkeypatch):
    """What is not taken stays in the file: a reader that stalls costs two lists of memory, and is not lagged.

    Two hundred sockets that asked for the past and read nothing cost half a gigabyte: each had a hundred thousand records.
    """
    monkeypatch.setattr(events, "_LIST", 10)
    async with logs_of(folder) as logs:
        await logs.append(*(own(str(n)) for n in range(100)))
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        for n in range(20):
            await logs.append(own(f"more {n}"))
        assert [r.id for r in _at_hand(view)] == list(range(1, 21))
        assert not view.lagged.is_set()
        got = []
        with trio.fail_after(CALL):
            while len(got) < 100:
                got += [r.id for r in await view.channel.receive()]
        assert got == list(range(21, 121))


def _at_hand(subscription):
    """What is in memory for a reader: in its channel, and in the hand of a task that waits for room there."""
    found = []
    with suppress(trio.WouldBlock):
        while True:
            found += subscription.channel.receive_nowait()
    return found


async def test_what_a_reader_was_too_busy_for_is_read_to_it_from_the_log(folder, monkeypatch):
    """However many lists it came in, and however long: it was one list, of any length, besides a thousand that waited."""
    monkeypatch.setattr(events, "_LIST", 10)
    async with logs_of(folder) as logs:
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        for n in range(100):
            await logs.append(own(str(n)))
        await logs.append(*(own(str(n)) for n in range(100)))
        await trio.testing.wait_all_tasks_blocked()
        taken = [_at_hand(view)]
        while taken[-1]:
            await trio.testing.wait_all_tasks_blocked()
            taken.append(_at_hand(view))
        assert max(map(len, taken)) <= 20
        assert [r.id for records in taken for r in records] == list(range(1, 201))
        await logs.append(own("at once"))
        assert [r.id for r in view.channel.receive_nowait()] == [201]


async def test_who_is_up_to_date_costs_no_task(folder):
    """However its subscription began: each list was a turn of one more task for every client."""
    async with logs_of(folder) as logs:
        await trio.testing.wait_all_tasks_blocked()
        before = trio.lowlevel.current_statistics().tasks_living
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        for n in range(1, 4):
            await logs.append(said(n))
            assert [r.id for r in await view.channel.receive()] == [n]
        assert trio.lowlevel.current_statistics().tasks_living == before


@pytest.mark.parametrize("takes", [0, 1])
async def test_a_reader_from_the_past_that_falls_behind_is_dropped_as_lagged(folder, monkeypatch, takes):
    """A list now and then does not make up for a thousand: it could be three thousand behind."""
    monkeypatch.setattr(events, "_QUEUE", 8)
    async with logs_of(folder) as logs:
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        await trio.testing.wait_all_tasks_blocked()
        for n in range(7):
            await logs.append(own(str(n)))
        for _ in range(takes):
            view.channel.receive_nowait()
        assert not view.lagged.is_set()
        for n in range(5):
            await logs.append(own(str(n)))
        assert view.lagged.is_set()
        with trio.fail_after(CALL):
            got = [r.id async for records in view.channel for r in records]
        assert got == list(range(1 + takes, 1 + takes + len(got)))


async def test_a_reader_that_takes_what_it_is_offered_is_never_too_slow(folder, monkeypatch):
    """One that rests between its looks is always some lists behind: that is not more than it may be."""
    monkeypatch.setattr(events, "_QUEUE", 32)
    monkeypatch.setattr(events, "_LIST", 4)
    async with logs_of(folder) as logs:
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        await trio.testing.wait_all_tasks_blocked()
        got = []
        for _ in range(100):
            for n in range(6):
                await logs.append(own(str(n)))
            got += [r.id for r in _at_hand(view)]
        assert not view.lagged.is_set()
        assert got == list(range(1, len(got) + 1))
        assert len(got) > 600 - 32


async def test_a_subscription_is_left_while_the_past_is_read(folder):
    """What was cast then was lost: the reader was given all of the past, and then all that came."""
    async with logs_of(folder) as logs:
        await logs.append(*(own(str(n)) for n in range(1000)))
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        await trio.testing.wait_all_tasks_blocked()
        await logs.events.ref.cast(Unsubscribe(view.token))
        await logs.append(own("handled after it"))
        with trio.fail_after(CALL):
            got = [r.id async for records in view.channel for r in records]
        assert got == list(range(1, events._AHEAD * events._LIST + 1))


async def test_who_asks_for_a_part_that_cannot_be_read_is_sent_away_alone(folder, monkeypatch):
    """A damaged page of the file: three clients that asked for the past ended the daemon."""

    def damaged(*_):
        raise HubError(Code.STATE_CORRUPT)

    async with logs_of(folder) as logs:
        await logs.append(own("x"))
        await logs.kill("events")  # the next one has nothing in memory
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        monkeypatch.setattr(EventStore, "since", damaged)
        past = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        with trio.fail_after(CALL):
            assert [r async for r in past.channel] == []
            assert not past.lagged.is_set()
            await logs.append(own("y"))
            assert [r.msg for r in await live.channel.receive()] == ["y"]


async def test_a_restart_of_the_log_ends_every_subscription(folder):
    """Clients come back with `since`; nobody waits on a channel without a sender."""
    async with logs_of(folder) as logs:
        await logs.append(own("x"))
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        await logs.kill("events")
        with trio.fail_after(CALL):
            assert [r async for r in live.channel] == []
        assert not live.lagged.is_set()


async def test_a_death_of_the_log_ends_the_subscription_of_one_that_is_behind(folder, monkeypatch):
    """What is told at the end does not fit into its channel, and nobody is there any more to read it to it."""
    async with logs_of(folder) as logs:
        view = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        await trio.testing.wait_all_tasks_blocked(0.01)
        await logs.append(own("fills the channel"))
        append, gone = EventStore.append, trio.Event()
        monkeypatch.setattr(EventStore, "append", lambda store, news: append(store, news) if news else 1 / 0)
        logs.events.ref.monitor(lambda _: gone.set())
        for news in ([said(1)], [], [said(2)]):
            assert logs.events.ref.try_cast(EventAppend(news, spooled=True))
        await gone.wait()
        with trio.fail_after(CALL):
            assert [r.id async for records in view.channel for r in records] == [1]
        assert not view.lagged.is_set()


async def test_agent_events_reach_the_audit_log_once(folder):
    """Architecture walk 1; thinking, usage and pieces of streamed text do not, hub's own records do not."""
    async with logs_of(folder) as logs:
        await logs.append(
            said(1), said(2, type="usage"), said(3, type="thinking"), own("own"), said(4, delta=True), said(5)
        )
        found = await logs.until_audited(2)
        assert [entry.summary for entry in found] == ["line 1.0", "line 5.0"]
        assert {entry.provider for entry in found} == {"demo"}


async def test_who_asks_finds_every_event_on_the_audit_log(folder, monkeypatch):
    """A session's end stood before the agent's last deeds: they linger, to be written in groups."""
    monkeypatch.setattr(events, "_AUDIT_LINGER", 60.0)
    monkeypatch.setattr(events, "_AUDIT_PATIENCE", 60.0)
    async with logs_of(folder) as logs:
        await logs.events.ref.call(EventsOnRecord(), timeout=CALL)
        for number in range(1, 4):
            await logs.append(said(number))
            await logs.events.ref.call(EventsOnRecord(), timeout=CALL)
            assert len(await logs.audited()) == number
        await logs.kill("events")
        await logs.events.ref.call(EventsOnRecord(), timeout=CALL)


async def test_who_asks_is_answered_where_the_audit_log_takes_nothing(folder, monkeypatch):
    """A log that was tampered with keeps no session from ending."""
    monkeypatch.setattr(events, "_AUDIT_PATIENCE", 0.01)
    async with logs_of(folder) as logs:
        failpoints.arm("audit.append=enospc")
        await logs.append(said(1))
        await logs.events.ref.call(EventsOnRecord(), timeout=CALL)
        assert await logs.audited() == []


async def test_a_flood_reaches_the_audit_log_whole(folder):
    """More at once than is kept in memory for it: what is not there any more is read from the log."""
    count = 3 * events._AUDIT_PAGE
    async with logs_of(folder) as logs:
        await logs.append(*map(said, range(1, count + 1)))
        await logs.append(said(count + 1))
        found = await logs.until_audited(count + 1)
        assert [entry.summary for entry in found] == [f"line {n}.0" for n in range(1, count + 2)]


async def test_what_only_hub_knows_is_durable_before_it_is_seen(folder, monkeypatch):
    """An event of hub's own has no spool to come back from; one of an agent's has, and does not wait for the disk."""
    async with logs_of(folder) as logs:
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        failpoints.arm("events.sync=eio@1")
        with pytest.raises(ActorDied):
            await logs.append(own("not durable"))
        assert [r async for r in live.channel] == []
        await logs.events.ref.wait_alive()
        live = await logs.events.ref.call(Subscribe(), timeout=CALL)
        disk = threading.Event()
        monkeypatch.setattr(EventStore, "sync", lambda _: disk.wait(CALL))
        await logs.events.ref.call(EventAppend([said(1)], spooled=True), timeout=CALL)
        assert [r.msg for r in await live.channel.receive()] == ["line 1.0"]
        disk.set()


async def test_a_replay_under_way_shows_nothing_that_is_not_durable(folder, monkeypatch):
    """It comes once, by itself, when the disk has it."""
    for name, value in {"_QUEUE": 1, "_LIST": 1, "_RECENT": 0}.items():
        monkeypatch.setattr(events, name, value)
    async with logs_of(folder) as logs:
        await logs.append(*(said(n) for n in range(3)))
        past = await logs.events.ref.call(Subscribe(0), timeout=CALL)
        disk = threading.Event()
        monkeypatch.setattr(EventStore, "sync", lambda _: disk.wait(CALL))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(logs.append, own("soon"))
            await trio.testing.wait_all_tasks_blocked(0.01)
            told = [record.id for _ in range(3) for record in await past.channel.receive()]
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert (told, past.channel.statistics().current_buffer_used) == ([1, 2, 3], 0)
            disk.set()
        assert [record.msg for record in past.channel.receive_nowait()] == ["soon"]


@pytest.mark.parametrize("victim", ["audit", "events"])
async def test_agent_events_reach_the_audit_log_once_whoever_dies(folder, victim):
    """I3: in order, none missing, none doubled, although one of the two is killed again and again."""
    async with logs_of(folder) as logs:
        number = 0
        for _ in range(6):
            for _ in range(5):
                number += 1
                await logs.append(said(number))
            await logs.kill(victim)
        found = await logs.until_audited(number)
        assert [entry.summary for entry in found] == [f"line {n}.0" for n in range(1, number + 1)]
        await logs.append(said(number))
        await logs.append(said(number + 1))
        assert len(await logs.until_audited(number + 1)) == number + 1
