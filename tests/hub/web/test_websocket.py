"""What a client can make the server hold, and the code it is closed with."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, TextMessage
from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameProtocol, Opcode, RsvBits

from hub.web.server import MAX_MESSAGE
from hub.web.websocket import BoundedDeflate, text_frame
from tests.hub.web.fake import Server, record
from tests.hub.web.wire import PATIENCE, Socket, ask, raw, request, socket
from tests.memory import resident

MIB = 1 << 20


def frame(payload: bytes, opcode: int = 1, *, fin: bool = True, rsv1: bool = False) -> bytes:
    """A masked frame with a mask of zeros, which is none."""
    head = bytes([fin << 7 | rsv1 << 6 | opcode])
    size = len(payload)
    if size < 126:
        head += bytes([0x80 | size])
    elif size < 1 << 16:
        head += bytes([0x80 | 126]) + size.to_bytes(2, "big")
    else:
        head += bytes([0x80 | 127]) + size.to_bytes(8, "big")
    return head + bytes(4) + payload


def reset_peak() -> int:
    """Bytes resident now, from which the peak is counted."""
    Path("/proc/self/clear_refs").write_text("5")
    return resident()


async def send_until_closed(client: Socket, piece: bytes, count: int) -> CloseConnection:
    """Sends on, whatever the server says; answers the close it was sent."""
    client.answers_pings = False
    closed: list[CloseConnection] = []

    async def read() -> None:
        closed.append(await client.closed())

    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            try:
                for _ in range(count):
                    await client.stream.send_all(piece)
            except trio.BrokenResourceError:
                pass  # the server has hung up in the end
    return closed[0]


async def test_49_a_deflate_bomb_is_1009_and_takes_no_memory(server: Server):
    """Case 49: half a megabyte that inflates to 512."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = b"".join(deflate.compress(b"a" * MIB) for _ in range(512)) + deflate.flush(zlib.Z_SYNC_FLUSH)
    async with socket(server.port, extensions=[PerMessageDeflate()]) as client:
        before = reset_peak()
        close = await send_until_closed(client, frame(bomb[:-4], rsv1=True), 1)
        assert close.code == 1009
        assert resident(peak=True) - before < 30 * MIB


async def test_50_fragments_without_end_are_1009_and_take_no_memory(server: Server):
    """Case 50: 64 MiB in pieces that each are small."""
    async with socket(server.port) as client:
        before = reset_peak()
        await client.stream.send_all(frame(b"a", fin=False))
        close = await send_until_closed(client, frame(b"a" * 65_536, opcode=0, fin=False), 1024)
        assert close.code == 1009
        assert resident(peak=True) - before < 30 * MIB


async def test_50b_one_frame_of_64_mib(server: Server):
    """The same in one frame: no need to wait for its end."""
    async with socket(server.port) as client:
        before = reset_peak()
        header = frame(b"")[:1] + bytes([0x80 | 127]) + (64 * MIB).to_bytes(8, "big") + bytes(4)
        await client.stream.send_all(header)
        close = await send_until_closed(client, b"a" * 65_536, 1024)
        assert close.code == 1009
        assert resident(peak=True) - before < 30 * MIB


@pytest.mark.parametrize("size", [MAX_MESSAGE - 2, MAX_MESSAGE + 1])
async def test_the_limit_is_where_it_is_said_to_be(server: Server, size: int):
    async with socket(server.port) as client:
        await server.actors.subscribed.wait()
        await client.stream.send_all(frame(b'"' + b"a" * size + b'"'))
        if size > MAX_MESSAGE:
            assert (await client.closed()).code == 1009
        else:
            server.actors.publish(record(1))
            assert await client.text()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        *((frame(payload), 1007) for payload in (b"\xff\xfe", b'"\xed\xa0\x80"', b"\xc3")),
        pytest.param(frame(b"x", rsv1=True), 1002, id="a reserved bit that was not agreed on"),
        pytest.param(frame(b"x", opcode=3), 1002, id="an opcode that is none"),
        pytest.param(frame(b"x" * 126, opcode=9), 1002, id="a ping that is too long"),
        pytest.param(b"\x81\x01x", 1002, id="no mask"),
    ],
)
async def test_51_bad_utf8_is_1007_and_a_broken_protocol_1002(server: Server, data: bytes, code: int):
    """Case 51: Hypercorn drops the connection without a code."""
    async with socket(server.port) as client:
        await client.stream.send_all(data)
        assert (await client.closed()).code == code


async def test_a_proper_close_is_answered(server: Server):
    async with socket(server.port) as client:
        client.answers_pings = False
        await client.send(CloseConnection(code=1000))
        assert (await client.closed()).code == 1000
        assert await client.stream.receive_some(1) == b""


async def test_a_client_that_deflates_is_understood_and_sent_plain(server: Server):
    """Events are encoded once for all; nothing is deflated for one."""
    async with socket(server.port, extensions=[PerMessageDeflate()]) as client:
        await server.actors.subscribed.wait()
        for number in range(1, 4):
            await client.send(
                TextMessage(data='["fine"]' * number if number == 1 else '["fine", "' + "a" * 900 + '"]')
            )
            server.actors.publish(record(number))
            assert await client.text()


@pytest.mark.parametrize(
    "offer",
    [
        "permessage-deflate; client_max_window_bits=x",
        "permessage-deflate; server_max_window_bits=99",
        ";;,",
        "x-unknown",
    ],
)
async def test_an_offer_nobody_understands_is_declined(server: Server, offer: str):
    headers = [
        ("Host", f"127.0.0.1:{server.port}"), ("Upgrade", "websocket"), ("Connection", "keep-alive, Upgrade"),
        ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("Sec-WebSocket-Extensions", offer),
    ]  # fmt: skip
    reply = await raw(server.port, request("GET", "/ws", headers))
    assert (reply.status, reply.headers["sec-websocket-accept"]) == (101, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    assert "sec-websocket-extensions" not in reply.headers


HANDSHAKE = {
    "Upgrade": "websocket", "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("Sec-WebSocket-Version", ""),
        ("Sec-WebSocket-Version", "12"),
        ("Sec-WebSocket-Key", ""),
        ("Sec-WebSocket-Key", "x"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ="),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZSE="),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j*Q=="),
        ("Upgrade", ""),
    ],
)
async def test_half_a_handshake_is_malformed(server: Server, name: str, given: str):
    """As all that is refused it is told why; RFC 6455, 4.2.1: a key is 16 bytes; 4.4: and which version is spoken."""
    headers = {"Host": f"127.0.0.1:{server.port}", **HANDSHAKE, name: given}
    if not given:
        del headers[name]
    reply = await raw(server.port, request("GET", "/ws", headers.items()))
    assert (reply.status, reply.json["code"]) == (400, "malformed")
    assert reply.headers["sec-websocket-version"] == "13"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert (await ask(server.port, "GET", "/api/health")).status == 200


@pytest.mark.parametrize("origin", ["", "http://evil.test"])
async def test_a_frame_in_the_packet_of_the_handshake_is_read_after_it(server: Server, origin: str):
    """Bug: it got an empty 400, before the guard. RFC 6455 wants the client to wait; some do not."""
    headers = {"Host": f"127.0.0.1:{server.port}", **HANDSHAKE, **({"Origin": origin} if origin else {})}
    close = frame(b"\x03\xe8", opcode=8)
    stream = await trio.open_tcp_stream("127.0.0.1", server.port)
    async with stream:
        await stream.send_all(request("GET", "/ws", headers.items()) + close)
        with trio.fail_after(PATIENCE):
            said = b"".join([part async for part in stream])
    if origin:
        assert said.startswith(b"HTTP/1.1 403 ")
        assert b'"foreign_origin"' in said
    else:
        assert said.startswith(b"HTTP/1.1 101 ")
        assert said.endswith(b"\x88\x02\x03\xe8")


async def test_half_a_handshake_of_a_foreign_page_is_foreign(server: Server):
    """The guard stands before the handshake, too."""
    headers = {"Host": f"127.0.0.1:{server.port}", **HANDSHAKE, "Origin": "http://evil.test"}
    del headers["Sec-WebSocket-Key"]
    reply = await raw(server.port, request("GET", "/ws", headers.items()))
    assert (reply.status, reply.json["code"]) == (403, "foreign_origin")


@pytest.mark.parametrize("size", [0, 1, 125, 126, 127, 65_535, 65_536, 200_000])
def test_a_ready_frame_is_the_one_wsproto_makes(size: int):
    payload = "x" * size
    made = Connection(ConnectionType.SERVER).send(TextMessage(data=payload))
    assert text_frame(payload.encode()) == made


@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=4), st.integers(1, 700))
def test_bounded_inflation_is_inflation(messages: list[bytes], piece: int):
    """However the bytes arrive, what is within the limit comes out whole, and what is not is 1009."""
    client, bounded = PerMessageDeflate(), BoundedDeflate(2000)
    client._enabled = bounded._enabled = True
    proto = FrameProtocol(client=False, extensions=[])
    for message in messages:
        _, packed = client.frame_outbound(
            FrameProtocol(client=True, extensions=[]),
            Opcode.BINARY,
            RsvBits(False, False, False),
            message,
            True,
        )
        bounded.frame_inbound_header(proto, Opcode.BINARY, RsvBits(True, False, False), len(packed))
        got = b""
        for start in range(0, len(packed), piece):
            out = bounded.frame_inbound_payload_data(proto, packed[start : start + piece])
            if isinstance(out, CloseReason):
                assert out is CloseReason.MESSAGE_TOO_BIG
                assert len(message) > 2000
                return
            got += out
        last = bounded.frame_inbound_complete(proto, fin=True)
        assert isinstance(last, bytes)
        assert got + last == message
