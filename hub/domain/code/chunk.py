"""A source file in pieces, as they are searched.

Owns: where a piece begins and ends, and how long it may be.
Must not: read a file, or know a language.
"""

from __future__ import annotations

import attrs

LINES = 60
"""Of one chunk."""
MAX_LINE = 1000
"""Bytes of a line in a chunk where lines are that long: what follows is data, not code."""


@attrs.frozen
class CodeChunk:
    """Some lines of a file."""

    start_line: int
    """From 1."""
    end_line: int
    """Of its last line."""
    body: str
    """At most `LINES * (MAX_LINE + 1)` characters."""


def chunks(body: bytes) -> list[CodeChunk]:
    """The whole file in pieces of 60 lines; none of an empty file.

    Never raises: what is no UTF-8 is replaced. In a chunk larger than its bound the end of each long line is left out.
    """
    lines = body.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [_chunk(lines[start : start + LINES], start) for start in range(0, len(lines), LINES)]


def _chunk(lines: list[bytes], start: int) -> CodeChunk:
    body = b"\n".join(lines)
    if len(body) > LINES * MAX_LINE:
        body = b"\n".join(line[:MAX_LINE] for line in lines)
    return CodeChunk(start + 1, start + len(lines), body.decode("utf-8", "replace"))
