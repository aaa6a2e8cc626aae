"""The words between a runner and its daemon, on the socket in the run directory.

Owns: message kinds, their encoding, and a decoder with a bound.
Must not: do I/O, or import anything outside the standard library (the runner starts with `-I -S`).

A message is one byte of kind, four bytes of length (big endian), and the payload. A payload is a JSON
object, but for INPUT (two bytes of key length, the key, the bytes) and OUT and ERR (eight bytes of offset,
eight bytes of epoch milliseconds, the bytes). Kinds are never renumbered: a daemon talks to runners that an
older daemon started.
"""

from __future__ import annotations

import json
import struct

VERSION = 1

ATTACH, INPUT, CLOSE_STDIN, STOP = range(1, 5)
PAUSE, CONTINUE, DETACH = range(6, 9)  # an older hub may send 5
HELLO, OUT, ERR, STATUS, VERDICT = range(65, 70)

HEAD = struct.Struct(">BI")
CHUNK = struct.Struct(">QQ")
KEY = struct.Struct(">H")

MAX_TO_RUNNER = 16 * 1024 * 1024
MAX_TO_CLIENT = 2 * 1024 * 1024


class WireError(Exception):
    """The other side does not speak this protocol."""


def encode(kind: int, payload: bytes = b"") -> bytes:
    """One message."""
    return HEAD.pack(kind, len(payload)) + payload


def encode_json(kind: int, value: dict[str, object]) -> bytes:
    """One message with a JSON object."""
    return encode(kind, json.dumps(value).encode())


def encode_input(key: str, data: bytes) -> bytes:
    """Bytes for the agent, known by their key."""
    name = key.encode()
    return encode(INPUT, KEY.pack(len(name)) + name + data)


def encode_chunk(kind: int, offset: int, at: int, data: bytes) -> bytes:
    """Bytes of the agent: where they stand in their stream and when they came."""
    return HEAD.pack(kind, CHUNK.size + len(data)) + CHUNK.pack(offset, at) + data


def decode_json(payload: bytes) -> dict[str, object]:
    """The JSON object of a payload.

    Raises:
        WireError: It is none.
    """
    try:
        value = json.loads(payload or b"{}")
    except ValueError as error:
        raise WireError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise WireError("not a JSON object")
    return value


def decode_input(payload: bytes) -> tuple[str, bytes]:
    """Key and bytes.

    Raises:
        WireError: The payload is shorter than it says, or the key is not text.
    """
    try:
        (length,) = KEY.unpack_from(payload)
        key = payload[KEY.size : KEY.size + length].decode()
    except (struct.error, ValueError) as error:
        raise WireError(f"bad input: {error}") from None
    if not key or len(payload) < KEY.size + length:
        raise WireError("bad input: no key")
    return key, payload[KEY.size + length :]


def decode_chunk(payload: bytes) -> tuple[int, int, bytes]:
    """Offset, epoch milliseconds and bytes.

    Raises:
        WireError: The payload is too short.
    """
    try:
        offset, at = CHUNK.unpack_from(payload)
    except struct.error as error:
        raise WireError(f"bad chunk: {error}") from None
    return offset, at, payload[CHUNK.size :]


class Decoder:
    """Cuts a byte stream into messages; holds at most one message of `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """The messages that are complete with `data`, in order.

        Raises:
            WireError: A message announces more than `limit` bytes; nothing after it can be read.
        """
        self._buffer += data
        messages: list[tuple[int, bytes]] = []
        start = 0
        while len(self._buffer) - start >= HEAD.size:
            kind, length = HEAD.unpack_from(self._buffer, start)
            if length > self._limit:
                raise WireError(f"a message of {length} bytes")
            end = start + HEAD.size + length
            if len(self._buffer) < end:
                break
            messages.append((kind, bytes(self._buffer[start + HEAD.size : end])))
            start = end
        del self._buffer[:start]
        return messages
