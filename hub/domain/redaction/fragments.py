"""Pieces of known values: whoever cuts a text may cut through a key, and neither half is a whole one.

Owns: which eight letters in a row tell something of a value, and the search for them.
Must not: look for whole values (`known` does), or know where a text was cut.

Agents cut their own output, and so do the programs they run: in the middle, at a width, after so many bytes. So each
eight letters of a form are a find wherever they stand, if a few of them are what no person writes. Of words it takes
sixteen: `sk-opencode-test-1234` is a key, and neither `opencode` nor `test-1234` may be hidden wherever they stand. So it
does of digits: a long key in hex has some 25 places with eight of them in a row, twenty keys 500, and of the 100,000 long
numbers that agents print in a day (times, ids) a few would hold one by chance; sixteen in a row none in a lifetime. No
finds are what every key of a vendor begins with, and the words of a value that is a sentence, a path or an address.

The search asks of every fourth place in the text whether its four letters are of some form: eight letters in a row hold
four that begin at such a place. That is one pass in C; only where the answer is yes a closer look is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, count

import attrs

from hub.domain.redaction.rule import matched_end
from hub.domain.redaction.span import Span
from hub.domain.redaction.value import by_hand

SIZE = 8
"""No more letters in a row of a secret than one less may be seen."""
WORDS_SIZE = 16
"""The same where a person may have written them all: words, and numbers beside them."""
_DRAWN = 3
"""So many letters that no person writes tell something of a value."""
_BLOCK, _STRETCH = 4, 1024
_DISTINCT = 4
_DENSE = 4096
"""Forms up to this long are found in pieces; of longer ones (certificates, whole files) only lines are."""
_HEAD = re.compile(r"(?:[A-Za-z]{1,6}[-_]){0,2}(?:[A-Za-z]{1,4}[0-9]{1,2}[-_])?")
"""What a vendor writes before every key: `sk-ant-api03-`, `github_pat_`."""
_OPAQUE = re.compile(r"[A-Za-z0-9_.~+=%-]+")
"""Made of these only, a value is no sentence, path or address, of which pieces stand elsewhere too."""
_PLACE = re.compile(r"(?:~|\.{0,2}/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*://)")
"""How a path or an address begins."""
_SEGMENT = re.compile("[A-Za-z0-9]+")
_HEX = re.compile("[0-9a-f]+|[0-9A-F]+")


@attrs.frozen
class Piece:
    """Which secret a piece is of."""

    rule: str
    secret: bytes


class Fragments:
    """The pieces of all forms of the known values."""

    def __init__(self, forms: Iterable[tuple[str, Piece]], unseen: str = "") -> None:
        """Pieces of `forms`, but for those that stand in `unseen` too: the names in markers."""
        self.windows: set[str] = set()
        """The two and the three letters in a row that stand anywhere in the forms."""
        self._pieces: dict[bytes, Piece] = {}
        self._words: dict[bytes, Piece] = {}
        self._letters = {SIZE: "", WORDS_SIZE: ""}
        for form, piece in forms:
            self.windows.update(form[at : at + size] for size in (2, 3) for at in range(len(form) - size + 1))
            if len(form) <= _DENSE:
                self._add(form, piece, unseen)
        grams = (*self._pieces, *self._words)
        blocks = b"".join({gram[at : at + _BLOCK] for gram in grams for at in range(_BLOCK)})
        self._blocks = frozenset(memoryview(blocks).cast("I"))

    def _add(self, form: str, piece: Piece, unseen: str) -> None:
        value = piece.secret.decode("utf-8", "replace")
        if _PLACE.match(value) and 2 * _drawn_before(value)[-1] < len(value):
            return
        start = max(0, matched_end(_HEAD, form) - SIZE + 1)
        drawn = _drawn_before(form)
        grams = [form[at : at + SIZE] for at in range(start, len(form) - SIZE + 1)]
        telling = [
            drawn[at + SIZE] - drawn[at] >= _DRAWN
            and _may_tell(gram)
            and not gram.isdigit()
            and gram not in unseen
            for at, gram in enumerate(grams, start)
        ]
        for gram in compress(grams, telling):
            self._pieces.setdefault(gram.encode(), piece)
        if any(telling):
            self._letters[SIZE] += form[start:] + "\0"
        if _OPAQUE.fullmatch(value):
            self._add_words(form[start:], telling, piece, unseen)

    def _add_words(self, form: str, telling: Sequence[bool], piece: Piece, unseen: str) -> None:
        """Longer pieces, where no shorter one tells anything."""
        told = False
        for at in range(len(form) - WORDS_SIZE + 1):
            gram = form[at : at + WORDS_SIZE]
            if not any(telling[at : at + WORDS_SIZE - SIZE + 1]) and _may_tell(gram) and gram not in unseen:
                self._words.setdefault(gram.encode(), piece)
                told = True
        if told:
            self._letters[WORDS_SIZE] += form + "\0"

    def find(self, view: bytes, lo: int, rank: int) -> Iterator[Span]:
        """Every piece that begins in the ASCII view of a text at `lo` or later, pieces that overlap as one."""
        if not self._blocks:
            return
        size = (len(view) - lo) // _BLOCK * _BLOCK
        looked = lo
        for place in self._places(memoryview(view)[lo : lo + size].cast("I"), lo):
            for start in range(max(looked, place - _BLOCK + 1), place + 1):
                found = self._at(view, start)
                if found is not None:
                    looked = self._end(view, start)
                    yield Span(start, rank, looked, start, found[1].rule, found[1].secret)
                    break

    def _places(self, blocks: memoryview, lo: int) -> Iterator[int]:
        """Where the blocks stand that are of some form."""
        for first in range(0, len(blocks), _STRETCH):
            stretch = blocks[first : first + _STRETCH].tolist()
            if not self._blocks.isdisjoint(stretch):
                places = count(lo + _BLOCK * first, _BLOCK)
                yield from compress(places, map(self._blocks.__contains__, stretch))

    def _end(self, view: bytes, start: int) -> int:
        """Behind the last of the pieces that overlap, from the one at `start` on."""
        end = at = start
        while at <= start or at < end:
            found = self._at(view, at)
            end = max(end, at + found[0]) if found else end
            at += 1
        return end

    def _at(self, view: bytes, at: int) -> tuple[int, Piece] | None:
        """The size of the piece that stands at a place, and whose it is."""
        found = self._words.get(view[at : at + WORDS_SIZE])
        if found is not None:
            return WORDS_SIZE, found
        found = self._pieces.get(view[at : at + SIZE])
        return None if found is None else (SIZE, found)

    def begun(self, text: str, lo: int) -> int:
        """Where the letters begin that may become a piece when more text comes; else the end of `text`."""
        return min(self._begun(text, max(lo, len(text) - size + 1), size) for size in (SIZE, WORDS_SIZE))

    def _begun(self, text: str, least: int, size: int) -> int:
        """The same for pieces of a size. The letters of all forms are many: three that stand in none need no search."""
        letters, windows, place = self._letters[size], self.windows, len(text)
        if place > least and text[-1] in letters:
            place -= 1
            while place > least and text[place - 1 : place + 2] in windows and text[place - 1 :] in letters:
                place -= 1
        return place


def _drawn_before(form: str) -> list[int]:
    """Of each place in a form, how many letters and digits before it are of segments that no person writes.

    In a form that has hardly any other, a number and what may be hex is one too: a part of a UUID.
    """
    segments = [(*found.span(), by_hand(found[0])) for found in _SEGMENT.finditer(form)]
    written = sum(end - start for start, end, human in segments if human)
    mostly = 2 * written < sum(end - start for start, end, _ in segments)
    drawn = [0] * len(form)
    for start, end, human in segments:
        if not human or (mostly and _HEX.fullmatch(form, start, end)):
            drawn[start:end] = [1] * (end - start)
    return [0, *accumulate(drawn)]


def _may_tell(gram: str) -> bool:
    return gram.isascii() and len(set(gram)) >= _DISTINCT and gram == gram.strip()


def tells(text: str) -> bool:
    """Whether a known value, or a piece of one, is more than words and numbers that stand in any text."""
    return len(text) >= WORDS_SIZE or _drawn_before(text)[-1] >= _DRAWN
