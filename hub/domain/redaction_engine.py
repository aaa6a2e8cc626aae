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
from functools import lru_cache
from typing import Protocol

from hub.domain.redaction_span import Span
from hub.domain.redaction_value import drawn

LOOK_BACK = 160
"""How far before a token its line is shown to the engine."""
LONGEST = 512
"""Of a longer token only the beginning is judged: it is data, not a key."""
_RUN = b"a" * 10
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SIGNS = b"_.~+/=:@%#&?!*^|$;,-"
_RUNS = bytes(0x61 if code in _LETTERS else 0x20 for code in range(256))
_TOKENS = bytes(0x61 if code in _LETTERS + _SIGNS else 0x20 for code in range(256))
_REMEMBERED = 1024
_UUID = re.compile("(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Every line of an agent has one, and a service that uses them as keys is known by the name before it."""
_CUT = re.compile(r"[\n\]]")


class Engine(Protocol):
    """A detection engine; the same text has the same finds."""

    def find(self, text: str) -> Sequence[tuple[int, int, str]]:
        """Begin, end and kind (`[a-z0-9-]{1,32}`) of every secret in `text`."""


class EngineLayer:
    """The engine's finds, a token at a time."""

    rank = 600

    def __init__(self, engine: Engine) -> None:
        self._find = lru_cache(_REMEMBERED)(engine.find)  # ids come with every line of an agent

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All finds in tokens that begin at `lo` or later, and where the last one begins if it may go on."""
        hold = len(text)
        data = text.encode("ascii", "replace")
        view = data.translate(_TOKENS)
        if not final:
            begin = _begin(view, hold)
            hold = begin if begin is not None and begin >= lo else hold
        tokens = _tokens(text, data.translate(_RUNS), view, lo)
        return [span for start, end in tokens for span in self._judged(text, start, end)], hold

    def _judged(self, text: str, start: int, end: int) -> Iterator[Span]:
        """The finds within a token; found by the token as a whole, so a stream holds it as a whole."""
        before = _CUT.split(text[max(0, start - LOOK_BACK) : start])[-1]
        origin = start - len(before)
        for first, last, kind in self._find(before + text[start:end]):
            at, stop = max(origin + first, start), origin + last
            if at < stop:
                yield Span(at, self.rank, stop, start, kind, text[at:stop])


def _tokens(text: str, runs: bytes, view: bytes, lo: int) -> Iterator[tuple[int, int]]:
    """The tokens that begin at `lo` or later and have a long run of letters and digits mixed."""
    place = runs.find(_RUN, lo)
    while place >= 0:
        end = _end(runs, place)
        begin = _begin(view, place)
        if begin is not None and begin >= lo:
            run = text[place : min(end, begin + LONGEST)]
            if len(run) >= len(_RUN) and drawn(run):
                end = _end(view, end)
                if not _UUID.fullmatch(text, begin, end):
                    yield begin, min(end, begin + LONGEST)
        place = runs.find(_RUN, end)


def _begin(view: bytes, end: int) -> int | None:
    """Where the token that reaches `end` begins; none if it is longer than is judged."""
    low = max(0, end - LONGEST)
    gap = view.rfind(b" ", low, end)
    return None if gap < 0 and end - low == LONGEST else max(gap + 1, low)


def _end(view: bytes, place: int) -> int:
    """Where the letters that stand at `place` end."""
    end = view.find(b" ", place)
    return end if end >= 0 else len(view)
