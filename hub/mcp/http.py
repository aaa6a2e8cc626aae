"""The tool server as an ASGI application: the Streamable HTTP transport, for a daemon to serve beside its API.

Owns: which era a request speaks, what its headers must repeat of its body, and the status of an answer.
Must not: decide who may call; whoever mounts it stands before it with a guard, which has read the body whole.

It is served without sessions: no tool keeps anything from one call to the next, so there is nothing to find
again, nothing to expire, and nothing to end when the server goes down but the requests under way.
Tests: tests/hub/mcp/test_http.py
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from hub.domain.jsonvalue import JsonObject
from hub.mcp.calling import ToolApi, ToolCaller
from hub.mcp.protocol import HANDSHAKE, UNSUPPORTED_VERSION, VERSION_KEY, Protocol
from hub.wire.frames import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NotAMessageError,
    decode,
    encode,
    refused,
)

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

HEADER_MISMATCH = -32020
_STATUS = {
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""Of a modern answer, by the code of its error; before, only what is no message had one of its own."""


class ToolsApp:
    """Serves POST requests, each one message.

    Args:
        api: What the tools ask.
    """

    def __init__(self, api: ToolApi) -> None:
        self._protocol = Protocol(ToolCaller(api))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:  # noqa: D102  # ASGI
        status, reply = await self._reply(_headers(scope), (await receive()).get("body", b""))
        body = b"" if reply is None else encode(reply).rstrip()
        kind = [] if reply is None else [(b"content-type", b"application/json")]
        headers = [*kind, (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _reply(self, headers: dict[str, list[str]], body: bytes) -> tuple[int, JsonObject | None]:
        """The status and the message of an answer; None = there is nothing to say."""
        if not _takes_json(headers.get("accept", [])):
            return 406, refused(
                None, INVALID_REQUEST, "Not Acceptable: the client must accept application/json"
            )
        try:
            message = decode(body)
        except NotAMessageError as error:
            return 400, error.reply
        if "method" not in message or "id" not in message:
            return 202, None
        modern = headers.get("mcp-protocol-version", [HANDSHAKE[0]])[0] not in HANDSHAKE
        mismatch = _mismatch(headers, message) if modern else ""
        if mismatch:
            detail = f"The {mismatch} header does not say what the body says, once"
            return 400, refused(message["id"], HEADER_MISMATCH, detail)
        reply = await self._protocol.answer(message, modern=modern)
        return _STATUS.get(reply.get("error", {}).get("code"), 200) if modern else 200, reply


def _headers(scope: Message) -> dict[str, list[str]]:
    """Every value of each header; ASGI has their names in lower case."""
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1"), []).append(value.decode("latin-1"))
    return found


def _takes_json(accept: list[str]) -> bool:
    kinds = {part.partition(";")[0].strip().lower() for value in accept for part in value.split(",")}
    return not kinds.isdisjoint({"application/json", "application/*", "*/*"})


def _mismatch(headers: dict[str, list[str]], request: JsonObject) -> str:
    """The header by which a proxy would take the request for another one; "" = there is none."""
    params = request.get("params", {})
    meta = params.get("_meta")
    said = {
        "MCP-Protocol-Version": meta.get(VERSION_KEY) if isinstance(meta, dict) else None,
        "Mcp-Method": request["method"],
        "Mcp-Name": params.get("name") if request["method"] == "tools/call" else None,
    }
    for name, value in said.items():
        given = headers.get(name.lower(), [])
        if len(given) > 1 or (value is not None and [value] != [_plain(each) for each in given]):
            return name
    return ""


def _plain(value: str) -> str | None:
    """A header's text, which `=?base64?...?=` writes where it is more than ASCII; None where that is not done right."""
    coded = value.removeprefix("=?base64?").removesuffix("?=")
    if len(coded) != len(value) - len("=?base64??="):
        return value
    try:
        plain = base64.b64decode(coded, validate=True)
        return plain.decode() if base64.b64encode(plain).decode() == coded else None
    except (binascii.Error, UnicodeDecodeError):
        return None
