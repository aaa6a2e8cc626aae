"""Following the log: each event once and in order, through every death of the log and every slowness of the reader."""

from __future__ import annotations

from contextlib import asynccontextmanager

import attrs
import pytest
import trio
import trio.testing

from hub.actors.audit import AuditWriter
from hub.actors.common.follower import LogFollower
from hub.actors.events import EventLog
from hub.domain.event import Record, Tag
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.message_map import slot_of
from hub.messages.events import EventAppend, Subscribe, Subscription
from supervisors import SupervisorSpec, actor_spec
from tests.trees import kill, running

CALL = 20.0


@attrs.define
class Reader:
    """Reads, and remembers what."""

    seen: list[str] = attrs.field(factory=list)
    cursor: int = 0
    places: list[int] = attrs.field(factory=list)
    broken: bool = False
    log: LogFollower | None = None

    async def place(self, head):
        self.places.append(head)
        return self.cursor

    async def take(self, records):
        if self.broken:
            raise HubError(Code.NO_SPACE)
        self.seen += [record.msg for record in records]
        self.cursor = records[-1].id


@asynccontextmanager
async def following(places):
    audit, log, reader = slot_of("audit"), slot_of("events"), Reader()
    spec = SupervisorSpec(
        children=[
            actor_spec("audit", lambda: AuditWriter(places, b"k" * 32), audit),
            actor_spec("events", lambda: EventLog(places, audit.ref, lambda: 1.0), log),
        ]
    )
    reader.log = LogFollower(log.ref, reader.place)
    async with running(spec) as tree:
        yield tree, log, reader


async def tell(log, *texts):
    await log.ref.wait_alive(CALL)
    events = [NewEvent(str(Tag.SYSTEM), text, {}, 1) for text in texts]
    return await log.ref.call(EventAppend(events), timeout=CALL)


async def test_what_was_there_and_what_comes_is_read_once_across_a_death_of_the_log(places):
    async with following(places) as (tree, log, reader):
        await tell(log, "a", "b")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.log.follow, reader.take)
            with trio.fail_after(CALL):
                await reader.log.reach(2)
                kill(tree, "events")
                (number,) = await tell(log, "c")
                await reader.log.reach(number)
                await reader.log.catch_up()
            assert reader.seen == ["a", "b", "c"]
            assert reader.places in ([2, 2], [2, 3])
            nursery.cancel_scope.cancel()


async def test_what_the_reader_cannot_do_is_its_owners_to_mend(places):
    """A database that cannot be written: nothing of what was lost counts as read."""
    async with following(places) as (_, log, reader):
        await tell(log, "a")
        reader.broken = True
        with pytest.raises(HubError), trio.fail_after(CALL):
            await reader.log.follow(reader.take)
        assert (reader.seen, reader.cursor) == ([], 0)


async def test_whoever_left_is_told_nothing_more(places):
    async with following(places) as (_, log, reader):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.log.follow, reader.take)
            with trio.fail_after(CALL):
                await tell(log, "a")
                await reader.log.reach(1)
            nursery.cancel_scope.cancel()
        reader.log.leave()
        await tell(log, "b")
        assert reader.seen == ["a"]


@attrs.define
class Log:
    """A log whose one reader is given what the test sends; it holds `head` events."""

    channel: trio.MemoryReceiveChannel
    head: int = 0

    async def call(self, message, timeout):
        return Subscription(1, self.channel, trio.Event()) if isinstance(message, Subscribe) else self.head


@asynccontextmanager
async def paging(size):
    """The channel's other end, the pages of ids that were taken, and the follower."""
    send, receive = trio.open_memory_channel(size)
    pages = []

    async def place(head):
        return 0

    async def take(page):
        pages.append([record.id for record in page])

    follower = LogFollower(Log(receive), place)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(follower.follow, take)
        yield send, pages, follower
        nursery.cancel_scope.cancel()


def listed(*numbers):
    return [Record(number, "", "", "") for number in numbers]


async def test_what_comes_within_a_breath_is_read_together_and_the_first_at_once(mock_clock):
    """Three followers woke for each of seven hundred lists a second, nearly all of which tell them nothing."""
    async with paging(10) as (send, pages, _):
        await send.send(listed(1))
        await trio.testing.wait_all_tasks_blocked()
        await send.send(listed(2, 3))
        await send.send(listed(4))
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1]]
        mock_clock.jump(1)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2, 3, 4]]


async def test_whoever_waits_for_an_event_ends_the_breath(mock_clock):
    """A handoff asks the quota twice what all that was told comes to: it waited twice for a breath to pass."""
    async with paging(10) as (send, pages, follower):
        await send.send(listed(1))
        await trio.testing.wait_all_tasks_blocked()
        await send.send(listed(2))
        await follower.reach(2)
        assert pages == [[1], [2]]
        await send.send(listed(3))
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2]]  # what nobody waits for is left for the next breath
        mock_clock.jump(1)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2], [3]]


async def test_the_past_is_read_in_whole_pages_without_a_breath(mock_clock):
    """The log reads a list on when one has been taken: three at a breath were a second and a half for twenty thousand."""
    async with paging(1) as (send, pages, _):
        for first in range(1, 2500, 100):
            await send.send(listed(*range(first, first + 100)))
        await trio.testing.wait_all_tasks_blocked()
        assert [len(page) for page in pages] == [1000, 1000, 500]


async def test_a_log_that_gives_nothing_is_not_asked_without_end(mock_clock):
    """A damaged page of its file: it ends the subscription of whoever asks for that."""
    asked = []

    class Damaged:
        async def call(self, message, timeout):
            await trio.lowlevel.checkpoint()
            if not isinstance(message, Subscribe):
                return 9
            asked.append(message.since)
            send, channel = trio.open_memory_channel(0)
            send.close()
            return Subscription(1, channel, trio.Event())

    async def place(head):
        return 0

    async def take(page):
        raise AssertionError(page)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(LogFollower(Damaged(), place).follow, take)
        await trio.testing.wait_all_tasks_blocked()
        assert asked == [0, 0]
        mock_clock.jump(5)
        await trio.testing.wait_all_tasks_blocked()
        assert asked == [0, 0, 0]
        nursery.cancel_scope.cancel()
