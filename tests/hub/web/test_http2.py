"""The second front door: cleartext HTTP/2, by prior knowledge and by upgrade."""

from __future__ import annotations

import base64

import attrs
import h2.config
import h2.connection
import h2.events
import h2.settings
import pytest
import trio

from tests.hub.web.fake import Server
from tests.hub.web.wire import PATIENCE, request


@attrs.define
class Answer:
    status: int | None = None
    headers: dict[str, str] = attrs.field(factory=dict)
    body: bytes = b""
    ended: bool = False
    """The server ended the connection or the stream without an answer."""


async def exchange(stream: trio.SocketStream, client: h2.connection.H2Connection, answer: Answer) -> Answer:
    with trio.fail_after(PATIENCE):
        while True:
            await stream.send_all(client.data_to_send())
            try:
                data = await stream.receive_some(65536)
            except trio.BrokenResourceError:
                data = b""
            if not data:
                answer.ended = True
                return answer
            for event in client.receive_data(bytes(data)):
                if isinstance(event, h2.events.ResponseReceived):
                    answer.headers = {name.decode(): value.decode() for name, value in event.headers}
                    answer.status = int(answer.headers[":status"])
                elif isinstance(event, h2.events.DataReceived):
                    answer.body += event.data
                elif isinstance(event, h2.events.StreamEnded):
                    return answer
                elif isinstance(event, h2.events.ConnectionTerminated | h2.events.StreamReset):
                    answer.ended = True
                    return answer


def careless() -> h2.connection.H2Connection:
    """A client that checks none of what it sends."""
    config = h2.config.H2Configuration(
        client_side=True,
        header_encoding=None,
        validate_outbound_headers=False,
        normalize_outbound_headers=False,
    )
    return h2.connection.H2Connection(config)


async def ask(
    server: Server, headers: list[tuple[bytes, bytes]], body: bytes | None = None, *, end: bool = True
) -> Answer:
    client = careless()
    client.initiate_connection()
    client.send_headers(1, headers, end_stream=end and body is None)
    if body is not None:
        client.send_data(1, body, end_stream=True)
    async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        return await exchange(stream, client, Answer())


def head(
    server: Server,
    *more: tuple[bytes, bytes],
    authority: bytes | None = b"",
    method: bytes = b"GET",
    path: bytes = b"/api/status",
) -> list[tuple[bytes, bytes]]:
    own = b"127.0.0.1:%d" % server.port
    named = [] if authority is None else [(b":authority", authority or own)]
    return [(b":method", method), (b":scheme", b"http"), (b":path", path), *named, *more]


async def test_prior_knowledge_is_served_and_guarded_headers_are_there(server: Server):
    answer = await ask(server, head(server))
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert "server" not in answer.headers


async def test_foreign_authority(server: Server):
    """G13, 1."""
    assert (await ask(server, head(server, authority=b"evil.example"))).status == 421


async def test_foreign_origin(server: Server):
    """G13, 2."""
    assert (await ask(server, head(server, (b"origin", b"http://evil")))).status == 403


@pytest.mark.parametrize("why", ["two that differ", "none"])
async def test_authority_and_host_in_conflict_and_no_authority(server: Server, why: str):
    """G13, 3 and 4: the connection is ended, nobody chooses between the two."""
    two = head(server, (b"host", b"evil.example"))
    answer = await ask(server, two if why == "two that differ" else head(server, authority=None))
    assert answer.ended
    assert answer.status is None
    assert server.actors.calls == []


@pytest.mark.parametrize(("host", "status"), [("", 200), ("evil.example", 421)])
async def test_upgrade_from_http1(server: Server, host: str, status: int):
    """G13, 5: the request that asks for the upgrade is guarded too."""
    client = h2.connection.H2Connection(h2.config.H2Configuration(client_side=True, header_encoding=None))
    settings = client.initiate_upgrade_connection() or base64.urlsafe_b64encode(b"")
    headers = [
        ("Host", host or f"127.0.0.1:{server.port}"), ("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"),
        ("HTTP2-Settings", settings.decode()),
    ]  # fmt: skip
    async with await trio.open_tcp_stream("127.0.0.1", server.port) as stream:
        await stream.send_all(request("GET", "/api/status", headers))
        got = b""
        while b"\r\n\r\n" not in got:
            got += await stream.receive_some(1)
        assert got.startswith(b"HTTP/1.1 101 ")
        assert (await exchange(stream, client, Answer())).status == status
    assert bool(server.actors.calls) == (status == 200)


async def test_post_rules_hold(server: Server):
    path = b"/api/session/pause"
    json_type = (b"content-type", b"application/json")
    assert (await ask(server, head(server, method=b"POST", path=path), b"{}")).status == 415
    assert (
        await ask(server, head(server, json_type, method=b"POST", path=path), b'{"pause":true}')
    ).status == 200
    big = head(server, json_type, (b"content-length", b"9" * 30), method=b"POST", path=path)
    answer = await ask(server, big, b"{}")
    assert answer.ended or answer.status == 413


async def test_a_websocket_over_http2_is_not_offered(server: Server):
    """Extended CONNECT would be a third door."""
    more = [(b"sec-websocket-version", b"13")]
    headers = [(b":method", b"CONNECT"), (b":protocol", b"websocket"), *head(server, *more, path=b"/ws")[1:]]
    answer = await ask(server, headers, end=False)
    assert answer.status == 405
    assert server.actors.calls == []


@pytest.mark.parametrize("path", [b"/\xff\xfe", b"\xff", b""])
async def test_a_path_of_no_ascii_ends_one_connection_only(server: Server, path: bytes):
    """Hypercorn raises on it; that must not be the end of the server."""
    answer = await ask(server, head(server, path=path))
    assert answer.status != 200
    assert (await ask(server, head(server))).status == 200
