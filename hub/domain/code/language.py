"""What is known of one programming language.

Owns: the shape of a language's table, and the parts of patterns that languages share.
Must not: know a language.

All patterns are over bytes, and begin with the newline before a line, so that most lines cost one comparison. None
may take more than linear time: what repeats is possessive (`*+`, `++`), and what is never closed ends the file.

Tests: tests/hub/domain/code/test_symbol.py, tests/hub/domain/code/test_linear.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

import attrs

LINE = rb"\n(?=[\w@#$/\x80-\xff])"
"""A line that begins with no blank. Most lines of code are left here, for the cost of one look ahead."""
NAME = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+"
COMMENT = rb"//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z)"
"""A comment of the C family."""
QUOTED = rb"\"[^\"\\\n]*+(?>(?:\\(?s:.)[^\"\\\n]*+)*)\"?"
"""A string in double quotes that ends with its line at the latest, unless the newline is escaped."""
APOSTROPHES = rb"'[^'\\\n]*+(?>(?:\\(?s:.)[^'\\\n]*+)*)'?"


Found = tuple[int, str, bytes]
"""A definition, before it is known not to stand in a string or a comment: where its name begins, its kind and its name.

A plain tuple, for there is one of each symbol and a class with names takes three times as long to make.
"""
Span = tuple[int, int]


@attrs.frozen
class Language:
    """One language's table."""

    name: str
    suffixes: tuple[str, ...]
    find: Callable[[bytes], Iterable[Found]]
    """What looks like a definition, in order; the text begins with a newline that is not its own."""
    opaque: Callable[[bytes], Iterator[Span]]
    """Where strings and comments are, found by reading all of them in turn; ten times slower."""
    toggles: tuple[bytes, ...] = ()
    """What opens a string of several lines and closes it: a line behind an odd number of them may be inside."""
    pairs: tuple[tuple[bytes, bytes], ...] = ()
    """What opens a string or comment of several lines, and what closes it."""
    names: tuple[str, ...] = ()
    """Files of the language that have no suffix."""


Pattern = Callable[[], re.Pattern[bytes]]
"""As `late` gives it: most projects have few languages."""


def by_pattern(pattern: Pattern) -> Callable[[bytes], Iterable[Found]]:
    """Finds by one alternation: the group that took part is the name, and the group's name the kind."""

    def find(text: bytes) -> Iterator[Found]:
        kinds = kinds_of(pattern)
        for match in pattern().finditer(text):
            group = match.lastindex or 0
            yield match.start(group), kinds[group], match[group]

    return find


@cache
def kinds_of(pattern: Pattern) -> tuple[str, ...]:
    """What each group of such an alternation finds, by its number.

    A group's name must be unique: digits at its end do not belong to the kind.
    """
    named = {number: name.rstrip("0123456789") for name, number in pattern().groupindex.items()}
    return tuple(named.get(number, "") for number in range(pattern().groups + 1))


def by_tokens(pattern: Pattern) -> Callable[[bytes], Iterator[Span]]:
    """Reads a text by an alternation of all strings and comments that the language has."""
    return lambda text: map(re.Match.span, pattern().finditer(text))
