"""The event log live: `WS /ws` and `GET /api/events/stream` (SSE).

Owns: one reader and one writer a client, the coalescing of events into frames, and how a stream ends: 1012
on drain or when the log restarts, 1013 when the client is too slow, 1003 or 1007 for what it should not
send, 1011 for our fault.
Must not: keep events for a client without a bound.

Raw ASGI, not Quart: the close codes, the reader that notices a client that has gone, and a send without a
signal dispatch a message are what these routes are about. A write costs the same whether it holds one event
or fifty, so where there are more than a few all together make at most about 1 / `PACE` writes a second: after a
write a stream waits its share, and then sends everything that came meanwhile in one. The first event of a quiet
time is sent at once. A WebSocket that is up to date is written to by the feed, and its own writer rests until
the client does not take something at once.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Annotated

import attrs
import trio

from hub.api.events import EventRecord
from hub.api.meta import EventId, Meta
from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.event import Record
from hub.errors import Code, HubError
from hub.messages.events import Subscription
from hub.web.codec import decode_query
from hub.web.context import Context
from hub.web.encoder import MAX_BATCH, Encoder
from hub.web.feed import Feed, pace
from hub.web.guard import Message, Receive, Scope, Send, respond
from hub.web.problem import Redact, as_hub_error, as_it_is, problem
from hub.web.route import Operation
from hub.web.websocket import FAULT, FRAMES, RESTART, TOO_SLOW, WRITE_NOW, Close

MAX_STREAMS = 256
"""Open streams at once, both kinds together."""
MAX_BEHIND = 16_384
"""Events a client that is not up to date any more may be behind before it counts as too slow."""
HEARTBEAT = 15.0

_log = logging.getLogger("hub.web")


@attrs.frozen(kw_only=True)
class SocketQuery:
    """How to follow the log over a WebSocket."""

    since: EventId | None = None
    batch: Annotated[int, Meta(ge=0, le=1)] = 0


@attrs.frozen(kw_only=True)
class StreamQuery:
    """How to follow the log over server-sent events."""

    since: EventId | None = None


SOCKET = Operation(
    method="GET",
    path="/ws",
    summary="Follow the event log: a WebSocket; a message is one record, with batch=1 an array of up to 256.",
    given=SocketQuery,
    answer=EventRecord,
    status=101,
)
SSE = Operation(
    method="GET",
    path="/api/events/stream",
    summary="Follow the event log: server-sent events; Last-Event-ID wins over since.",
    given=StreamQuery,
    answer=EventRecord,
    media="text/event-stream",
)


DRAIN = Close(1012, "the daemon is restarting; come back with since")
SUBPROTOCOL = "hub"
"""For a client that must offer one to pass its token (see `guard`)."""
NOT_TEXT = Close(1003, "text only")
NOT_JSON = Close(1007, "JSON only")


class Streams:
    """Serves every stream of one server."""

    def __init__(self, context: Context, drain: trio.Event, redact: Redact = as_it_is) -> None:
        self._context = context
        self._drain = drain
        self._redact = redact
        self._encoder = Encoder()
        self._open = 0
        self.feed = Feed(context, self._encoder)
        """To be run beside the server; without it every stream follows the log by itself."""

    def plain(self, scope: Scope) -> HubError | None:
        """Why a plain request to a stream's path is refused; None when it is none of ours."""
        if scope["path"] not in (SOCKET.path, SSE.path):
            return None
        if scope["method"] != "GET":
            return HubError(Code.METHOD_NOT_ALLOWED)
        if scope["path"] == SSE.path:
            return None
        return HubError(Code.MALFORMED, "This path takes a WebSocket handshake, version 13.")

    async def websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one WebSocket from its handshake to its close."""
        await receive()  # websocket.connect
        try:
            if scope["path"] != SOCKET.path:
                raise HubError(Code.NOT_FOUND)  # noqa: TRY301
            query = decode_query(scope["query_string"], SocketQuery, {})
            async with self._subscribed(query.since) as own:
                await send({"type": "websocket.accept", "subprotocol": _protocol(scope), "headers": []})
                batch = bool(query.batch)
                client = _Live(own, receive, self._drain, self.feed, scope, batch=batch)
                close = await client.run(partial(self._messages, batch=batch), send)
                if close is not None:
                    await send({"type": "websocket.close", "code": close.code, "reason": close.reason})
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error), redact=self._redact))

    async def sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one stream of server-sent events."""
        try:
            since = _since(scope)
            async with self._subscribed(since) as own:
                await send({"type": "http.response.start", "status": 200, "headers": list(_SSE_HEADERS)})
                await send(_chunk(b"retry: 1000\n\n"))
                client = _Client(own, receive, self._drain, heartbeat=HEARTBEAT)
                close = await client.run(self._lines, send)
                if close is not None:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error), redact=self._redact))

    @asynccontextmanager
    async def _subscribed(self, since: int | None) -> AsyncIterator[_Own]:
        """A place among the open streams, and a subscription.

        An error is passed on while the stream has not begun; from then on the stream tells its own.
        """
        if self._open >= MAX_STREAMS:
            raise HubError(Code.UNAVAILABLE, f"{MAX_STREAMS} streams are open; one must close first")
        self._open += 1
        begun = False
        try:
            async with AsyncExitStack() as stack:
                subscription = await stack.enter_async_context(self._context.subscribe(since))
                begun = True
                yield _Own(subscription, stack.aclose)
        except Exception:
            if not begun:
                raise
            _log.exception("a stream ended by an unforeseen error")
        finally:
            self._open -= 1

    async def _messages(self, records: Sequence[Record], send: Send, *, batch: bool) -> None:
        await send({"type": FRAMES, "frames": self._encoder.frames(records, batch=batch)})
        await self._pace()

    async def _lines(self, records: Sequence[Record], send: Send) -> None:
        if not records:
            await send(_chunk(b": still here\n\n"))
            return
        lines = [b"id: %d\ndata: %s\n\n" % (record.id, self._encoder.json(record)) for record in records]
        await send(_chunk(b"".join(lines)))
        await self._pace()

    async def _pace(self) -> None:
        if wait := pace(self._open):
            await trio.sleep(wait)


@attrs.frozen
class _Own:
    """A stream's own subscription, which may be left before the stream ends."""

    subscription: Subscription
    leave: Callable[[], Awaitable[None]]


_SSE_HEADERS = ((b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no"))
Writer = Callable[[Sequence[Record], Send], Awaitable[None]]


def _chunk(data: bytes) -> Message:
    return {"type": "http.response.body", "body": data, "more_body": True}


def _since(scope: Scope) -> int | None:
    """`Last-Event-ID` when the browser came back by itself, else `since`."""
    query = decode_query(scope["query_string"], StreamQuery, {})
    last = [value for name, value in scope["headers"] if name == b"last-event-id"]
    if not last or last == [b""]:
        return query.since
    return decode_query(b"since=" + b"&since=".join(last), StreamQuery, {}).since


class _Client:
    """One client: its reader, its writer and the wait for a drain, whichever ends first."""

    def __init__(
        self,
        own: _Own,
        receive: Receive,
        drain: trio.Event,
        *,
        heartbeat: float | None = None,
    ) -> None:
        self._own = own
        self._receive = receive
        self._drain = drain
        self._heartbeat = heartbeat
        self._close: Close | None = None
        self._queue: list[Record] = []
        self._scope = trio.CancelScope()

    async def run(self, writer: Writer, send: Send) -> Close | None:
        """Follows the log until something ends it: how to close, or None when the client has gone."""
        with self._scope:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._read)
                nursery.start_soon(self._wait_for_drain)
                nursery.start_soon(self._write, writer, send)
        return self._close

    def _end(self, close: Close | None) -> None:
        self._close = close
        self._scope.cancel()

    async def _wait_for_drain(self) -> None:
        await self._drain.wait()
        self._end(DRAIN)

    async def _read(self) -> None:
        """Without a reader a client that has gone is never noticed."""
        while True:
            message = await self._receive()
            if message["type"].endswith(".disconnect"):
                self._end(None)
                return
            refused = _refused(message) if message["type"] == "websocket.receive" else None
            if refused is not None:
                self._end(refused)
                return

    async def _write(self, writer: Writer, send: Send) -> None:
        try:
            while True:
                records = await self._next()
                await writer(records, send)
                await self._written(records)
        except trio.EndOfChannel:
            self._end(self._last_word())
        except Exception:  # noqa: BLE001  # told to the client as our fault, and logged
            _log.exception("a stream ended by an unforeseen error")
            self._end(FAULT)

    async def _written(self, records: Sequence[Record]) -> None:
        """The client was sent these."""

    def _last_word(self) -> Close:
        return TOO_SLOW if self._own.subscription.lagged.is_set() else RESTART

    async def _next(self) -> list[Record]:
        """What is queued, from one to `MAX_BATCH`; nothing after a quiet heartbeat."""
        self._take_queued()
        if self._queue:
            await trio.lowlevel.checkpoint()  # a client that lags must not keep the others waiting
        else:
            found = await self._wait()
            self._queue += found
            self._take_queued()
        taken, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
        return taken

    async def _wait(self) -> Sequence[Record]:
        if self._heartbeat is None:
            return await self._own.subscription.channel.receive()
        with trio.move_on_after(self._heartbeat):
            return await self._own.subscription.channel.receive()
        return ()

    def _take_queued(self) -> None:
        with suppress(trio.WouldBlock, trio.EndOfChannel):
            while len(self._queue) < MAX_BATCH:
                self._queue += self._own.subscription.channel.receive_nowait()


class _Live(_Client):
    """A WebSocket, which the feed takes over once it is up to date."""

    def __init__(
        self, own: _Own, receive: Receive, drain: trio.Event, feed: Feed, scope: Scope, *, batch: bool
    ) -> None:
        super().__init__(own, receive, drain)
        self.batch = batch
        self._feed = feed
        self._write_now: Callable[[bytes], bool] = scope["extensions"].get(WRITE_NOW, lambda _: False)
        self._joined = False
        self._resting = False
        """All was sent, and nothing is on its way through this client's own writer."""
        self._news = trio.Event()
        self._over: Close | None = None

    async def run(self, writer: Writer, send: Send) -> Close | None:
        """The same; the feed writes too."""
        self._feed.follow()
        try:
            return await super().run(writer, send)
        finally:
            self._feed.leave(self)

    def take(self, records: Sequence[Record], frames: bytes) -> None:
        """From the feed: to the socket at once, or into the queue of the writer, which can wait."""
        if self._over is not None or (self._resting and self._write_now(frames)):
            return
        self._queue += records
        if len(self._queue) > MAX_BEHIND:
            self._over = TOO_SLOW
        self._wake()

    def end(self, close: Close) -> None:
        """From the feed: what is queued is still sent, then the stream closes."""
        self._over = self._over or close
        self._wake()

    def _wake(self) -> None:
        self._resting = False
        self._news.set()

    async def _written(self, records: Sequence[Record]) -> None:
        if not (self._joined or self._queue):
            self._joined = self._feed.join(self, records[-1].id)
            if self._joined:
                await self._own.leave()

    def _last_word(self) -> Close:
        return self._over or super()._last_word()

    async def _wait(self) -> Sequence[Record]:
        if not self._joined:
            return await super()._wait()
        while not self._queue:
            if self._over is not None:
                raise trio.EndOfChannel
            self._resting, self._news = True, trio.Event()
            await self._news.wait()
        return ()

    def _take_queued(self) -> None:
        if not self._joined:
            super()._take_queued()


def _refused(message: Message) -> Close | None:
    """What a client sends has no meaning, but must be JSON text."""
    text = message.get("text")
    if text is None:
        return NOT_TEXT
    try:
        parse_strict(text.encode())
    except (StrictJsonError, UnicodeEncodeError):
        return NOT_JSON
    return None


def _protocol(scope: Scope) -> str | None:
    """What is agreed on with a client that offers subprotocols: a browser closes when none of its own is."""
    return SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
