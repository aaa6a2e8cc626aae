"""Reading a file of lines that only grows.

Owns: its bytes from a place on, its lines, and where each ends.
Must not: know what a line says.
"""

from __future__ import annotations

import array
import os
from collections.abc import Iterator

_PIECE = 64 << 20


def lines(data: bytes) -> Iterator[bytes]:
    """Every line with its newline; the last may have none."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        yield data[start:end]
        start = end


def line_ends(data: bytes) -> array.array[int]:
    """Where each whole line ends."""
    ends, end = array.array("Q"), 0
    while end := data.find(b"\n", end) + 1:
        ends.append(end)
    return ends


def pread_all(fd: int, offset: int, size: int) -> bytes:
    """So many bytes from a place on, or as many as there are."""
    parts: list[bytes] = []
    while size and (part := os.pread(fd, min(size, _PIECE), offset)):
        parts.append(part)
        offset += len(part)
        size -= len(part)
    return b"".join(parts)
