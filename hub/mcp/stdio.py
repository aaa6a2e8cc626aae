"""The tool server on standard input and output.

Owns: the two wires, what happens when the client closes one or gives up a request, and that nobody else writes.
Must not: know a tool, or a method of the protocol but the one that takes a request back.
Tests: tests/hub/mcp/test_stdio.py
"""

from __future__ import annotations

from functools import partial
from typing import Any

import attrs
import trio

from hub.mcp.protocol import Call, Protocol, is_modern
from hub.wire.frames import JsonObject, NotAMessageError, decode, encode
from hub.wire.wires import Wires

LAST_WORDS = 0.7
"""Seconds that answers under way may still take once the client has closed its side."""


def run(wires: Wires, call: Call) -> None:
    """Serves one client until it closes its side, and returns within a second of that.

    Args:
        wires: See `Wires.claim`.
        call: Calls a tool of the table.
    """
    trio.run(_Connection(wires, Protocol(call)).serve)


@attrs.define
class _Connection:
    """One client: its messages are read one after the other, and answered side by side."""

    wires: Wires
    protocol: Protocol
    _under_way: dict[str | int, trio.CancelScope] = attrs.field(factory=dict)
    """By the requests' ids. Of two with one id the later one can be taken back."""
    _all: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _writing: trio.Lock = attrs.field(factory=trio.Lock)
    _threads: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(2))
    """One to read and one to write, however many calls keep the others."""

    async def serve(self) -> None:
        with self._all:
            async with trio.open_nursery() as answers:
                while line := await self._thread(self.wires.line):
                    if not line.isspace():
                        await self._take(line, answers)
                self._all.deadline = trio.current_time() + LAST_WORDS

    async def _take(self, line: bytes, answers: trio.Nursery) -> None:
        try:
            message = decode(line)
        except NotAMessageError as error:
            await self._write(error.reply)
            return
        method = message.get("method")
        if method == "notifications/cancelled":
            self._take_back(message)
        elif method and "id" in message:
            answers.start_soon(self._answer, message)

    def _take_back(self, message: JsonObject) -> None:
        given = message.get("params", {}).get("requestId")
        scope = self._under_way.get(given) if isinstance(given, str | int) else None
        if scope is not None:
            scope.cancel()

    async def _answer(self, request: JsonObject) -> None:
        """A request that was taken back gets no answer."""
        modern = request["method"] != "initialize" and is_modern(request.get("params", {}))
        with trio.CancelScope() as scope:
            self._under_way[request["id"]] = scope
            try:
                reply = await self.protocol.answer(request, modern=modern)
            finally:
                if self._under_way.get(request["id"]) is scope:
                    del self._under_way[request["id"]]
        if not scope.cancelled_caught:
            await self._write(reply)

    async def _write(self, message: JsonObject) -> None:
        """Write one message whole. A client that has gone ends the session."""
        async with self._writing:
            try:
                await self._thread(partial(self.wires.write, encode(message)))
            except BrokenPipeError:
                self._all.cancel()

    async def _thread(self, work: Any) -> Any:
        return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
