"""Following the event log over a WebSocket, through restarts of the daemon.

Owns: the connection, and coming back with `since`, so that what a reader sees has no gap and no double.
Must not: keep events.

The stream under the WebSocket is opened here and not by trio-websocket, whose `open_websocket_url` leaves the
socket to the garbage collector when the server closes first.
"""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Any, cast

import attrs
import trio
from trio_websocket import (
    ConnectionClosed,
    ConnectionRejected,
    HandshakeError,
    WebSocketConnection,
    wrap_client_stream,
)

from hub.client.quick import Api, error_of, not_running
from hub.client.whose import insist_own
from hub.domain.event import RecordJson
from hub.errors import Code, HubError

FIRST_DELAY = 0.1
MAX_DELAY = 5.0
HANDSHAKE = 5.0
"""Seconds for the daemon to take the connection up; trio-websocket waits for ever where the other end is gone by then."""
MAX_MESSAGE = 64 * 1024 * 1024
"""256 records, each as long as a record can be."""


class LinkState(StrEnum):
    """How the connection stands."""

    UP = "up"
    LOST = "lost"


class Batches:
    """The log's records in batches, none of them empty, until the following has ended: then it raises `HubError`."""

    def __init__(self, channel: trio.MemoryReceiveChannel[list[RecordJson]]) -> None:
        self._channel = channel
        self.error: Exception | None = None
        """What the reader is told at the end."""

    def __aiter__(self) -> Batches:
        return self

    async def __anext__(self) -> list[RecordJson]:
        try:
            return await self._channel.receive()
        except trio.EndOfChannel:
            raise (self.error or trio.ClosedResourceError("no longer followed")) from None


@asynccontextmanager
async def follow(
    api: Api,
    since: int | None = None,
    *,
    patience: float = math.inf,
    notify: Callable[[LinkState], None] = lambda _: None,
    again: Callable[[], Api] | None = None,
) -> AsyncIterator[Batches]:
    """The event log in batches, for as long as the context is open.

    Every record comes once and in the order of the ids, also when the connection is lost and found again.
    Without `since` that holds from the first record on. The batches end only by an error:
    `daemon_not_running`, or the daemon's own refusal, raised where they are received.

    Args:
        api: The way to the daemon.
        since: Begin after this id; None = with the next event.
        patience: Seconds to look for a daemon that is not there; 0 = a lost connection ends it.
        notify: Told when the connection is up and when it is lost.
        again: Where to look for a daemon that was lost; None = where it was.
    """
    send, receive = trio.open_memory_channel[list[RecordJson]](0)
    batches = Batches(receive)
    follower = _Follower(api, since, patience, notify, send, again)

    async def pump() -> None:
        with send:
            try:
                await follower.run()
            except HubError as error:
                batches.error = error

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump)
            with receive:
                yield batches
            nursery.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if len(group.exceptions) == 1:  # what the body raised is what the caller sees
            raise group.exceptions[0] from None
        raise


class _Lost(Exception):
    """The connection ended in a way that is worth another try."""


@attrs.define
class _Follower:
    api: Api
    last: int | None
    patience: float
    notify: Callable[[LinkState], None]
    send: trio.MemorySendChannel[list[RecordJson]]
    again: Callable[[], Api] | None = None
    connected_at: float = attrs.field(factory=trio.current_time)
    delay: float = FIRST_DELAY
    lost: bool = False
    """Whether it was told that the daemon is not there."""

    async def run(self) -> None:
        while True:
            try:
                async with _connected(self.api, self.last) as socket:
                    await self._take(socket)
            except (OSError, _Lost) as error:
                self._lost(error)
            await trio.sleep(self.delay)
            self.delay = min(self.delay * 2, MAX_DELAY)
            if self.again is not None:
                self.api = self.again()

    async def _take(self, socket: WebSocketConnection) -> None:
        self.delay, self.lost = 0, False
        self.notify(LinkState.UP)
        while True:
            batch: list[RecordJson] = json.loads(await socket.get_message())
            if self.last is not None:
                batch = [record for record in batch if record["id"] > self.last]
            if batch:
                await self.send.send(batch)
                self.last = batch[-1]["id"]

    def _lost(self, error: Exception) -> None:
        if not self.delay:
            self.delay, self.connected_at = FIRST_DELAY, trio.current_time()
        if not self.lost:
            self.lost = True
            self.notify(LinkState.LOST)
        if trio.current_time() - self.connected_at >= self.patience:
            raise not_running(self.api.port) from error


@asynccontextmanager
async def _connected(api: Api, since: int | None) -> AsyncIterator[WebSocketConnection]:
    path = "/ws?batch=1" + ("" if since is None else f"&since={since}")
    stream = await _stream(api)
    try:
        async with stream, trio.open_nursery() as nursery:
            with trio.move_on_after(HANDSHAKE) as shaking:
                socket = await wrap_client_stream(
                    nursery,
                    stream,
                    f"127.0.0.1:{api.port}",
                    path,
                    extra_headers=[(name.encode(), value.encode()) for name, value in api.headers.items()],
                    max_message_size=MAX_MESSAGE,
                    receive_buffer_size=2**16,
                )
            if shaking.cancelled_caught:
                raise _Lost("the connection was not taken up")
            yield socket
            nursery.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise _cause(group, api) from group


async def _stream(api: Api) -> trio.SocketStream:
    """A connection of our own, to a daemon of this user's."""
    if api.absent:
        raise _Lost("no daemon of this project runs")
    if api.socket:
        stream = await trio.open_unix_socket(api.socket)
    else:
        stream = await trio.open_tcp_stream("127.0.0.1", api.port)
    try:
        insist_own(cast("Any", stream.socket))
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return stream


def _cause(group: ExceptionGroup[Exception], api: Api) -> Exception:
    """What ended a connection, out of what its nursery collected."""
    for leaf in group.exceptions:
        if isinstance(leaf, ConnectionRejected):
            return _refusal(leaf, api)
        if isinstance(leaf, _Lost):
            return leaf
        if isinstance(leaf, OSError | ConnectionClosed | HandshakeError | trio.BrokenResourceError):
            return _Lost(str(leaf))
    return group


def _refusal(rejected: ConnectionRejected, api: Api) -> Exception:
    try:
        error = error_of(json.loads(rejected.body or b""))
    except ValueError:
        error = None
    if error is None:
        return _Lost(f"status {rejected.status_code}")
    absent = error.code is Code.OTHER_PROJECT and not api.named  # as for every other question
    return _Lost(error.detail) if absent or error.code is Code.UNAVAILABLE else error
