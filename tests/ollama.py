"""A model server on loopback that speaks Ollama's HTTP API, streamed NDJSON included, and the OpenAI-compatible chat.

Owns: the wire format, as Ollama's API documentation shows it; what it says is the test's.
Must not: import anything of hub.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import attrs
import h11
import trio

DIGEST = "sha256:970aa74c0a90ef7482477cf803618e776e173c007bf957f635f1015bfcfef0e6"
TAGS = {
    "models": [
        {
            "name": "llava:latest",
            "model": "llava:latest",
            "modified_at": "2025-10-03T23:34:03.409490317-07:00",
            "size": 4733363377,
            "digest": DIGEST.removeprefix("sha256:"),
            "details": {
                "parent_model": "", "format": "gguf", "family": "llama", "families": ["llama", "clip"],
                "parameter_size": "7B", "quantization_level": "Q4_0",
            },
        },
        {
            "name": "qwen3-coder:30b",
            "model": "qwen3-coder:30b",
            "modified_at": "2025-10-03T23:34:03.409490317-07:00",
            "size": 18556701140,
            "digest": "0" * 64,
            "details": {
                "parent_model": "", "format": "gguf", "family": "qwen3moe", "families": ["qwen3moe"],
                "parameter_size": "30.5B", "quantization_level": "Q4_K_M",
            },
        },
    ]
}  # fmt: skip


def pull_lines(total: int = 1000, step: int = 50) -> list[dict[str, Any]]:
    """What a pull that succeeds streams: a line for each piece."""
    pieces = [
        {"status": f"pulling {DIGEST[7:19]}", "digest": DIGEST, "total": total, "completed": done}
        for done in range(0, total + 1, step)
    ]
    return [
        {"status": "pulling manifest"}, *pieces, {"status": "verifying sha256 digest"},
        {"status": "writing manifest"}, {"status": "removing any unused layers"}, {"status": "success"},
    ]  # fmt: skip


@attrs.define
class Ollama:
    """The server: what it is to say, and what it was asked."""

    port: int = 0
    tags: Any = attrs.field(factory=lambda: TAGS)
    pull: Sequence[dict[str, Any]] = attrs.field(factory=pull_lines)
    hold_after: int = -1
    """Lines of a pull after which it waits for `go`; -1 = none."""
    cut_after: int = -1
    """Lines of a pull after which the connection breaks; -1 = none."""
    refuse: tuple[int, dict[str, Any]] | None = None
    """The status and the body that everything is answered with."""
    says: Any = "a login form"
    """The content of a chat's answer."""
    asked: list[tuple[str, str, dict[str, str], Any]] = attrs.field(factory=list)
    held: trio.Event = attrs.field(factory=trio.Event)
    go: trio.Event = attrs.field(factory=trio.Event)
    dropped: trio.Event = attrs.field(factory=trio.Event)
    """Set when a client went away during a pull."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, stream: trio.SocketStream) -> None:
        connection = h11.Connection(h11.SERVER)
        async with stream:
            try:
                await self._answer(connection, stream, *await _request(connection, stream))
            except (trio.BrokenResourceError, trio.ClosedResourceError, h11.ProtocolError):
                self.dropped.set()

    async def _answer(
        self, connection: h11.Connection, stream: trio.SocketStream, request: h11.Request, body: bytes
    ) -> None:
        method, target = request.method.decode(), request.target.decode()
        given = json.loads(body) if body else None
        self.asked.append((method, target, {k.decode(): v.decode() for k, v in request.headers}, given))
        if self.refuse is not None:
            await _whole(connection, stream, *self.refuse)
        elif (method, target) == ("GET", "/api/tags"):
            await _whole(connection, stream, 200, self.tags)
        elif (method, target) == ("POST", "/api/pull"):
            await self._pull(connection, stream)
        elif (method, target) == ("POST", "/v1/chat/completions"):
            choice = {
                "index": 0,
                "message": {"role": "assistant", "content": self.says},
                "finish_reason": "stop",
            }
            await _whole(connection, stream, 200, {"object": "chat.completion", "choices": [choice]})
        else:
            await _whole(connection, stream, 404, {"error": "not found"})

    async def _pull(self, connection: h11.Connection, stream: trio.SocketStream) -> None:
        headers = [("Content-Type", "application/x-ndjson"), ("Transfer-Encoding", "chunked")]
        await stream.send_all(connection.send(h11.Response(status_code=200, headers=headers)) or b"")
        for number, line in enumerate(self.pull):
            if number == self.cut_after:
                return
            if number == self.hold_after:
                self.held.set()
                await self._wait(stream)
            await stream.send_all(connection.send(h11.Data(data=json.dumps(line).encode() + b"\n")) or b"")
        await stream.send_all(connection.send(h11.EndOfMessage()) or b"")

    async def _wait(self, stream: trio.SocketStream) -> None:
        """Until the test lets it go on, or the client goes away."""

        async def gone() -> None:
            with suppress(trio.BrokenResourceError):  # it may leave with data unread
                if await stream.receive_some(1):
                    return
            self.dropped.set()
            self.go.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(gone)
            await self.go.wait()
            nursery.cancel_scope.cancel()


async def _request(connection: h11.Connection, stream: trio.SocketStream) -> tuple[h11.Request, bytes]:
    request, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(65536)))
        elif isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            return request, body
        else:
            raise trio.BrokenResourceError


async def _whole(connection: h11.Connection, stream: trio.SocketStream, status: int, body: Any) -> None:
    data = json.dumps(body).encode()
    headers = [("Content-Type", "application/json; charset=utf-8"), ("Content-Length", str(len(data)))]
    parts = [
        connection.send(h11.Response(status_code=status, headers=headers)),
        connection.send(h11.Data(data=data)),
        connection.send(h11.EndOfMessage()),
    ]
    await stream.send_all(b"".join(part or b"" for part in parts))


@asynccontextmanager
async def serving(ollama: Ollama | None = None) -> AsyncIterator[Ollama]:
    """A server for the length of the block."""
    found = Ollama() if ollama is None else ollama
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        found.port = listeners[0].socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, found.serve, listeners)
        yield found
        nursery.cancel_scope.cancel()
