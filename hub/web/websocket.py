"""A WebSocket of Hypercorn with bounds on what a client can make it hold, and honest close codes.

Owns: the inbound limit (also of inflated bytes), and the code sent when a client breaks a rule: 1002 for the
protocol, 1007 for bad UTF-8, 1009 for a message too big. Also owns: `hub.frames`, one more thing an
application may send: frames that are ready, made by `text_frame`. What a server sends is not masked, so the
same bytes do for every client, and several frames leave in one write.
Must not: know what a message means.

Hypercorn 0.18 inflates a frame whole before it looks at its size, reads on for as long as a client sends
after the limit is passed, and drops the connection without a code when a frame cannot be parsed.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any, cast

import attrs
import trio
from hypercorn.protocol.events import Data, Response, StreamClosed
from hypercorn.protocol.events import Event as ProtocolEvent
from hypercorn.protocol.ws_stream import ASGIWebsocketState, FrameTooLargeError, WSStream
from hypercorn.typing import WebsocketAcceptEvent
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import CloseConnection, Event, Message, Ping
from wsproto.extensions import PerMessageDeflate
from wsproto.frame_protocol import CloseReason, FrameDecoder, FrameProtocol, Opcode, RsvBits
from wsproto.handshake import server_extensions_handshake
from wsproto.utilities import LocalProtocolError


class BoundedDeflate(PerMessageDeflate):
    """permessage-deflate that inflates at most `limit` bytes of a message, and never deflates.

    What hub sends stays on this machine, and every event is encoded once for all its readers.
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._inflated = 0

    def frame_inbound_payload_data(
        self,
        proto: FrameDecoder | FrameProtocol,  # noqa: ARG002
        data: bytes,
    ) -> bytes | CloseReason:
        """The payload, or 1009 as soon as the message passes the limit."""
        if not self._inbound_compressed or not self._inbound_is_compressible or self._decompressor is None:
            return data
        try:
            inflated = self._decompressor.decompress(bytes(data), self._limit + 1 - self._inflated)
        except zlib.error:
            return CloseReason.INVALID_FRAME_PAYLOAD_DATA
        self._inflated += len(inflated)
        return CloseReason.MESSAGE_TOO_BIG if self._inflated > self._limit else inflated

    def frame_inbound_complete(
        self,
        proto: FrameDecoder | FrameProtocol,
        fin: bool,  # noqa: FBT001
    ) -> bytes | CloseReason | None:
        """What the end of a frame sets free."""
        if fin and self._inbound_is_compressible:
            self._inflated = 0
        return super().frame_inbound_complete(proto, fin)

    def frame_outbound(
        self,
        proto: FrameDecoder | FrameProtocol,
        opcode: Opcode,
        rsv: RsvBits,
        data: bytes,
        fin: bool,  # noqa: FBT001
    ) -> tuple[RsvBits, bytes]:
        """The data as it is; RFC 7692 lets a sender compress no message at all."""
        del proto, opcode, fin
        return rsv, data


@attrs.frozen
class Close:
    """How a stream ends."""

    code: int
    reason: str


RESTART = Close(1012, "the event log is restarting; come back with since")
TOO_SLOW = Close(1013, "too slow; come back with since")
FAULT = Close(1011, "hub made a mistake")
FRAMES = "hub.frames"
WRITE_NOW = "hub.write_now"
"""`(frames) -> bool`: whether they were taken; not while the client is behind."""


def text_frame(payload: bytes) -> bytes:
    """A whole, unmasked text message in one frame."""
    size = len(payload)
    if size < _TWO_BYTES:
        head = bytes((_FIN_TEXT, size))
    elif size < 1 << 16:
        head = bytes((_FIN_TEXT, _TWO_BYTES)) + size.to_bytes(2, "big")
    else:
        head = bytes((_FIN_TEXT, _EIGHT_BYTES)) + size.to_bytes(8, "big")
    return head + payload


_FIN_TEXT = 0x81
_TWO_BYTES, _EIGHT_BYTES = 126, 127


class Socket(WSStream):
    """One WebSocket over HTTP/1.1."""

    write_now: Callable[[bytes], bool]
    """The connection's own."""
    accepted: trio.Event
    """Set once the handshake is answered."""

    async def handle(self, event: ProtocolEvent) -> None:
        """What a client sends with its handshake is read once that is accepted; a refusal ends the connection."""
        if isinstance(event, Data):
            await self.accepted.wait()
        await super().handle(event)

    async def app_send(self, message: Any) -> None:
        """What the application sends; frames that are ready go out as they are."""
        if message is None or message["type"] != FRAMES:
            await super().app_send(message)
        elif not self.closed and self.connection.state is ConnectionState.OPEN:
            await self.send(Data(stream_id=self.stream_id, data=message["frames"]))

    def last_word(self) -> bytes:
        """The close frame for a client that takes nothing; b"" when it cannot be told, or has been told another."""
        if self.closed or self.state is not ASGIWebsocketState.CONNECTED:
            return b""
        self.state = ASGIWebsocketState.CLOSED
        try:
            return self.connection.send(CloseConnection(TOO_SLOW.code, TOO_SLOW.reason))
        except LocalProtocolError:
            return b""

    def _write_frames(self, frames: bytes) -> bool:
        return self.closed or self.connection.state is not ConnectionState.OPEN or self.write_now(frames)

    async def _accept(self, message: WebsocketAcceptEvent) -> None:
        deflate = BoundedDeflate(self.config.websocket_max_message_size)
        agreed = self._negotiate(deflate)
        status, headers, _ = self.handshake.accept(message.get("subprotocol"), message.get("headers", []))
        headers += [(b"sec-websocket-extensions", agreed)] if agreed else []
        self.connection = Connection(ConnectionType.SERVER, [deflate])
        self.state = ASGIWebsocketState.CONNECTED
        cast("Any", self.scope["extensions"])[WRITE_NOW] = self._write_frames
        await self.send(Response(stream_id=self.stream_id, status_code=status, headers=headers))
        self.accepted.set()
        if self.config.websocket_ping_interval is not None:
            self.task_group.spawn(self._send_pings)

    def _negotiate(self, deflate: BoundedDeflate) -> bytes:
        offers, self.handshake.extensions = self.handshake.extensions, None
        try:
            return server_extensions_handshake(offers or [], [deflate]) or b""
        except ValueError:  # a parameter that is no number
            return b""

    async def _handle_events(self) -> None:
        for event in self.connection.events():
            if self.closed:
                return
            await self._handle_event(event)

    async def _handle_event(self, event: Event) -> None:
        match event:
            case Message():
                await self._take(event)
            case Ping():
                await self._reply(event.response())
            case CloseConnection():
                await self._leave(event)

    async def _take(self, message: Message[Any]) -> None:
        try:
            self.buffer.extend(message)
        except FrameTooLargeError:
            await self._leave(CloseConnection(code=CloseReason.MESSAGE_TOO_BIG))
            return
        if message.message_finished:
            whole: object = self.buffer.to_message()
            self.buffer.clear()
            if self.app_put is not None:
                await self.app_put(whole)

    async def _leave(self, close: CloseConnection) -> None:
        """Answers the peer's close, or closes for `close.code`; nothing that comes after is looked at."""
        answer = close.response() if self.connection.state is ConnectionState.REMOTE_CLOSING else close
        await self._reply(answer)
        await self.send(StreamClosed(stream_id=self.stream_id))

    async def _reply(self, event: Event) -> None:
        try:
            data = self.connection.send(event)
        except LocalProtocolError:  # our own close is under way
            return
        await self.send(Data(stream_id=self.stream_id, data=data))
