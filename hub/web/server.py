"""The listening socket and its connections: Hypercorn's protocols under a loop of our own.

Owns: the accept loop, also when no file can be opened, and the order of a stop: first no
new connection and a drain of the streams, then a grace for the requests under way, then every connection is ended
whatever its client does.
Must not: know a route, or an actor, or bind (`doors`).

Hypercorn's own `serve` is not used: it cannot be stopped while a client does not read (see `connection`), it
runs the application's lifespan tasks outside any supervision, and it offers no place between "stop
accepting" and "cancel everything" in which a WebSocket could be closed with a code that means "come back".
"""

from __future__ import annotations

import errno
import logging
import math
import resource
import socket
from collections.abc import Iterable
from typing import Any, cast

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from hub.io.log import PLAIN
from hub.owners import Owners
from hub.web.app import Tools, create_app
from hub.web.callers import Caller, caller
from hub.web.connection import Connection
from hub.web.context import Context
from hub.web.crowd import Crowd
from hub.web.doors import Bound, Doors
from hub.web.guard import MAX_HEADERS, Policy
from hub.web.problem import Redact, as_it_is
from hub.web.refusal import RefusedConnection
from hub.web.stream import Streams

GRACE = 3.0
"""Seconds for requests under way once a stop has begun."""
MAX_MESSAGE = 64 * 1024
PING_INTERVAL = 20.0
KEEP_ALIVE = 15.0
OUT_OF_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
AT_ONCE = 16
"""Connections accepted in one turn of the event loop: a millisecond."""
FILES_KEPT = 64
"""Files that no connection takes; a quarter of them where there are few."""
TURNED_AWAY = 8
"""Connections that are being told that there is no room; whoever comes next waits for its turn to be accepted."""
SAID_EVERY = 60.0
"""Seconds between two lines of the log about the same trouble."""
BREATH = 0.1
"""Seconds until the next look whether a connection can be accepted again."""

_log = logging.getLogger("hub.web.protocol")


async def serve(
    context: Context,
    stop: trio.Event,
    doors: Doors,
    *,
    origins: Iterable[str] = (),
    token: str = "",
    project: str = "",
    redact: Redact = as_it_is,
    tools: Tools | None = None,
    task_status: trio.TaskStatus[Bound] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serves the API until `stop` is set, then closes the doors, drains and returns within `GRACE` and a little.

    Reports where it is bound once connections are accepted. Cancelled, it drops every connection at once, and leaves
    the doors open for the next one.

    Args:
        context: What answers.
        stop: Set it to end in order.
        doors: Where to listen.
        origins: Web origins besides its own that may call.
        token: What every request must carry; "" = nothing, where the kernel tells whose a connection is.
        project: The root of the project that is served.
        redact: As in `create_app`.
        tools: As in `create_app`.
        task_status: Given the bound address.

    Raises:
        HubError: `port_in_use`, or `config_invalid` for an address that is not loopback.
    """
    bound, _ = doors.open()
    policy = Policy.for_port(bound.port, origins, token=token, project=project)
    streams = Streams(context, stop, redact)
    app = create_app(context, policy, streams, port=bound.port, project=project, redact=redact, tools=tools)
    with Owners() as owners:
        async with trio.open_nursery() as beside:
            beside.start_soon(streams.feed.run)
            server = _Server(ASGIWrapper(cast("Any", app)), doors, owners, known=not token)
            await server.run(stop, task_status)
            beside.cancel_scope.cancel()


class _Server:
    """The accept loop and what it accepted."""

    def __init__(self, app: ASGIWrapper, doors: Doors, owners: Owners, *, known: bool) -> None:
        """`known`: whether who it is decides alone, for there is no token to be shown."""
        self._known = known
        self._app = app
        self._doors = doors
        self._owners = owners
        self._config = _config()
        self._context = WorkerContext(None)
        self._crowd: Crowd[Connection | RefusedConnection] = Crowd()
        self._turning_away = trio.Semaphore(TURNED_AWAY)
        self._told: dict[str, float] = {}
        """When the log was last told of a trouble."""
        self._gone = trio.Event()

    async def run(self, stop: trio.Event, task_status: trio.TaskStatus[Bound]) -> None:
        bound, listening = self._doors.open()
        async with trio.open_nursery() as handlers:
            handlers.start_soon(self._abort_when_cancelled)
            async with trio.open_nursery() as accepting:
                for door in listening:
                    accepting.start_soon(self._accept, door, handlers)
                task_status.started(bound)
                await stop.wait()
                accepting.cancel_scope.cancel()
            self._doors.close()
            await self._context.terminated.set()
            for connection in self._crowd:
                connection.drain()
            with trio.move_on_after(GRACE):
                await self._all_gone()
            handlers.cancel_scope.cancel()

    async def _accept(self, door: socket.socket, handlers: trio.Nursery) -> None:
        """Several in a turn: with one a turn, whoever comes after a crowd waits for all that is done for the crowd."""
        while True:
            await trio.lowlevel.wait_readable(door)
            for _ in range(AT_ONCE):
                try:
                    sock, _ = door.accept()
                except BlockingIOError:
                    break
                except OSError as error:
                    if error.errno in OUT_OF_FILES:
                        self._trouble(
                            "no connection can be accepted: no file can be opened. Raise the limit: ulimit -n"
                        )
                        # Whoever has been served keeps its line to the daemon; the next one waits in the queue.
                        self._crowd.relieve(served=False)
                        await trio.sleep(BREATH)
                        break
                    if error.errno in (errno.EBADF, errno.EINVAL, errno.ENOTSOCK):
                        self._doors.close()  # the next server binds anew
                        raise
                    continue  # the connection's own error: it has ended before it was accepted
                stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
                if sock.fileno() >= _files_for_connections() and not self._crowd.relieve():
                    self._trouble(
                        "a connection was turned away: too few files are left for the daemon's own work. "
                        "Raise the limit: ulimit -n"
                    )
                    try:
                        await self._turning_away.acquire()
                    except trio.Cancelled:
                        sock.close()
                        raise
                    handlers.start_soon(self._turn_away, stream)
                    continue
                handlers.start_soon(self._handle, stream)

    async def _turn_away(self, stream: trio.SocketStream, *, foreign: bool = False) -> None:
        """The reason why, in a place that `_turning_away` has given."""
        try:
            await RefusedConnection(stream, foreign=foreign).run()
        finally:
            self._turning_away.release()

    async def _handle(self, stream: trio.SocketStream) -> None:
        who = caller(cast("Any", stream.socket), self._owners)
        connection: Connection | RefusedConnection
        if self._known and who is Caller.OTHER:
            connection = RefusedConnection(stream)
        else:
            connection = Connection(self._app, self._config, self._context, stream, who)
        if not self._crowd.admit(connection):
            self._trouble("a connection was turned away: too many are open. End clients that are not needed")
            try:
                self._turning_away.acquire_nowait()
            except trio.WouldBlock:
                await trio.aclose_forcefully(stream)
            else:
                await self._turn_away(stream, foreign=connection.foreign)
            return
        try:
            await connection.run()
        finally:
            self._crowd.left(connection)
            if not self._crowd:
                self._gone.set()

    def _trouble(self, what: str) -> None:
        """Says so now and then; whoever causes it can cause it a thousand times a second."""
        now = trio.current_time()
        if now - self._told.get(what, -math.inf) >= SAID_EVERY:
            self._told[what] = now
            _log.warning(what, extra={PLAIN: True})

    async def _all_gone(self) -> None:
        while self._crowd:
            self._gone = trio.Event()
            await self._gone.wait()

    async def _abort_when_cancelled(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            for connection in self._crowd:
                connection.abort()


def _files_for_connections() -> int:
    """The lowest number of a file that is none of theirs: the rest is for agents, databases and imports."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return most - min(FILES_KEPT, most // 4)


def _config() -> Config:
    config = Config()
    config.accesslog = None
    config.errorlog = _log
    config.include_server_header = False
    config.h11_max_incomplete_size = MAX_HEADERS
    config.h2_max_header_list_size = MAX_HEADERS
    config.keep_alive_timeout = KEEP_ALIVE
    config.websocket_max_message_size = MAX_MESSAGE
    config.websocket_ping_interval = PING_INTERVAL
    return config
