"""Raw sockets: requests byte for byte, answers taken apart, a WebSocket client that can misbehave."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import attrs
import h11
import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    RejectData,
    Request,
    TextMessage,
)
from wsproto.extensions import Extension

PATIENCE = 20.0


@attrs.frozen
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def raw(port: int, data: bytes, *, method: str = "GET", host: str = "127.0.0.1") -> Reply:
    """Sends bytes as they are and reads one answer."""
    with trio.fail_after(PATIENCE):
        async with await trio.open_tcp_stream(host, port) as stream:
            await stream.send_all(data)
            return await read_reply(stream, method)


async def read_reply(stream: trio.SocketStream, method: str = "GET") -> Reply:
    client = h11.Connection(h11.CLIENT)
    client.send(
        h11.Request(
            method=method, target="/", headers=[("host", "x"), ("connection", "upgrade"), ("upgrade", "x")]
        )
    )
    client.send(h11.EndOfMessage())
    status, headers, body = 0, {}, b""
    while True:
        event = client.next_event()
        if event is h11.NEED_DATA:
            client.receive_data(await stream.receive_some(65536))
        elif isinstance(event, h11.Response | h11.InformationalResponse):
            status = event.status_code
            headers = {name.decode(): value.decode() for name, value in event.headers}
            assert len(headers) == len(list(event.headers)), "a header was sent twice"
            if status == 101:
                return Reply(status, headers, b"")
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            return Reply(status, headers, body)


def request(
    method: str, target: str, headers: Iterable[tuple[str, str]] = (), body: bytes = b"", version: str = "1.1"
) -> bytes:
    """A request with exactly these headers, and a length when there is a body."""
    lines = [f"{method} {target} HTTP/{version}", *(f"{name}: {value}" for name, value in headers)]
    if body and not any(name.lower() in ("content-length", "transfer-encoding") for name, _ in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def ask(
    port: int, method: str, target: str, body: Any = None, *, headers: Iterable[tuple[str, str]] = ()
) -> Reply:
    """A proper request; a body that is not bytes is sent as JSON."""
    data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
    media = [("Content-Type", "application/json")] if method == "POST" else []
    return await raw(
        port, request(method, target, [("Host", f"127.0.0.1:{port}"), *media, *headers], data), method=method
    )


@attrs.define
class Socket:
    """A WebSocket client over a raw stream."""

    stream: trio.SocketStream
    ws: WSConnection
    queue: list[Event] = attrs.field(factory=list)
    pings: int = 0
    answers_pings: bool = True

    async def event(self) -> Event:
        """The next event; pings are answered, and `CloseConnection(1006)` is what a dropped connection gives."""
        with trio.fail_after(PATIENCE):
            while not self.queue:
                await self._feed()
        return self.queue.pop(0)

    async def pinged(self) -> None:
        """Waits for the next ping."""
        before = self.pings
        with trio.fail_after(PATIENCE):
            while self.pings == before:
                await self._feed()

    async def _feed(self) -> None:
        data = await self._receive()
        if not data:
            self.queue.append(CloseConnection(code=1006))
            return
        self.ws.receive_data(data)
        for event in self.ws.events():
            if isinstance(event, Ping):
                self.pings += 1
                if self.answers_pings:
                    await self.send(event.response())
            else:
                self.queue.append(event)

    async def _receive(self) -> bytes:
        try:
            return bytes(await self.stream.receive_some(65536))
        except trio.BrokenResourceError:
            return b""

    async def text(self) -> str:
        """The next whole message."""
        parts = ""
        while True:
            event = await self.event()
            assert isinstance(event, TextMessage), event
            parts += event.data
            if event.message_finished:
                return parts

    async def closed(self) -> CloseConnection:
        """The close, and whatever text comes before it thrown away."""
        return (await self.rest())[1]

    async def rest(self) -> tuple[list[str], CloseConnection]:
        """Every message until the close, and the close."""
        texts = [""]
        while not isinstance(event := await self.event(), CloseConnection):
            if isinstance(event, TextMessage):
                texts[-1] += event.data
                texts += [""] if event.message_finished else []
        return texts[:-1], event

    async def send(self, event: Event) -> None:
        await self.stream.send_all(self.ws.send(event))


@attrs.define
class Refused(Exception):
    status: int
    headers: dict[str, str]
    body: bytes


@asynccontextmanager
async def socket(
    port: int,
    target: str = "/ws",
    *,
    headers: Iterable[tuple[str, str]] = (),
    extensions: Iterable[Extension] = (),
    subprotocols: Iterable[str] = (),
    receive_buffer: int | None = None,
) -> AsyncIterator[Socket]:
    """An open WebSocket; raises `Refused` when the server answers with a response."""
    given = list(headers)
    host = next((value for name, value in given if name == "Host"), f"127.0.0.1:{port}")
    extra = [(name.encode(), value.encode()) for name, value in given if name != "Host"]
    stream = await _stream(port, receive_buffer)
    async with stream:
        client = Socket(stream, WSConnection(ConnectionType.CLIENT))
        await client.send(
            Request(
                host=host,
                target=target,
                extra_headers=extra,
                extensions=list(extensions),
                subprotocols=list(subprotocols),
            )
        )
        event = await client.event()
        if isinstance(event, RejectConnection):
            raise await _refusal(client, event)
        assert isinstance(event, AcceptConnection), event
        yield client


async def _refusal(client: Socket, event: RejectConnection) -> Refused:
    headers = {name.decode(): value.decode() for name, value in event.headers}
    body = b""
    while event.has_body:
        part = await client.event()
        assert isinstance(part, RejectData), part
        body += bytes(part.data)
        if part.body_finished:
            break
    return Refused(event.status_code, headers, body)


async def _stream(port: int, receive_buffer: int | None) -> trio.SocketStream:
    sock = trio.socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_RCVBUF, receive_buffer)
    await sock.connect(("127.0.0.1", port))
    return trio.SocketStream(sock)
