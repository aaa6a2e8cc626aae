"""Top-level symbols of a source file.

Owns: what a symbol is, and leaving out what only stands in a string or a comment.
Must not: know a language (each has a table), read a file, or take more than linear time.

Theory of operation. A definition at the top level begins its line in all of the languages, so one anchored
alternation finds it in a tenth of a parser's time. What such a pattern cannot know is whether the line stands in a
string or a comment. So the marks that open and close those of several lines are counted, which costs next to nothing
and is wrong now and then, where a quote is quoted. Only where the count leaves a doubt, in one file of thirty, are all
strings and comments of the file read in turn.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

import attrs

from hub.domain.code.language import Found, Language, Span

MAX_SYMBOLS = 10_000
"""Of one file; a table of generated constants may have more."""
MAX_NAME = 200
"""Bytes of a longer name that are kept: nobody has written it."""


@attrs.frozen
class Symbol:
    """Something that a file defines at its top level."""

    name: str
    kind: str
    """function, method, class, interface, type, constant, variable..., as the language calls it."""
    line: int
    """From 1."""


def outside(table: Language, text: bytes, finds: list[Found]) -> list[Found]:
    """The finds, in order, that stand in no string and no comment."""
    if any(_odd(text, finds, toggle) for toggle in table.toggles) or any(
        _open(text, finds, *pair) for pair in table.pairs
    ):
        inside = set(_covered(finds, table.opaque(text)))
        return [each for each in finds if each not in inside]
    return finds


def _odd(text: bytes, finds: Sequence[Found], toggle: bytes) -> bool:
    """Whether a find, or the end, has an odd number of quotation marks before it."""
    if not finds or toggle not in text:
        return False
    marks = [mark.start() for mark in re.finditer(re.escape(toggle), text)]
    return len(marks) % 2 == 1 or any(bisect_left(marks, at) % 2 for at, _, _ in finds)


def _open(text: bytes, finds: Sequence[Found], opener: bytes, closer: bytes) -> bool:
    """Whether a find comes after an opening mark with no closing one between them, or with another opening one."""
    last, ahead = 0, text.find(opener)
    for at, _, _ in finds:
        if ahead < 0:
            return False
        if ahead < at:
            opened = text.rfind(opener, ahead, at)
            if text.find(closer, opened + len(opener), at) < 0:
                return True
            if opened > ahead and text.rfind(opener, ahead, opened) > text.rfind(closer, last, opened):
                return True
            last, ahead = at, text.find(opener, at)
    return False


def _covered(finds: Sequence[Found], spans: Iterable[Span]) -> Iterator[Found]:
    """The finds that lie in one of the spans; both are in order."""
    left = iter(finds)
    find = next(left, None)
    for start, end in spans:
        while find and find[0] < end:
            if find[0] >= start:
                yield find
            find = next(left, None)
        if find is None:
            return


def numbered(text: bytes, finds: Iterable[Found]) -> list[Symbol]:
    """The finds, in order, with their lines."""
    symbols: list[Symbol] = []
    count = text.count
    line, last = 0, 0
    for at, kind, name in finds:
        line += count(b"\n", last, at)
        last = at
        symbols.append(Symbol(name[:MAX_NAME].decode("utf-8", "replace"), kind, line))
    return symbols
