"""Standard input and output, taken for the protocol.

Owns: whole lines in, whole messages out, and the end when the client closes its side; whatever anybody else in this process
prints or reads misses the client.
Must not: import anything that could print before the wires are claimed.
Tests: tests/hub/mcp/test_stdio.py, tests/hub/acp/test_connection.py

Both are read and written in threads: making them non-blocking would change them for every process that shares them,
such as the user's terminal.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, TypeVar

import attrs
import trio

from hub.domain.jsonvalue import JsonObject
from hub.wire.frames import MAX_FRAME, NotAMessageError, answered, decode, encode

T = TypeVar("T")

_CHUNK = 64 * 1024
LAST_WORDS = 0.7
"""Seconds for what may never be answered."""


@attrs.frozen
class Wires:
    """The client's side of standard input and output."""

    incoming: BinaryIO
    outgoing: int

    @classmethod
    def claim(cls) -> Wires:
        """Takes both for the protocol: from now on nobody reads stdin, and what is printed goes to stderr."""
        sys.stdout.flush()
        incoming, outgoing = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(os.fdopen(incoming, "rb", closefd=False), outgoing)

    def line(self, limit: int = MAX_FRAME) -> bytes:
        """The next line, which is waited for; of one that is too long, a part that is too long. b"" at the end."""
        line = self.incoming.readline(limit + 1)
        if len(line) > limit and not line.endswith(b"\n"):
            while (more := self.incoming.readline(_CHUNK)) and not more.endswith(b"\n"):
                pass
        return line

    def write(self, data: bytes) -> None:
        """Writes all of it, however long that takes.

        Raises:
            BrokenPipeError: The client has gone.
        """
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.outgoing, view) :]
            except BlockingIOError:  # whoever shares it has set it not to wait
                select.select([], [self.outgoing], [])


@attrs.define
class LineConnection:
    """One client.

    Args:
        wires: See `Wires.claim`.
        limit: Bytes of a message.
        patience: Seconds that answers under way may still take once the client has closed its side.
    """

    wires: Wires
    limit: int = MAX_FRAME
    patience: float = LAST_WORDS
    _all: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _writing: trio.Lock = attrs.field(factory=trio.Lock)
    _threads: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(2))
    """One to read and one to write, however many requests keep the others."""

    async def serve(
        self, take: Callable[[JsonObject, trio.Nursery], None], closed: Callable[[], None] = lambda: None
    ) -> None:
        """Serve until the client closes its side, and `patience` has passed or nothing is left to answer.

        Args:
            take: Takes a message, at once and in the order in which they came; what lasts goes into the nursery.
            closed: Called when the client has closed its side.
        """
        with self._all:
            async with trio.open_nursery() as answers:
                while line := await self._thread(partial(self.wires.line, self.limit)):
                    if line.isspace():
                        continue
                    try:
                        take(decode(line, self.limit), answers)
                    except NotAMessageError as error:
                        if (asked := answered(line)) is None:
                            await self.write(error.reply)
                        else:  # no other answer will come
                            take(error.reply | {"id": asked}, answers)
                self._all.deadline = trio.current_time() + self.patience
                closed()

    async def write(self, message: JsonObject) -> None:
        """Write one message whole. A client that has gone ends the connection."""
        async with self._writing:
            try:
                await self._thread(partial(self.wires.write, encode(message)))
            except BrokenPipeError:
                self._all.cancel()

    async def _thread(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
