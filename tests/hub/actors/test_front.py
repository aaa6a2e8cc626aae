"""The front end as an actor: up when it says so, up again on the same port, and down in order."""

from __future__ import annotations

import socket as stdlib_socket
from contextlib import asynccontextmanager, closing
from functools import partial

import attrs
import pytest
import trio

from hub.actors.front import FrontEnd
from hub.errors import Code
from hub.message_map import slot_of
from hub.web.doors import Doors, bind
from hub.web.server import serve
from supervisors import Restart, Slot, SupervisorSpec, actor_spec
from tests.hub.web.fake import Fake
from tests.hub.web.wire import ask, read_reply, request, socket
from tests.refusals import refuses
from tests.trees import Recorder, kill, restarted, running


@attrs.define
class House:
    """A real server in a tree, and where it was bound each time."""

    root: object
    slot: Slot
    bound: list
    seen: Recorder

    @property
    def port(self):
        return self.bound[-1].port


@asynccontextmanager
async def house(between=lambda port: None):
    bound, slot, seen, doors = [], slot_of("front"), Recorder(), Doors(port=0)

    def make():
        if bound:
            between(bound[-1].port)
        return FrontEnd(partial(serve, Fake().context(), doors=doors), bound.append)

    child = actor_spec("front", make, slot, restart=Restart.PERMANENT)
    with closing(doors):
        async with running(SupervisorSpec(intensity=10, children=[child]), on_event=seen) as root:
            yield House(root, slot, bound, seen)


async def test_it_is_up_when_the_tree_is():
    """The daemon says where it listens only when it does."""
    async with house() as made:
        assert len(made.bound) == 1
        assert (await ask(made.port, "GET", "/api/health")).status == 200


async def test_a_killed_front_end_serves_again_on_the_same_port():
    """Clients come back to the address they know."""
    async with house() as made:
        await restarted(made.slot.ref, lambda: kill(made.root, "front"))
        assert len({each.port for each in made.bound}) == 1
        assert len(made.bound) == 2
        assert (await ask(made.port, "GET", "/api/health")).status == 200


async def test_whoever_connects_while_it_is_down_waits_and_nobody_takes_its_port():
    """Another program took the port between two incarnations; the daemon ended after ten of them, agents and all."""
    early = []

    def between(port):
        with refuses(Code.PORT_IN_USE):
            bind("127.0.0.1", port)
        early.append(stdlib_socket.create_connection(("127.0.0.1", port)))

    async with house(between) as made:
        await restarted(made.slot.ref, lambda: kill(made.root, "front"))
        async with trio.SocketStream(trio.socket.from_stdlib_socket(early[0])) as stream:
            await stream.send_all(request("GET", "/api/health", [("Host", f"127.0.0.1:{made.port}")]))
            assert (await read_reply(stream)).status == 200


async def test_a_stop_tells_the_clients_to_come_back_and_closes_the_door():
    """1012: the daemon is going, and a client that knows where it was finds what it missed in the next one."""
    async with house() as made:
        async with socket(made.port, "/ws") as client:
            made.root.request_stop()
            closed = await client.event()
            assert closed.code == 1012
        port = made.port
    with pytest.raises(OSError, match="all attempts to connect"):
        await trio.open_tcp_stream("127.0.0.1", port)


async def test_nobody_sends_to_it():
    """A message for it is a mistake in the wiring, so it falls, loudly, and is made anew."""
    async with house() as made:
        await restarted(made.slot.ref, lambda: made.slot.ref.try_cast("hello"))
        assert any("is not for front" in str(event) for event in made.seen.events)
        assert (await ask(made.port, "GET", "/api/health")).status == 200


async def test_a_port_that_cannot_be_had_is_a_start_that_failed():
    """Not a front end that is up and unreachable."""
    async with house() as made:
        taken = made.port
        slot = slot_of("front", "second")
        second = actor_spec(
            "second", lambda: FrontEnd(partial(serve, Fake().context(), doors=Doors(port=taken)), print), slot
        )
        with pytest.raises(BaseExceptionGroup) as caught:
            async with running(SupervisorSpec(children=[second])):
                pass
        assert "port_in_use" in repr(caught.value) or "in use" in repr(caught.value)
