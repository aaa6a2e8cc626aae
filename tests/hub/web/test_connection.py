"""What a connection owes to its stream, whoever is cancelled meanwhile."""

from __future__ import annotations

import socket

import trio
from hypercorn.config import Config
from hypercorn.events import RawData
from hypercorn.trio.worker_context import WorkerContext

from hub.web.callers import Caller
from hub.web.connection import Connection
from tests.waiting import PATIENCE

FRAME = b"a" * 400_000
CLOSE = b"the close frame"


async def test_a_sender_that_is_cancelled_leaves_no_half_frame():
    """The kernel took a part at once, and the rest was dropped before what had to follow it."""
    ours, theirs = socket.socketpair()
    stream, peer = (trio.SocketStream(trio.socket.from_stdlib_socket(sock)) for sock in (ours, theirs))
    connection = Connection(_never, Config(), WorkerContext(None), stream, Caller.OWN)
    heard = b""
    with trio.fail_after(PATIENCE):
        async with peer, stream, trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:
                scope.cancel()
                await connection._send(RawData(data=FRAME))
            nursery.start_soon(connection._send, RawData(data=CLOSE))
            while len(heard) < len(FRAME + CLOSE):
                heard += await peer.receive_some()
    assert heard == FRAME + CLOSE


async def _never(*_: object) -> None:
    raise AssertionError
