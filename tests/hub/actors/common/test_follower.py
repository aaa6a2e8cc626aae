"""Following the log: each event once and in order, through every death of the log and every slowness of the reader."""

from __future__ import annotations

from contextlib import asynccontextmanager

import attrs
import pytest
import trio
import trio.testing

from hub.actors import events
from hub.actors.audit import AuditWriter
from hub.actors.common.follower import LogFollower
from hub.actors.events import EventLog
from hub.domain.event import Record, Tag
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.message_map import slot_of
from hub.messages.events import EventAppend, Subscribe
from supervisors import SupervisorSpec, actor_spec
from supervisors.testing import kill, running

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


@attrs.define
class Log:
    """A log whose one reader is given what the test says."""

    said: list = attrs.field(factory=list)
    news: trio.Event = attrs.field(factory=trio.Event)
    published = over = 0

    async def call(self, message, timeout):
        return events.Reader(self, 0, up_to_date=False) if isinstance(message, Subscribe) else 0

    def after(self, after, limit):
        return self.said[after : after + limit]

    def say(self, *numbers):
        self.said += [Record(number, "", "", "") for number in numbers]
        self.news.set()
        self.news = trio.Event()


@asynccontextmanager
async def paging():
    """The log, the pages of ids that were taken, and the follower."""
    log, pages = Log(), []

    async def place(head):
        return 0

    async def take(page):
        pages.append([record.id for record in page])

    follower = LogFollower(log, place)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(follower.follow, take)
        yield log.say, pages, follower
        nursery.cancel_scope.cancel()


async def test_what_comes_within_a_breath_is_read_together_and_the_first_at_once(mock_clock):
    """Three followers woke for each of seven hundred lists a second, nearly all of which tell them nothing."""
    async with paging() as (say, pages, _):
        say(1)
        await trio.testing.wait_all_tasks_blocked()
        say(2, 3)
        say(4)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1]]
        mock_clock.jump(1)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2, 3, 4]]


async def test_whoever_waits_for_an_event_ends_the_breath(mock_clock):
    """A handoff asks the quota twice what all that was told comes to: it waited twice for a breath to pass."""
    async with paging() as (say, pages, follower):
        say(1)
        await trio.testing.wait_all_tasks_blocked()
        say(2)
        await follower.reach(2)
        assert pages == [[1], [2]]
        say(3)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2]]  # what nobody waits for is left for the next breath
        mock_clock.jump(1)
        await trio.testing.wait_all_tasks_blocked()
        assert pages == [[1], [2], [3]]


async def test_the_past_is_read_in_whole_pages_without_a_breath(mock_clock):
    """Three lists at a breath were a second and a half for twenty thousand."""
    async with paging() as (say, pages, _):
        say(*range(1, 2501))
        await trio.testing.wait_all_tasks_blocked()
        assert [len(page) for page in pages] == [1000, 1000, 500]
