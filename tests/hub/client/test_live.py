"""Following the log: every record once, in order, whatever happens to the connection."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from hub.client import live
from hub.client.live import LinkState, follow
from hub.client.quick import Api
from hub.errors import Code, HubError
from hub.messages.events import Subscribe
from hub.web import doors
from hub.web.doors import Bound
from hub.web.server import serve
from supervisors import ActorDied
from tests.hub.web.fake import Fake, record, running
from tests.ports import unanswered
from tests.refusals import refuses
from tests.waiting import eventually


async def ids(batches: live.Batches, count: int) -> list[int]:
    found: list[int] = []
    with trio.fail_after(20):
        while len(found) < count:
            found += [event["id"] for event in await anext(batches)]
    return found


async def test_it_replays_and_goes_on():
    actors = Fake()
    actors.publish(*map(record, range(1, 4)))
    async with running(actors) as server, follow(Api(server.port), 1) as batches:
        assert await ids(batches, 2) == [2, 3]
        actors.publish(record(4))
        assert await anext(batches) == [record(4).to_json()]


async def test_without_since_it_starts_live():
    actors = Fake()
    actors.publish(record(1))
    async with running(actors) as server, follow(Api(server.port)) as batches:
        await actors.subscribed.wait()
        actors.publish(record(2))
        assert await ids(batches, 1) == [2]


async def test_no_gap_and_no_double_over_restarts(monkeypatch: pytest.MonkeyPatch):
    """The daemon goes down and comes up on the same port; events happen before, between and after."""
    monkeypatch.setattr(live, "FIRST_DELAY", 0.001)
    monkeypatch.setattr(live, "MAX_DELAY", 0.01)
    actors, links = Fake(), list[LinkState]()
    found: list[int] = []
    first = doors.bind("127.0.0.1", 0)
    port = first.getsockname()[1]
    first.close()
    async with trio.open_nursery() as nursery:
        async with follow(Api(port), 0, notify=links.append) as batches:
            for turn in range(4):
                stop, done = trio.Event(), trio.Event()
                actors.subscribed = trio.Event()
                await nursery.start(_serving, actors, port, stop, done)
                actors.publish(record(3 * turn + 1))
                found += await ids(batches, 3 * turn + 1 - len(found))
                actors.publish(record(3 * turn + 2))
                found += await ids(batches, 1)
                stop.set()
                await done.wait()
                actors.publish(record(3 * turn + 3))  # while nobody serves
        assert found == list(range(1, 12))
    assert links[:2] == [LinkState.UP, LinkState.LOST]
    assert links.count(LinkState.UP) == 4


async def _serving(
    actors: Any, port: int, stop: trio.Event, done: trio.Event, *, task_status: trio.TaskStatus[Bound]
) -> None:
    with closing(doors.Doors(port=port)) as listening:
        await serve(actors.context(), stop, listening, task_status=task_status)
    done.set()


async def test_a_follower_that_was_too_slow_comes_back_and_misses_nothing(monkeypatch: pytest.MonkeyPatch):
    """1013 is not an error to its reader."""
    monkeypatch.setattr(live, "FIRST_DELAY", 0.001)
    actors = Fake(room=2)
    async with running(actors) as server, follow(Api(server.port), 0) as batches:
        await actors.subscribed.wait()
        for number in range(1, 200):
            actors.publish(record(number, "x" * 50_000))
            await trio.lowlevel.checkpoint()
        assert await ids(batches, 199) == list(range(1, 200))
        assert sum(isinstance(call, Subscribe) for call in actors.calls) > 1, (
            "it was thrown out at least once"
        )


async def test_nobody_there_is_told_where_it_is_received():
    with unanswered() as port:
        async with follow(Api(port), patience=0) as batches:
            with refuses(Code.DAEMON_NOT_RUNNING):
                await anext(batches)


async def test_a_daemon_that_dies_before_it_has_taken_the_connection_up_is_lost(
    monkeypatch: pytest.MonkeyPatch,
):
    """trio-websocket waits for ever there: a terminal screen stood still behind one kill in three."""
    monkeypatch.setattr(live, "HANDSHAKE", 0.05)

    async def dies(stream: trio.SocketStream) -> None:
        await stream.receive_some(1000)
        await trio.aclose_forcefully(stream)

    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, dies, 0, host="127.0.0.1"))
        async with follow(Api(listener.socket.getsockname()[1]), 0, patience=0) as batches:
            with pytest.raises(HubError) as error, trio.fail_after(20):
                await anext(batches)
        nursery.cancel_scope.cancel()
    assert error.value.code is Code.DAEMON_NOT_RUNNING


async def test_patience_is_bounded(monkeypatch: pytest.MonkeyPatch):
    """A daemon that does not come back ends the following, after a while."""
    monkeypatch.setattr(live, "FIRST_DELAY", 0.001)
    links: list[LinkState] = []
    async with (
        running() as server,
        follow(Api(server.port), 0, patience=0.02, notify=links.append) as batches,
    ):
        await server.actors.subscribed.wait()
        server.stop.set()
        with pytest.raises(HubError) as error, trio.fail_after(20):
            await anext(batches)
    assert error.value.code is Code.DAEMON_NOT_RUNNING
    assert links == [LinkState.UP, LinkState.LOST]


async def test_a_refusal_is_the_daemons_own_and_final():
    async with running() as server, follow(Api(server.port), 10**20) as batches:
        with refuses(Code.INVALID) as error:
            await anext(batches)
    assert error.value.extra["errors"][0]["path"] == "$.since"


async def test_a_log_that_is_restarting_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    """503 is "in a moment", not "no"."""
    monkeypatch.setattr(live, "FIRST_DELAY", 0.001)
    actors = Fake(error=ActorDied("events"))
    async with running(actors) as server, follow(Api(server.port), 0) as batches:
        await eventually(lambda: len(actors.calls) > 2)
        actors.error = None
        actors.publish(record(1))
        assert await ids(batches, 1) == [1]


async def test_what_the_body_raises_comes_out_bare():
    async with running() as server:
        with pytest.raises(KeyError):
            async with follow(Api(server.port), 0):
                raise KeyError("mine")


async def test_leaving_the_context_closes_the_connection():
    async with running() as server:
        async with follow(Api(server.port), 0):
            await server.actors.subscribed.wait()
        await eventually(lambda: server.actors.watching == 0)


@pytest.mark.parametrize("absent", [True, False])
async def test_another_projects_daemon_is_none(absent: bool, tmp_path: Path):  # of a table
    """`hub tui` said that the daemon here serves another project, and offered to start none, once its own had stopped."""
    async with running(project="/srv/another") as server:
        api = Api(server.port, project=tmp_path, named=False, absent=absent)
        async with follow(api, 0, patience=0) as batches:
            with refuses(Code.DAEMON_NOT_RUNNING):
                await anext(batches)
        async with follow(attrs.evolve(api, named=True, absent=False), 0, patience=0) as batches:
            with refuses(Code.OTHER_PROJECT):
                await anext(batches)
