"""One request to the daemon and its answer, over a socket of this machine.

Owns: the bytes of one HTTP exchange.
Must not: follow, retry or keep a connection, speak to any server but the daemon, or import more than sockets.

The standard library's client brings the parser of e-mails and TLS with it, a fifth of the time that a short command takes.
The daemon's answers say how long they are and are never in pieces; what says otherwise is not the daemon.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping

_STATUS = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\n]*)?")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,15})[ \t]*(?=\r\n|$)", re.IGNORECASE)
_PLAIN = re.compile(r"[!-~]+")
_WORDS = re.compile(r"[ -~]*")
_MAX_HEAD = 64 * 1024
_PIECE = 256 * 1024


class NoAnswerError(OSError):
    """What came back is no answer of a daemon, or not all of it."""


def exchange(
    connection: socket.socket, method: str, target: str, headers: Mapping[str, str], body: bytes | None
) -> tuple[int, bytes]:
    """Send a request and read its answer: the status, and the whole body.

    Args:
        connection: Connected, with the time that each step may take.
        method: GET, POST...
        target: Path and query; visible ASCII.
        headers: More headers, `Host` among them; printable ASCII.
        body: What is sent along; None = nothing.

    Raises:
        ValueError: The target or a header cannot be sent.
        TimeoutError: A step took too long.
        OSError: The connection broke, or the answer is none (`NoAnswerError`).
    """
    connection.sendall(_request(method, target, headers, body))
    received = bytearray()
    while (end := received.find(b"\r\n\r\n")) < 0:
        if len(received) > _MAX_HEAD:
            raise NoAnswerError("its head has no end")
        _more(connection, received)
    head, length = bytes(received[:end]), _LENGTH.search(received, 0, end)
    status = _STATUS.fullmatch(head.partition(b"\r\n")[0])
    if status is None or length is None:
        raise NoAnswerError("it does not speak as a daemon does")
    whole = end + 4 + int(length[1])
    while len(received) < whole:
        _more(connection, received)
    return int(status[1]), bytes(received[end + 4 : whole])


def _request(method: str, target: str, headers: Mapping[str, str], body: bytes | None) -> bytes:
    sent = {**headers, "Connection": "close"}
    if body is not None:
        sent["Content-Length"] = str(len(body))
    if not _PLAIN.fullmatch(target) or not all(map(_WORDS.fullmatch, sent.values())):
        raise ValueError("not to be sent as it is")
    lines = (f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", "")
    return "\r\n".join(lines).encode("ascii") + (body or b"")


def _more(connection: socket.socket, received: bytearray) -> None:
    piece = connection.recv(_PIECE)
    if not piece:
        raise NoAnswerError("it ended before its answer did")
    received += piece
