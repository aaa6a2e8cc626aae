"""A maintained detection engine as a layer: what it is asked, and what its answers mean in a stream.

Owns: the seam (`Engine`), and the cutting of text into the tokens that an engine is asked about.
Must not: import an engine, or know one's rules.

An engine reads whole texts and looks as far around as it likes; a stream has pieces. So it is asked about one *token*
at a time (letters without a blank or quote between them) behind what stands before it on its line, and only what it
finds in the token counts. What it says then depends on nothing that a cut could change. Most tokens are words: only
one with a long run of letters and digits mixed is worth a question, and such a run is found by `bytes.find` in a view
of the text in which all letters and digits look alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from hub.domain.redaction_span import Span
from hub.domain.redaction_value import drawn

LOOK_BACK = 160
"""How far before a token its line is shown to the engine."""
LONGEST = 512
"""Of a longer token only the beginning is judged: it is data, not a key."""
_ALIKE = bytes(0x61 if chr(code).isalnum() else 0x20 for code in range(128)) + b" " * 128
_RUN = b"a" * 10
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.~+/=:@%#&?!*^|$;,-"
_AHEAD = re.compile(f"[{re.escape(_LETTERS)}]*+")
_CUT = re.compile(r"[\n\]]")


class Engine(Protocol):
    """A detection engine; the same text has the same finds."""

    def find(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Begin, end and kind (`[a-z0-9-]{1,32}`) of every secret in `text`."""


class EngineLayer:
    """The engine's finds, a token at a time."""

    rank = 600

    def __init__(self, engine: Engine) -> None:
        self._find = engine.find

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All finds in tokens that begin at `lo` or later, and where the last one begins if it may go on."""
        hold = len(text)
        if not final:
            begin = _begin(text, hold)
            hold = begin if begin is not None and begin >= lo else hold
        return [span for start, end in _tokens(text, lo) for span in self._judged(text, start, end)], hold

    def _judged(self, text: str, start: int, end: int) -> Iterator[Span]:
        """The finds within a token; found by the token as a whole, so a stream holds it as a whole."""
        before = _CUT.split(text[max(0, start - LOOK_BACK) : start])[-1]
        origin = start - len(before)
        for first, last, kind in self._find(before + text[start:end]):
            at, stop = max(origin + first, start), origin + last
            if at < stop:
                yield Span(at, self.rank, stop, start, kind, text[at:stop])


def _tokens(text: str, lo: int) -> Iterator[tuple[int, int]]:
    """The tokens that begin at `lo` or later and have a long run of letters and digits mixed."""
    view = text.encode("ascii", "replace").translate(_ALIKE)
    place = view.find(_RUN, lo)
    while place >= 0:
        end = view.find(b" ", place)
        end = end if end >= 0 else len(view)
        begin = _begin(text, place)
        if begin is not None and begin >= lo:
            run = text[place : min(end, begin + LONGEST)]
            if len(run) >= len(_RUN) and drawn(run):
                end += len(_AHEAD.match(text, end)[0])  # type: ignore[index]  # it matches nothing at least
                yield begin, min(end, begin + LONGEST)
        place = view.find(_RUN, end)


def _begin(text: str, end: int) -> int | None:
    """Where the token that reaches `end` begins; none if it is longer than is judged."""
    before = text[max(0, end - LONGEST) : end]
    rest = before.rstrip(_LETTERS)
    return None if not rest and len(before) == LONGEST else end - len(before) + len(rest)
