"""The tool server on standard input and output.

Owns: the two wires, what happens when the client closes one, and that nobody else writes to the other.
Must not: know a tool.

Both wires are read and written in threads: making them non-blocking would change them for every process that
shares them, such as the user's terminal.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, BinaryIO, Self

import trio

from hub.mcp.frames import MAX_FRAME, NotAMessageError, decode, encode
from hub.mcp.wires import Wires

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage
    from mcp.types import JSONRPCMessage

LAST_WORDS = 0.7
"""Seconds that answers under way may still take once the client has closed its side."""
_CHUNK = 64 * 1024


def run(wires: Wires, make: Callable[[], Server]) -> None:
    """Serves one client until it closes its side, and returns within a second of that.

    Args:
        wires: See `Wires.claim`.
        make: Makes the server.
    """
    trio.run(_serve, wires, make())


async def _serve(wires: Wires, server: Server) -> None:
    session = _Session()
    outgoing = _Outgoing(wires.outgoing, session)
    with session.scope:
        incoming = _Incoming(wires.incoming, outgoing, session)
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Session:
    """What the two directions know of each other: how many answers are under way."""

    def __init__(self) -> None:
        self.scope = trio.CancelScope()
        self._open = 0
        self._settled = trio.Event()

    def asked(self) -> None:
        self._open += 1

    def answered(self) -> None:
        self._open -= 1
        if self._open <= 0:
            self._settled.set()

    async def settled(self) -> None:
        """Waits for the answers under way, but not for long."""
        self.scope.deadline = trio.current_time() + LAST_WORDS
        if self._open > 0:
            self._settled = trio.Event()
            await self._settled.wait()


class _Stream:
    """What the SDK wants of a stream besides its messages."""

    async def aclose(self) -> None:
        """Nothing: the wires are the process's."""
        await trio.lowlevel.checkpoint()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Incoming(_Stream):
    """The client's messages. A line that is none is answered here."""

    def __init__(self, wire: BinaryIO, replies: _Outgoing, session: _Session) -> None:
        self._wire = wire
        self._replies = replies
        self._session = session

    def __aiter__(self) -> _Incoming:
        return self

    async def __anext__(self) -> SessionMessage:
        return await self.receive()

    async def receive(self) -> SessionMessage:
        while True:
            line = await trio.to_thread.run_sync(_read_line, self._wire, abandon_on_cancel=True)
            if not line:
                await self._session.settled()
                raise StopAsyncIteration
            if line.isspace():
                continue
            try:
                message = decode(line)
            except NotAMessageError as error:
                await self._replies.write(error.reply)
                continue
            if hasattr(message.message, "method") and hasattr(message.message, "id"):
                self._session.asked()
            return message


class _Outgoing(_Stream):
    """Our messages, one at a time."""

    def __init__(self, wire: int, session: _Session) -> None:
        self._wire = wire
        self._session = session
        self._lock = trio.Lock()

    async def send(self, item: SessionMessage, /) -> None:
        await self.write(item.message)
        if not hasattr(item.message, "method"):
            self._session.answered()

    async def write(self, message: JSONRPCMessage) -> None:
        """Write one message whole.

        A client that has gone ends the session.
        """
        data = encode(message)
        async with self._lock:
            try:
                await trio.to_thread.run_sync(_write_all, self._wire, data, abandon_on_cancel=True)
            except BrokenPipeError:
                self._session.scope.cancel()


def _read_line(wire: BinaryIO) -> bytes:
    """One line; of one that is too long, a part that is too long. b"" at the end."""
    line = wire.readline(MAX_FRAME + 1)
    if len(line) > MAX_FRAME and not line.endswith(b"\n"):
        while (more := wire.readline(_CHUNK)) and not more.endswith(b"\n"):
            pass
    return line


def _write_all(wire: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(wire, view) :]
