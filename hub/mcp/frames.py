"""One line of the wire: a message, or why it is none.

Owns: what a frame may be (JSON-RPC 2.0, one object a line, at most 1 MiB), and the answer to one that may not.
Must not: read or write, or know a method.

The SDK's own reader takes lines of any length and drops what it cannot read without a word; a client would wait
for ever.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

MAX_FRAME = 1024 * 1024
"""Bytes of a line, its end included."""


class NotAMessageError(Exception):
    """A line that is no message; `reply` is what its sender is told."""

    def __init__(self, code: int, message: str, id_: Any = None) -> None:
        super().__init__(message)
        known = id_ if _is_id(id_) else None
        self.reply = JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=message))


def decode(line: bytes) -> SessionMessage:
    """The message of a line.

    Raises:
        NotAMessageError: It holds none.
    """
    if len(line) > MAX_FRAME:
        raise NotAMessageError(INVALID_REQUEST, f"A line may have {MAX_FRAME} bytes at most")
    try:
        value = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise NotAMessageError(PARSE_ERROR, "That line is not JSON") from None
    if not isinstance(value, dict):
        raise NotAMessageError(INVALID_REQUEST, "A message is one JSON object; batches are not part of MCP")
    return SessionMessage(_message(value))


def encode(message: JSONRPCMessage) -> bytes:
    """The line of a message."""
    # An error whose request cannot be named has the id null; everything else that is not set is left out.
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"


def _message(value: dict[str, Any]) -> JSONRPCMessage:
    id_ = value.get("id")
    if "id" in value and not _is_id(id_) and "error" not in value:
        raise NotAMessageError(INVALID_REQUEST, "An id is a string or an integer")
    params = value.get("params", {})
    if "method" in value and not isinstance(params, dict):
        raise NotAMessageError(INVALID_PARAMS, "params is an object", id_)
    try:
        return _kind(value).model_validate(value, by_name=False)
    except ValueError:
        raise NotAMessageError(INVALID_REQUEST, "That is no JSON-RPC 2.0 message", id_) from None


def _kind(value: dict[str, Any]) -> type[JSONRPCMessage]:
    if "method" in value:
        return JSONRPCRequest if "id" in value else JSONRPCNotification
    return JSONRPCError if "error" in value else JSONRPCResponse


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)
