"""The tool server on standard input and output.

Owns: what happens when the client gives up a request.
Must not: know a tool, or a method of the protocol but the one that takes a request back.
Tests: tests/hub/mcp/test_stdio.py
"""

from __future__ import annotations

import attrs
import trio

from hub.domain.jsonvalue import JsonObject
from hub.mcp.protocol import Call, Protocol, is_modern
from hub.wire.wires import LineConnection, Wires

_PATIENCE = 10.0
"""Seconds for a daemon to answer a client that asks no more."""


def run(wires: Wires, call: Call) -> None:
    """Serves one client until it closes its side, as a pipe does at once; what it asked until then may still be answered.

    Args:
        wires: See `Wires.claim`.
        call: Calls a tool of the table.
    """
    client = _Client(LineConnection(wires, patience=_PATIENCE), Protocol(call))
    trio.run(client.connection.serve, client.take)


@attrs.define
class _Client:
    """One client: its messages are read one after the other, and answered side by side."""

    connection: LineConnection
    protocol: Protocol
    _under_way: dict[str | int, trio.CancelScope] = attrs.field(factory=dict)
    """By the requests' ids. Of two with one id the later one can be taken back."""

    def take(self, message: JsonObject, answers: trio.Nursery) -> None:
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
            await self.connection.write(reply)
