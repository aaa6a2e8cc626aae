"""A file of JSON lines, read at both ends or in whole.

Owns: which bytes are read, where a line begins, and what becomes of one that is torn, glued to another, or too long.
Must not: open a file, or know what a record means.

A session's file can be a gigabyte, and what a list of sessions shows stands at its ends: the head up to the first
prompt, and the tail. The tail grows until it holds a whole line; it begins no earlier than where the head ended, so
that no record is read twice, and no later, so that none is lost in between where the two meet.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Protocol

import msgspec

from hub.domain.detection.intel import Limits
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.text.patterns import late
from hub.providers import jsonline

_CHUNK = 1024 * 1024
_MAX_HEAD = 1024 * 1024
"""Bytes after which the search for the first prompt is given up."""
_MAX_TRIES = 64
_MAX_MEND = 1024 * 1024
"""Bytes of the longest broken line whose objects are looked for."""
_OBJECT = late(r'\{\s*"')
_lenient = json.JSONDecoder()
_decode = msgspec.json.Decoder().decode
_REFUSED = (ValueError, RecursionError)
"""What is no JSON; msgspec's own error and that of a text which is no UTF-8 are values' errors too."""


class Source(Protocol):
    """An open file."""

    @property
    def size(self) -> int:
        """Its bytes at the time it was opened."""

    def at(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from there; fewer only at its end.

        Raises:
            Unreadable: It cannot be read, or the time is up.
        """


class RecordFold(ABC):
    """What takes the records of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        self.draft = draft

    @abstractmethod
    def record(self, value: Mapping[str, object]) -> None:
        """One record; leaves one mark."""

    def gap(self, count: int) -> None:
        """So many bytes were left out here. In most formats nothing hangs on the record before."""
        self.draft.skipped(count)


def feed(source: Source, limits: Limits, fold: RecordFold) -> None:
    """Gives the fold the records of the file, as many as the limits allow, in their order."""
    taker = _Taker(fold, limits.record)
    if source.size <= (limits.most if limits.whole else limits.head + limits.tail):
        _span(source, 0, taker)
        return
    begun = _head(source, limits, taker)
    start = _tail(source, begun, limits)
    if start > begun:
        fold.gap(start - begun)
    if start == source.size:
        fold.draft.damaged()
    _span(source, start, taker)


class _Taker:
    """What becomes of a line."""

    def __init__(self, fold: RecordFold, most: int) -> None:
        self.fold = fold
        self.most = most
        self._last = b""

    def line(self, line: bytes) -> None:
        """One line: its record, or the records glued together on it. A blank one is none.

        The very line before once more says nothing new: an append that was tried twice.
        """
        line = line.strip()
        if not line:
            return
        if line == self._last:
            self.fold.draft.repeated()
            return
        self._last = line
        try:
            value = _decode(line)
        except _REFUSED:
            self._mend(line)
            return
        if isinstance(value, dict):
            self.fold.record(value)
        else:
            self.fold.draft.damaged()

    def _mend(self, line: bytes) -> None:
        """A line that is no JSON: the objects that can be found on it, and one mark for what is none.

        After a loss only an object that ends with the line is taken: any other may be a part of what was lost.
        """
        text = line.decode("utf-8", "replace") if len(line) <= _MAX_MEND else ""
        at, from_, tries, lost = 0, 0, 0, not text
        while tries < _MAX_TRIES and (found := _OBJECT().search(text, from_)) is not None:
            value, end = _object(text, found.start())
            if value is None or (lost and end < len(text)):
                lost, tries, from_ = True, tries + 1, found.start() + 1
                continue
            lost = lost or bool(text[at : found.start()].strip())
            self.fold.record(value)
            at = from_ = end
        if lost or text[at:].strip():
            self.fold.draft.damaged()


def _head(source: Source, limits: Limits, taker: _Taker) -> int:
    """Reads from the beginning up to the first prompt; where the first line that was not read begins."""
    at, window = 0, limits.head
    while at < _MAX_HEAD and not (at and taker.fold.draft.prompt):
        data = source.at(at, window)
        end = data.rfind(b"\n") + 1
        if not end:
            if window >= min(_MAX_HEAD, source.size):
                break
            window *= 2
            continue
        for line in data[:end].split(b"\n"):
            taker.line(line)
        at += end
    return at


def _tail(source: Source, begun: int, limits: Limits) -> int:
    """Where the first line of the tail begins; the end of the file when its last line is too long to be read."""
    window, known = limits.tail, 0
    while True:
        start = max(begun, source.size - window)
        if start == begun:
            return begun
        # One byte more: a line may begin exactly where the window does. The newline at the very end begins none.
        data = source.at(start - 1, source.size - known - start + 1)
        first = data.find(b"\n")
        if 0 <= first < len(data) - (0 if known else 1):
            return start + first
        if window >= limits.record:
            return source.size
        window, known = window * 2, window


def _span(source: Source, at: int, taker: _Taker) -> None:
    """Every line from there on, with never more of the file in memory than the longest record."""
    rest: list[bytes] = []
    buffered = 0
    while data := source.at(at, min(_CHUNK, source.size - at)):
        at += len(data)
        first, *others = data.split(b"\n")
        if buffered <= taker.most:
            rest.append(first)
        buffered += len(first)
        if others:
            _end(rest, buffered, taker)
            for line in others[:-1]:
                taker.line(line)
            rest, buffered = [others[-1]], len(others[-1])
    _end(rest, buffered, taker)


def _end(parts: list[bytes], held: int, taker: _Taker) -> None:
    """A line that came in several parts, unless it was too long to be kept."""
    if held > taker.most:
        taker.fold.draft.damaged()
    else:
        taker.line(b"".join(parts))


def _object(text: str, at: int) -> tuple[dict[str, object] | None, int]:
    try:
        value, end = _lenient.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def whole(data: bytes) -> Mapping[str, object] | None:
    """A document that is one JSON object or array (as `items`); None for everything else."""
    value = jsonline.value(data)
    if isinstance(value, list):
        return {"items": value}
    return value if isinstance(value, dict) else None
