"""The event log live: `WS /ws` and `GET /api/events/stream` (SSE).

Owns: one reader and one writer a client, the coalescing of events into frames, and how a stream ends: 1012
on drain or when the log restarts, 1013 when the client is too slow, 1003 or 1007 for what it should not
send, 1011 for our fault.
Must not: keep events for a client without a bound.

Raw ASGI, not Quart: the close codes, the reader that notices a client that has gone, and a send without a
signal dispatch a message are what these routes are about. A write costs the same whether it holds one event
or fifty, so where there are more than a few all together make at most about 1 / `PACE` writes a second: after a
write a stream waits its share, and then sends everything that came meanwhile in one. The first event of a quiet
time is sent at once.
"""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated

import attrs
import trio

from hub.api.events import EventRecord
from hub.api.meta import EventId, Meta
from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.event import Record
from hub.errors import Code, HubError
from hub.messages.events import Subscribe, Subscription
from hub.web.codec import decode_query
from hub.web.context import Context
from hub.web.encoder import MAX_BATCH, Encoder
from hub.web.guard import Message, Receive, Scope, Send, respond
from hub.web.problem import Redact, as_hub_error, as_it_is, problem
from hub.web.route import Operation
from hub.web.websocket import FAULT, FRAMES, RESTART, TOO_SLOW, Close

MAX_STREAMS = 256
"""Open streams at once, both kinds together."""
HEARTBEAT = 15.0
FEW = 16
"""Streams that are served at once; each further one makes all wait, so that what comes meanwhile goes together."""
PACE = 0.00015
"""Seconds between two writes, for each stream beyond the first few."""
MAX_PACE = 0.02

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
            async with self._subscribed(query.since) as subscription:
                await send({"type": "websocket.accept", "subprotocol": _protocol(scope), "headers": []})
                client = _Client(subscription, receive, self._drain)
                close = await client.run(partial(self._messages, batch=bool(query.batch)), send)
                if close is not None:
                    await send({"type": "websocket.close", "code": close.code, "reason": close.reason})
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error), redact=self._redact))

    async def sse(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one stream of server-sent events."""
        try:
            since = _since(scope)
            async with self._subscribed(since) as subscription:
                await send({"type": "http.response.start", "status": 200, "headers": list(_SSE_HEADERS)})
                await send(_chunk(b"retry: 1000\n\n"))
                client = _Client(subscription, receive, self._drain, heartbeat=HEARTBEAT)
                close = await client.run(self._lines, send)
                if close is not None:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
        except Exception as error:  # noqa: BLE001  # the edge
            await respond(scope, send, problem(as_hub_error(error), redact=self._redact))

    @asynccontextmanager
    async def _subscribed(self, since: int | None) -> AsyncIterator[Subscription]:
        """A place among the open streams, and a subscription.

        An error is passed on while the stream has not begun; from then on the stream tells its own.
        """
        if self._open >= MAX_STREAMS:
            raise HubError(Code.UNAVAILABLE, f"{MAX_STREAMS} streams are open; one must close first")
        self._open += 1
        begun = False
        try:
            subscription = await self._context.call(Subscribe(since))
            begun = True
            yield subscription
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
        if self._open > FEW:
            await trio.sleep(min(PACE * (self._open - FEW), MAX_PACE))


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
        subscription: Subscription,
        receive: Receive,
        drain: trio.Event,
        *,
        heartbeat: float = math.inf,
    ) -> None:
        self._subscription = subscription
        self._receive = receive
        self._drain = drain
        self._heartbeat = heartbeat
        self._close: Close | None = None
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
                await writer(await self._next(), send)
        except trio.EndOfChannel:
            self._end(TOO_SLOW if self._subscription.lagged else RESTART)
        except Exception:  # noqa: BLE001  # told to the client as our fault, and logged
            _log.exception("a stream ended by an unforeseen error")
            self._end(FAULT)

    async def _next(self) -> list[Record]:
        """What is new, at most `MAX_BATCH`; nothing after a quiet heartbeat."""
        with trio.move_on_after(self._heartbeat):
            return await self._subscription.receive(MAX_BATCH)
        return []


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
