"""Cutting an agent's bytes into lines.

Owns: the line cap, and the offset at which each line ends.
Must not: decode, parse or drop silently: what it cuts off a line is counted.

Agents write one JSON document a line, and now and then a gigabyte without a newline. A line of more than
one MiB is reduced to its first 64 KiB and the number of bytes that followed; framing is in step again at
the next newline.
"""

from __future__ import annotations

import attrs

MAX_LINE = 1024 * 1024
HEAD = 64 * 1024


@attrs.frozen
class Line:
    """One line, without its newline."""

    data: bytes
    end: int
    """Offset behind the newline: where the next line begins."""
    truncated: int
    """Bytes cut off behind `data`; 0 for a whole line."""


class LineFramer:
    """A fold from chunks to lines; holds at most one MiB, however long a line gets.

    Args:
        offset: Where in the stream the first byte fed will stand.
    """

    def __init__(self, offset: int = 0, *, limit: int = MAX_LINE, head: int = HEAD) -> None:
        self._limit = limit
        self._head = min(head, limit)
        self._parts: list[bytes] = []
        self._held = 0
        self._cut = 0
        self._offset = offset

    @property
    def offset(self) -> int:
        """Offset of the next byte to be fed."""
        return self._offset

    def feed(self, data: bytes, offset: int) -> list[Line]:
        """The lines that are complete with `data`.

        Raises:
            ValueError: `data` does not follow on what was fed before.
        """
        if offset != self._offset:
            raise ValueError(f"a gap: expected offset {self._offset}, got {offset}")
        *whole, rest = data.split(b"\n")
        lines: list[Line] = []
        for piece in whole:
            self._offset += len(piece) + 1
            if self._held or self._cut:
                self._hold(piece)
                lines.append(self._take())
            elif len(piece) > self._limit:
                lines.append(Line(piece[: self._head], self._offset, len(piece) - self._head))
            else:
                lines.append(Line(piece, self._offset, 0))
        self._offset += len(rest)
        self._hold(rest)
        return lines

    def finish(self) -> list[Line]:
        """The last line when the stream has ended without a newline."""
        return [self._take()] if self._held or self._cut else []

    def _hold(self, piece: bytes) -> None:
        if self._cut:
            self._cut += len(piece)
            return
        if piece:
            self._parts.append(piece)
            self._held += len(piece)
        if self._held > self._limit:
            whole = b"".join(self._parts)
            self._parts = [whole[: self._head]]
            self._cut = self._held - self._head
            self._held = self._head

    def _take(self) -> Line:
        line = Line(b"".join(self._parts), self._offset, self._cut)
        self._parts.clear()
        self._held = self._cut = 0
        return line
