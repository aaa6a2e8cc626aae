"""What the layers of the redactor share: a find, and the fast search for many literals at once.

Owns: `Span`, and the anchors: a pattern that finds every place where one of many literals may stand.
Must not: know any secret or rule.

Searching for a hundred literals one by one costs a hundred passes; as alternatives of one pattern they cost a
branch at nearly every letter of the text. So from each literal only a few letters are searched, the *anchor*,
found by its rarest letter. Ordinary text hardly ever holds one, and nearly all time is spent in the
skip loop of `re`. At a hit the literals with that anchor are compared in place.

Tests: tests/hub/domain/redaction/test_redactor.py
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")

_FREQUENT = " etaoinsrlhdcumpfgy.bw_v-/0,1k\"2=x'3)(4:5j6;8q7z9"
"""Letters from frequent to rare, in source code and in prose; all others are rarer."""


class Span(NamedTuple):
    """A secret in a text: `text[start:end]`. Spans sort by place, then by rank; a tuple, for a text may be full of them.

    Attributes:
        start: Where it begins.
        rank: Whose name it gets, of finds that begin together: the lowest.
        end: Behind its last character.
        at: Where that begins by which it was found: at `start`, or before it (`Bearer `).
        rule: What found it.
        secret: What is the same for every form of the same secret.
    """

    start: int
    rank: int
    end: int
    at: int
    rule: str
    secret: bytes | str

    def __repr__(self) -> str:
        return f"<Span {self.start}:{self.end} {self.rule}>"


class Anchors(Generic[T]):
    """Finds where each of many literals may stand.

    An anchor is searched by its rarest letter, which is its first or, where too few follow, its last.

    Args:
        literals: Pairs of a literal, of `size` letters at least, and what it stands for.
        size: How many letters an anchor has.
    """

    def __init__(self, literals: Iterable[tuple[str, T]], size: int) -> None:
        self._back = size - 1
        self._ahead: dict[str, list[tuple[int, str, T]]] = defaultdict(list)
        self._behind: dict[str, list[tuple[int, str, T]]] = defaultdict(list)
        for literal, meaning in literals:
            place = _rarest(literal, size)
            if place + size <= len(literal):
                self._ahead[literal[place : place + size]].append((place, literal, meaning))
            else:
                self._behind[literal[place + 1 - size : place + 1]].append((place, literal, meaning))
        self._size = size
        # Every branch takes one letter and looks at the others, so that matches which overlap are all found; and
        # it begins with that letter, or `re` would not skip to the next place where one can match.
        pattern = [head + f"(?={rest})" * bool(rest) for head, rest in _heads(sorted(self._ahead), size)]
        for last in sorted({anchor[-1] for anchor in self._behind}):
            before = "|".join(re.escape(anchor) for anchor in sorted(self._behind) if anchor[-1] == last)
            pattern.append(f"{re.escape(last)}(?<={before})")
        self._finditer = re.compile("|".join(pattern) or "(?!)").finditer

    def hits(self, text: str, lo: int) -> Iterator[tuple[int, str, T]]:
        """Every literal that stands in `text` at `lo` or later: its place, itself, and what it stands for."""
        size, back, ahead, behind = self._size, self._back, self._ahead, self._behind
        for at in self._finditer(text, lo):
            place = at.start()
            for table, anchor in (
                (ahead, text[place : place + size]),
                (behind, text[place - back : place + 1]),
            ):
                if anchor in table:
                    for offset, literal, meaning in table[anchor]:
                        start = place - offset
                        if start >= lo and text.startswith(literal, start):
                            yield start, literal, meaning


def trie(words: Sequence[str], size: int) -> str:
    """A pattern for `words`, all of one length, that looks at each letter once; it may match nothing."""
    return "|".join(head + rest for head, rest in _heads(words, size)) or "(?!)"


def _heads(words: Sequence[str], size: int) -> Iterator[tuple[str, str]]:
    """Each first letter, and the pattern of what may follow it."""
    tails: dict[str, list[str]] = defaultdict(list)
    for word in words:
        tails[word[0]].append(word[1:])
    for head, rest in tails.items():
        branches = [first + more for first, more in _heads(rest, size - 1)] if size > 1 else []
        yield re.escape(head), f"(?:{'|'.join(branches)})" if len(branches) > 1 else "".join(branches)


def _rarest(literal: str, size: int) -> int:
    """Where the rarest letter is that has enough letters behind or before it for an anchor."""
    places = [i for i in range(len(literal)) if i + size <= len(literal) or i + 1 >= size]
    return max(places, key=[_FREQUENT.find(letter) % 99 for letter in literal].__getitem__)
