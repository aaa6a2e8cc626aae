"""One TCP connection, with Hypercorn's protocols inside.

Owns: the reading, sending and closing of one accepted stream, and the five faults of Hypercorn 0.18's own
connection that matter to a daemon:
 1. It sends under a shield without a deadline, so one client that stops reading makes the server impossible
    to stop. Here a send has a deadline, and `abort` ends it at once; a WebSocket is left with a close code.
 2. It closes while the client still sends, so the kernel answers with a reset and the client may never see
    why (a 413, a close code). Here what still comes is thrown away for a moment first.
 3. Telling a request that its client is gone waits for room in the request's queue, which may never come.
    Here only a body's pieces wait.
 4. The wait that ends an idle connection is started by the request before, which may be cancelled in the
    act; the connection then stays for ever. Here it is a deadline of the reader.
 5. An unforeseen error in a protocol ends the whole server. Here it ends the connection, and is logged.
Must not: know a route or a header.
"""

from __future__ import annotations

import logging
import math
import os
import re
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, cast

import h11
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.events import Request
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol, H11WSConnection
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.protocol.ws_stream import Handshake
from hypercorn.trio.task_group import TaskGroup, _handle
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

from hub.errors import RULES, Code, HubError
from hub.web.callers import Caller
from hub.web.guard import CALLER, SECURITY_HEADERS, UNIX
from hub.web.problem import problem
from hub.web.websocket import Socket

MAX_RECV = 2**16
SEND_TIMEOUT = 10.0
"""Seconds a client may leave our bytes unread before its connection is dropped."""
LAST_WORD_LINGER = 30.0
"""Seconds in which such a client may still read what the kernel holds for it, and why it was left."""
LINGER = 2.0
"""Seconds for which a closing connection still takes, and throws away, what the client sends."""
STRANGERS_PATIENCE = 3.0
"""Seconds another user has for the head of a request."""
DRAIN_LINGER = 0.2
"""The same when the whole server is going down."""

_KEY = re.compile(rb"[A-Za-z0-9+/]{22}==")
"""16 bytes in base64, as a handshake has them."""

_log = logging.getLogger("hub.web")
_GONE = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)


class Connection:
    """Serves one stream until it ends. Never raises anything but `trio.Cancelled`."""

    def __init__(
        self,
        app: AppWrapper,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        caller: Caller,
    ) -> None:
        self._caller = caller
        self._app = app
        self._config = config
        self._context = context
        self._stream = stream
        self._send_lock = trio.Lock()
        self._unsent = b""
        """What the kernel did not take: it goes before everything else, also where its sender was cancelled."""
        self._sending: trio.CancelScope | None = None
        self._handling: trio.CancelScope | None = None
        self._lifetime = trio.CancelScope()
        self._idle = True
        self.served = False
        """Whether a request has been answered."""
        self._closing = False
        self._left = False
        """Whether the client was told the last word for one that takes nothing."""
        self._protocol: ProtocolWrapper
        self._http: _Http1
        self._tasks = _Tasks()

    @property
    def foreign(self) -> bool:
        """Whether it is another user's."""
        return self._caller is Caller.OTHER

    @property
    def waits(self) -> bool:
        """Whether nothing is carried out for it: no request has come, or not all of one."""
        return self._closing or self._idle or self._http.unfinished

    def leave(self) -> None:
        """End, without an answer: somebody else needs the place."""
        self._lifetime.cancel()

    def abort(self) -> None:
        """Ends a send that waits for the client; the connection then ends by itself."""
        self._closing = True
        if self._sending is not None:
            self._sending.cancel()

    def drain(self) -> None:
        """Ends the connection as soon as no request is under way; `terminated` must be set."""
        self._live(idle=self._idle)

    async def run(self) -> None:
        """Serves until the peer or the protocol closes, and the requests under way have been told."""
        try:
            async with self._tasks:
                self._protocol = self._wrap()
                self._live(idle=True)
                await self._read()
                await self._protocol.handle(Closed())
                # What is left are tasks of Hypercorn that wait for nothing worth having, such as the next
                # ping.
                self._tasks.cancel()
        except* _GONE:
            pass
        except* Exception:  # noqa: BLE001  # the edge of a connection, and it is logged
            _log.exception("a connection ended by an unforeseen error")
        finally:
            await trio.aclose_forcefully(self._stream)

    def _wrap(self) -> ProtocolWrapper:
        sock = self._stream.socket
        peer = own = UNIX
        if sock.family != socket.AF_UNIX:
            peer, own = tuple(sock.getpeername()[:2]), tuple(sock.getsockname()[:2])
        state = ConnectionState({CALLER: self._caller})
        shared = (self._app, self._config, self._context, self._tasks, state, False, peer, own, self._send)
        wrapper = ProtocolWrapper(*shared)
        wrapper.protocol = self._http = http = _Http1(*shared)
        http.write_now = self.write_now
        return wrapper

    async def _read(self) -> None:
        with self._lifetime:
            while data := bytes(await self._stream.receive_some(MAX_RECV)):
                if not self._closing:
                    with trio.CancelScope() as self._handling:
                        await self._protocol.handle(RawData(data))
                    self._handling = None

    async def _send(self, event: Event) -> None:
        if isinstance(event, RawData):
            await self._send_bytes(event.data)
        elif isinstance(event, Closed):
            await self._close()
        elif isinstance(event, Updated):
            self.served = self.served or event.idle
            self._live(idle=event.idle)

    def write_now(self, data: bytes) -> bool:
        """Sends all of it without a wait of the caller's, or, where others' bytes are on their way, nothing.

        What the kernel does not take at once is sent by a task of the connection, under the same deadline.
        """
        if self._send_lock.locked() or self._unsent:
            return False
        try:
            self._unsent = data[self._send_now(data) :]
        except OSError:
            self._stream.socket.close()  # the reader then finds it closed, and tells the request
        if self._unsent:
            self._tasks.spawn(self._send_bytes, b"")
        return True

    async def _send_bytes(self, data: bytes) -> None:
        if self._left:
            return
        try:
            if not (self._send_lock.locked() or self._unsent):  # else other bytes come first
                data = data[self._send_now(data) :]
            self._unsent += data
            if self._unsent:
                await self._send_rest()
        except (*_GONE, trio.TooSlowError):
            # The reader then finds the stream closed, and tells the requests.
            await trio.aclose_forcefully(self._stream)

    def _send_now(self, data: bytes | memoryview) -> int:
        """How much of it the kernel takes at once: nearly always all, and then nothing has to be waited for."""
        try:
            return os.write(self._stream.socket.fileno(), data)
        except BlockingIOError:
            return 0

    async def _send_rest(self) -> None:
        async with self._send_lock:
            data, self._unsent = self._unsent, b""
            rest = memoryview(data)
            # Shielded: half a frame would spoil the stream for the close code that must follow it.
            with trio.move_on_after(SEND_TIMEOUT, shield=True) as self._sending:
                while rest:
                    await trio.lowlevel.wait_writable(self._stream.socket)
                    rest = rest[self._send_now(rest) :]
            self._sending = None
            if rest and (self._closing or not await self._leave_word(bytes(rest))):
                raise trio.TooSlowError

    async def _leave_word(self, rest: bytes) -> bool:
        """To a client that takes nothing: the rest of the frame under way and why it is left, for when it reads again.

        False when it has no such way to be told, or the kernel no room for it.
        """
        word = self._http.stream.last_word() if isinstance(self._http.stream, Socket) else b""
        if not word:
            return False
        with suppress(
            OSError
        ):  # Trio lets the kernel take 16 KiB that a client has no room for; it may take far more
            self._stream.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, 2**30)
        if self._send_now(rest + word) < len(rest + word):
            return False
        self._left = self._closing = True
        self._lifetime.deadline = trio.current_time() + LAST_WORD_LINGER
        self._stream.socket.shutdown(socket.SHUT_WR)
        await self._protocol.handle(Closed())
        return True

    async def _close(self) -> None:
        """Says that no more comes, and lets the reader throw away what the client is still sending."""
        if self._closing:
            return
        self._closing = True
        linger = DRAIN_LINGER if self._context.terminated.is_set() else LINGER
        self._lifetime.deadline = trio.current_time() + linger
        try:
            await self._stream.send_eof()
        except (*_GONE, trio.BusyResourceError):
            await trio.aclose_forcefully(self._stream)
        if self._handling is not None:
            self._handling.cancel()

    def _live(self, *, idle: bool) -> None:
        """Between requests a connection lives for the keep-alive time; in a drain it does not."""
        self._idle = idle
        if not self._closing:
            keep_alive = STRANGERS_PATIENCE if self.foreign else self._config.keep_alive_timeout
            patience = 0 if self._context.terminated.is_set() else keep_alive
            self._lifetime.deadline = trio.current_time() + patience if idle else math.inf


class _Tasks(TaskGroup):
    """Hypercorn's task group, whose requests can always be told that their client is gone."""

    def cancel(self) -> None:
        """Ends every task."""
        self._open().cancel_scope.cancel()

    def _open(self) -> trio.Nursery:
        if self._nursery is None:
            raise RuntimeError("the task group is not open")
        return self._nursery

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Any,
        send: Callable[[Any], Awaitable[None]],
    ) -> Callable[[Any], Awaitable[None]]:
        """Starts a request; answers how to tell it something."""
        inbox = _Inbox(config.max_app_queue_size)
        self._open().start_soon(
            _handle,
            app,
            config,
            scope,
            cast("Any", inbox.get),
            send,
            trio.to_thread.run_sync,
            trio.from_thread.run,
        )
        return inbox.put


_NOT_HTTP = "This is not an HTTP/1.1 request with exactly one Host and one length."


class _Inbox:
    """What a request has not yet received: pieces of its body wait for room, everything else has it."""

    def __init__(self, limit: int) -> None:
        self._put, self._get = trio.open_memory_channel[Mapping[str, object]](math.inf)
        self._room = trio.Semaphore(limit)

    async def put(self, event: Mapping[str, object]) -> None:
        if event["type"] in _PIECES:
            await self._room.acquire()
        self._put.send_nowait(event)

    async def get(self) -> Mapping[str, object]:
        event = await self._get.receive()
        if event["type"] in _PIECES:
            self._room.release()
        return event


_PIECES = ("http.request", "websocket.receive")


class _Http1(H11Protocol):
    """HTTP/1.1, with WebSockets that have bounds, and problem documents for what is not HTTP."""

    write_now: Callable[[bytes], bool]

    @property
    def unfinished(self) -> bool:
        """Whether the body of a request is still to come."""
        return self.connection.their_state is h11.SEND_BODY

    async def _send_error_response(self, status_code: int) -> None:
        too_large = status_code == RULES[Code.HEADERS_TOO_LARGE].status
        reply = problem(
            HubError(Code.HEADERS_TOO_LARGE) if too_large else HubError(Code.MALFORMED, _NOT_HTTP)
        )
        headers = [*reply.raw_headers(), (b"connection", b"close"), *SECURITY_HEADERS]
        headers += self.config.response_headers("h11")
        await self._send_h11_event(h11.Response(headers=headers, status_code=reply.status))
        await self._send_h11_event(h11.Data(data=reply.body))
        await self._send_h11_event(h11.EndOfMessage())

    async def _create_stream(self, request: h11.Request) -> None:
        self.stream = stream = (Socket if _is_upgrade(request) else HTTPStream)(
            self.app, self.config, self.context, self.task_group, self.ssl, self.client, self.server,
            self.stream_send, STREAM_ID,
        )  # fmt: skip
        if isinstance(stream, Socket):
            stream.write_now, stream.accepted = self.write_now, trio.Event()
            self.connection = H11WSConnection(cast("h11.Connection", self.connection))
        await stream.handle(
            Request(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode(),
                method=request.method.decode().upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1
        await self.context.mark_request()


def _is_upgrade(request: h11.Request) -> bool:
    """Whether it is a whole handshake: what is half of one is a plain request, which is refused as others are."""
    handshake = Handshake(list(request.headers), request.http_version.decode())
    whole = request.method == b"GET" and handshake.upgrade is not None and handshake.is_valid()
    return whole and _KEY.fullmatch(handshake.key or b"") is not None
