"""The feed of the WebSockets that are up to date: nothing is lost or told twice on the way into it or out of it."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from hub.domain.event import Record
from hub.messages.events import Subscribe
from hub.web.encoder import Encoder
from hub.web.feed import FEW, MAX_PACE, Feed, pace
from hub.web.websocket import Close
from supervisors import ActorDied
from tests.hub.web.fake import Fake, Server, record, running
from tests.hub.web.wire import socket
from tests.waiting import eventually


async def ids(client: Any, last: int) -> list[int]:
    """The ids of all a client is told, up to the record `last`."""
    seen: list[int] = []
    while not seen or seen[-1] < last:
        told = json.loads(await client.text())
        seen += [event["id"] for event in (told if isinstance(told, list) else [told])]
    return seen


async def joined(server: Server, *clients: Any) -> int:
    """They were sent records until the feed had taken each over; the id of the last."""
    await eventually(lambda: server.actors.watching == len(clients) + 1)
    number = len(server.actors.log)
    while server.actors.watching > 1:
        number += 1
        server.actors.publish(record(number))
        for client in clients:
            assert await ids(client, number) == [number]
        await trio.testing.wait_all_tasks_blocked()
    return number


async def test_clients_that_are_up_to_date_share_one_subscription(server: Server):
    async with socket(server.port) as one, socket(server.port, "/ws?batch=1") as other:
        last = await joined(server, one, other)
        server.actors.publish(record(last + 1), record(last + 2))
        for client in (one, other):
            assert await ids(client, last + 2) == [last + 1, last + 2]
    await eventually(lambda: server.actors.watching == 0)


@pytest.mark.parametrize("seed", range(5))
async def test_whenever_a_client_joins_it_is_told_each_event_once(server: Server, seed: int):
    """From its own subscription into the feed there is no gap and no double, whoever of the two is ahead."""
    chance = random.Random(seed)
    last = 300
    async with AsyncExitStack() as stack, trio.open_nursery() as nursery:
        seen: dict[int, list[int]] = {}

        async def follow(since: int) -> None:
            query = f"/ws?since={since}&batch={chance.randrange(2)}"
            client = await stack.enter_async_context(socket(server.port, query))
            seen[since] = await ids(client, last)

        number = 0
        while number < last:
            some = [record(number + 1 + more) for more in range(min(chance.randint(1, 9), last - number))]
            server.actors.publish(*some)
            number += len(some)
            if chance.random() < 0.2:
                nursery.start_soon(follow, chance.randrange(number))
            for _ in range(chance.randrange(12)):
                await trio.lowlevel.checkpoint()
    assert seen
    for since, told in seen.items():
        assert told == list(range(since + 1, last + 1))


async def test_what_a_socket_does_not_take_at_once_follows_in_order(server: Server):
    """Half a frame was written: its rest goes before all that comes later, also before an answer to a ping."""
    async with socket(server.port, receive_buffer=4096) as client:
        last = await joined(server, client)
        for number in range(last + 1, last + 40):
            server.actors.publish(record(number, "x" * 300_000))
            await trio.testing.wait_all_tasks_blocked()
        assert await ids(client, last + 39) == list(range(last + 1, last + 40))
        server.actors.publish(record(last + 40))
        assert await ids(client, last + 40) == [last + 40]


async def test_a_client_that_left_without_a_word_costs_the_others_nothing(server: Server):
    async with socket(server.port) as one:
        async with socket(server.port) as other:
            last = await joined(server, one, other)
            other.stream.socket.close()
        for number in range(last + 1, last + 9):
            server.actors.publish(record(number))
            await trio.testing.wait_all_tasks_blocked()
        assert await ids(one, last + 8) == list(range(last + 1, last + 9))


async def test_our_fault_is_told_as_1011_to_all(server: Server, caplog: pytest.LogCaptureFixture):
    async with socket(server.port) as client:
        poisoned = record(await joined(server, client) + 1)
        object.__setattr__(poisoned, "meta", {"what": object()})
        server.actors.publish(poisoned)
        assert (await client.closed()).code == 1011
    assert "the feed ended by an unforeseen error" in caplog.text


async def test_a_log_that_goes_down_closes_with_1012_and_a_server_that_lags_with_1013(server: Server):
    for lags, code in ((False, 1012), (True, 1013)):
        async with socket(server.port) as client:
            await joined(server, client)
            if lags:
                server.actors._subscribers[0][1].lagged.set()
            server.actors.end()
            assert (await client.closed()).code == code
        await eventually(lambda: server.actors.watching == 0)


async def test_without_a_feed_each_client_goes_on_by_itself():
    """The log did not answer the feed: whoever follows has what it needs."""

    class Deaf(Fake):
        async def call(self, message: Any, timeout: float = 0) -> Any:
            if message == Subscribe(None):
                raise ActorDied("events")
            return await super().call(message, timeout)

    async with running(Deaf()) as server, socket(server.port, "/ws?since=0") as client:
        for number in (1, 2):
            server.actors.publish(record(number))
            assert await ids(client, number) == [number]
        assert server.actors.watching == 1


@attrs.define(eq=False)
class Taker:
    """A member that takes everything."""

    batch: bool = False
    taken: list[tuple[float, list[int]]] = attrs.field(factory=list)

    def take(self, records: Sequence[Record], frames: bytes) -> None:
        assert frames.count(b'"tag"') == len(records)
        self.taken.append((trio.current_time(), [one.id for one in records]))

    def end(self, close: Close) -> None: ...


async def test_where_there_are_many_what_comes_meanwhile_goes_together(
    mock_clock: trio.testing.MockClock,
):
    """The first event of a quiet time is told at once, and each after a wait that grows with the clients."""
    actors, members = Fake(), [Taker() for _ in range(FEW + 10)]
    feed = Feed(actors.context(), Encoder())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed.run)
        for _ in members:
            feed.follow()
        await actors.subscribed.wait()
        actors.publish(record(1))
        await trio.testing.wait_all_tasks_blocked()
        assert all(feed.join(member, 1) for member in members)
        begun = trio.current_time()
        for number in range(2, 12):
            actors.publish(record(number))
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(pace(len(members)) / 4)
        for _ in range(3):
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(pace(len(members)))
        nursery.cancel_scope.cancel()
    assert [ids for _, ids in members[-1].taken] == [[2], [3, 4, 5, 6], [7, 8, 9, 10], [11]]
    times = [at - begun for at, _ in members[0].taken]
    assert times[0] == 0
    assert all(later - earlier >= 0.99 * pace(len(members)) for earlier, later in pairwise(times))


def test_few_are_served_at_once_and_many_wait_no_longer_than_the_bound():
    assert pace(FEW) == 0
    assert 0 < pace(FEW + 1) < pace(FEW + 2) < pace(10_000) == MAX_PACE
