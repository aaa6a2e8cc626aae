"""Pieces of known values: whoever cuts a text may cut through a key, and neither half is a whole one.

Owns: which eight letters in a row tell something of a value, and the search for them.
Must not: look for whole values (`known` does), or know where a text was cut.

Agents cut their own output, and so do the programs they run: in the middle, at a width, after so many bytes. So each
eight letters of a form are a find wherever they stand, but for what every key of a vendor begins with, and the words of
a value that is a sentence, a path or an address: these say nothing, and would hide ordinary text.

The search asks of every fourth place in the text whether its four letters are of some form: eight letters in a row hold
four that begin at such a place. That is one pass in C; only where the answer is yes a closer look is taken.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hub.domain.redaction.span import Span
from hub.domain.redaction.value import drawn

SIZE = 8
"""No more letters in a row of a secret than one less may be seen."""
_BLOCK, _STRETCH = 4, 16_384
_DISTINCT = 4
_DENSE = 4096
"""Forms up to this long are found in pieces; of longer ones (certificates, whole files) only lines are."""
_HEAD = re.compile(r"(?:[A-Za-z]{1,6}[-_]){0,2}(?:[A-Za-z]{1,4}[0-9]{1,2}[-_])?")
"""What a vendor writes before every key: `sk-ant-api03-`, `github_pat_`."""
_OPAQUE = re.compile(r"[A-Za-z0-9_.~+=%-]+")
"""Made of these only, a value is no sentence, path or address, of which pieces stand elsewhere too."""
_PLACE = re.compile(r"(?:~|\.{0,2}/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*://)")
"""How a path or an address begins."""
_WORD = re.compile("[A-Za-z]+")


class Piece(NamedTuple):
    """Which secret a piece is of."""

    rule: str
    secret: bytes


class Fragments:
    """The pieces of all forms of the known values."""

    def __init__(self, forms: Iterable[tuple[str, Piece]], unseen: str = "") -> None:
        """Pieces of `forms`, but for those that stand in `unseen` too: the names in markers."""
        self._pieces: dict[bytes, Piece] = {}
        self._letters = ""
        for form, piece in forms:
            if len(form) <= _DENSE:
                self._add(form, piece, unseen)
        self._blocks = frozenset(
            int.from_bytes(gram[at : at + _BLOCK], sys.byteorder)
            for gram in self._pieces
            for at in range(_BLOCK)
        )

    def _add(self, form: str, piece: Piece, unseen: str) -> None:
        value = piece.secret.decode("utf-8", "replace")
        if _PLACE.match(value):
            return
        opaque = _OPAQUE.fullmatch(value) is not None
        start = max(0, _HEAD.match(form).end() - SIZE + 1)  # type: ignore[union-attr]  # it matches nothing at least
        told = False
        for at in range(start, len(form) - SIZE + 1):
            gram = form[at : at + SIZE]
            if gram.isascii() and telling(gram, opaque=opaque) and gram not in unseen:
                self._pieces.setdefault(gram.encode(), piece)
                told = True
        if told:
            self._letters += form[start:] + "\0"

    def find(self, view: bytes, lo: int, rank: int) -> Iterator[Span]:
        """Every piece that begins in the ASCII view of a text at `lo` or later, pieces that overlap as one."""
        if not self._pieces:
            return
        size = (len(view) - lo) // _BLOCK * _BLOCK
        blocks = memoryview(view)[lo : lo + size].cast("I")
        if self._blocks.isdisjoint(blocks):
            return
        looked = lo
        for place in self._places(blocks, lo):
            start = self._first(view, max(looked, place - _BLOCK + 1), place)
            if start is not None:
                looked = self._end(view, start)
                yield Span(start, rank, looked, start, *self._pieces[view[start : start + SIZE]])

    def _places(self, blocks: memoryview, lo: int) -> Iterator[int]:
        """Where the blocks stand that are of some form."""
        known = self._blocks
        for first in range(0, len(blocks), _STRETCH):
            stretch = blocks[first : first + _STRETCH]
            if not known.isdisjoint(stretch):
                for at, block in enumerate(stretch, first):
                    if block in known:
                        yield lo + _BLOCK * at

    def _first(self, view: bytes, low: int, high: int) -> int | None:
        """Where the first piece begins between two places, the last included."""
        pieces = self._pieces
        return next((at for at in range(low, high + 1) if view[at : at + SIZE] in pieces), None)

    def _end(self, view: bytes, start: int) -> int:
        """Behind the last of the pieces that overlap, from the one at `start` on."""
        pieces, further = self._pieces, True
        while further:
            further = False
            for at in range(start + SIZE - 1, start, -1):
                if view[at : at + SIZE] in pieces:
                    start, further = at, True
                    break
        return start + SIZE

    def begun(self, text: str, lo: int) -> int:
        """Where the letters begin that may become a piece when more text comes; else the end of `text`."""
        place = len(text)
        while place > max(lo, len(text) - SIZE + 1) and text[place - 1 :] in self._letters:
            place -= 1
        return place


def telling(gram: str, *, opaque: bool) -> bool:
    """Whether the letters tell something of the value they are of.

    Of one that is not opaque words do not: these have no digit, and not small letters and capitals as chance puts them.
    """
    if len(set(gram)) < _DISTINCT or gram != gram.strip():
        return False
    if opaque or any(map(str.isdigit, gram)):
        return True
    words = _WORD.findall(gram)
    return any(drawn(word) for word in words)
