"""One HTTP request, one message, one answer.

Owns: what becomes of a body that is no message, and the life of the SDK's transport: that of the request.
Must not: be imported before the first request; it brings the SDK.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from hub.mcp.frames import NotAMessageError, decode, encode

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from hub.mcp.http import App, Message, Receive, Send


def single(server: Server[Any]) -> App:
    """Serves a server's messages, each by itself."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        request = await receive()
        try:
            decode(request.get("body", b""))
        except NotAMessageError as error:
            await _refuse(send, encode(error.reply).rstrip())
            return
        manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, _again(request, receive), send)

    return app


def _again(request: Message, receive: Receive) -> Receive:
    """A `receive` that begins with what was received already."""
    waiting = [request]

    async def receive_again() -> Message:
        return waiting.pop() if waiting else await receive()

    return receive_again


async def _refuse(send: Send, body: bytes) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
