"""One message of the wire: a JSON object, or why it is none.

Owns: what a frame may be (JSON-RPC 2.0, one object of a bounded length), and the answer to one that may not.
Must not: read or write, or know a method.
Tests: tests/hub/mcp/test_stdio.py, tests/hub/acp/test_connection.py
"""

from __future__ import annotations

import json
from typing import Any

from hub.domain.canonical import StrictJsonError, no_constant, unique
from hub.domain.jsonvalue import JsonObject

MAX_FRAME = 1024 * 1024
"""Bytes of a line, its end included, where a protocol says nothing else."""

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class NotAMessageError(Exception):
    """A line that is no message; `reply` is what its sender is told."""

    def __init__(self, code: int, message: str, id_: Any = None) -> None:
        super().__init__(message)
        self.reply = refused(id_ if _is_id(id_) else None, code, message)


class RefusedError(Exception):
    """A request that is refused, with its code, its words and what else is known of it."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


def refused(id_: str | int | None, code: int, message: str, data: object = None) -> JsonObject:
    """The answer that a request, or what should have been one, is refused with. `data` None: nothing more is known."""
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": id_, "error": error}


def decode(line: bytes, limit: int = MAX_FRAME) -> JsonObject:
    """The message of a line: a request has a method and an id, a notification no id, an answer no method.

    Raises:
        NotAMessageError: It holds none.
    """
    if len(line) > limit:
        raise NotAMessageError(INVALID_REQUEST, f"A line may have {limit} bytes at most")
    try:
        value = json.loads(line, parse_constant=no_constant, object_pairs_hook=unique)
    except StrictJsonError as error:
        raise NotAMessageError(PARSE_ERROR, f"That line cannot be read as JSON: {error}") from None
    except (ValueError, RecursionError):
        raise NotAMessageError(PARSE_ERROR, "That line is not JSON") from None
    if not isinstance(value, dict):
        raise NotAMessageError(INVALID_REQUEST, "A message is one JSON object; batches are not taken")
    id_ = value.get("id")
    if "id" in value and not _is_id(id_) and "error" not in value:
        raise NotAMessageError(INVALID_REQUEST, "An id is a string or an integer")
    if "method" in value and not isinstance(value.get("params", {}), dict):
        raise NotAMessageError(INVALID_PARAMS, "params is an object", id_)
    known = isinstance(value["method"], str) if "method" in value else not value.keys().isdisjoint(_ANSWER)
    if value.get("jsonrpc") != "2.0" or not known:
        raise NotAMessageError(INVALID_REQUEST, "That is no JSON-RPC 2.0 message", id_)
    return value


def answered(line: bytes) -> str | int | None:
    """The id of the request that is answered by a line which is no message; None where it is no answer."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or "method" in value or value.keys().isdisjoint(_ANSWER):
        return None
    return value["id"] if _is_id(value.get("id")) else None


def encode(message: JsonObject) -> bytes:
    """The line of a message. Half a surrogate pair, which only an escape can write, is written as one."""
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"


_ANSWER = {"result", "error"}


def _is_id(value: object) -> bool:
    return isinstance(value, str) or type(value) is int
