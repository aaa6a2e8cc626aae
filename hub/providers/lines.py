"""A file of JSON lines, read at both ends or in whole.

Owns: which bytes are read, where a line begins, and what becomes of one that is torn, glued to another, or too long.
Must not: open a file, or know what a record means.

A session's file can be a gigabyte, and what a list of sessions shows stands at its ends: the head up to the first
prompt, and the tail. The tail grows until it holds a whole line; it begins no earlier than where the head ended, so
that no record is read twice, and no later, so that none is lost in between where the two meet.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import msgspec

from hub.domain.intel import Limits
from hub.domain.intel_fold import Draft

_CHUNK = 1024 * 1024
_MAX_HEAD = 1024 * 1024
"""Bytes after which the search for the first prompt is given up."""
_MAX_TRIES = 64
_MAX_MEND = 1024 * 1024
"""Bytes of the longest broken line whose objects are looked for."""
_OBJECT = re.compile(r'\{\s*"')
_decode = msgspec.json.Decoder().decode
_lenient = json.JSONDecoder()


class Bytes(Protocol):
    """What is read from."""

    @property
    def size(self) -> int:
        """All bytes there are."""

    def at(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from there."""


class Fold(Protocol):
    """What takes the records."""

    draft: Draft

    def record(self, value: Mapping[str, Any]) -> None:
        """One record."""

    def gap(self) -> None:
        """Records were left out here."""


def feed(source: Bytes, limits: Limits, fold: Fold) -> None:
    """Gives the fold the records of the file, as many as the limits allow, in their order."""
    if source.size <= (limits.most if limits.whole else limits.head + limits.tail):
        _span(source, 0, limits, fold)
        return
    begun = _head(source, limits, fold)
    start = _tail(source, begun, limits)
    if start > begun:
        fold.draft.skipped(start - begun)
        fold.gap()
    if start == source.size:
        fold.draft.damaged()
    _span(source, start, limits, fold)


def _head(source: Bytes, limits: Limits, fold: Fold) -> int:
    """Reads from the beginning up to the first prompt; where the first line that was not read begins."""
    at, window = 0, limits.head
    while at < _MAX_HEAD and not (at and fold.draft.prompt):
        data = source.at(at, window)
        end = data.rfind(b"\n") + 1
        if not end:
            if window >= min(_MAX_HEAD, source.size):
                break
            window *= 2
            continue
        for line in data[:end].split(b"\n"):
            take(line, fold)
        at += end
    return at


def _tail(source: Bytes, begun: int, limits: Limits) -> int:
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


def _span(source: Bytes, at: int, limits: Limits, fold: Fold) -> None:
    """Every line from there on, with never more of the file in memory than the longest record."""
    rest, over = b"", False
    while data := source.at(at, min(_CHUNK, source.size - at)):
        at += len(data)
        *complete, last = data.split(b"\n")
        for line in complete:
            _line(rest + line, over=over, fold=fold)
            rest, over = b"", False
        rest = b"" if over else rest + last
        if len(rest) > limits.record:
            rest, over = b"", True
    _line(rest, over=over, fold=fold)


def _line(line: bytes, *, over: bool, fold: Fold) -> None:
    if over:
        fold.draft.damaged()
    else:
        take(line, fold)


def take(line: bytes, fold: Fold) -> None:
    """One line: its record, or the records that were glued together on it. A blank one is none."""
    line = line.strip()
    if not line:
        return
    try:
        value = _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _mend(line, fold)
        return
    if isinstance(value, dict):
        fold.record(value)
    else:
        fold.draft.damaged()


def _mend(line: bytes, fold: Fold) -> None:
    """A line that is no JSON: the objects that can be found on it, and a mark for what is none."""
    if len(line) > _MAX_MEND:
        fold.draft.damaged()
        return
    text = line.decode("utf-8", "replace")
    lost = False
    at = 0
    for tries, found in enumerate(_objects(text)):
        if tries >= _MAX_TRIES:
            break
        if found < at:
            continue
        value, end = _object(text, found)
        if value is None or (lost and end < len(text)):
            lost = True
            continue
        lost = lost or bool(text[at:found].strip())
        fold.record(value)
        at = end
    if lost or text[at:].strip():
        fold.draft.damaged()


def _objects(text: str) -> Iterator[int]:
    return (found.start() for found in _OBJECT.finditer(text))


def _object(text: str, at: int) -> tuple[dict[str, Any] | None, int]:
    try:
        value, end = _lenient.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at
    return (value, end) if isinstance(value, dict) else (None, at)


def whole(data: bytes) -> Mapping[str, Any] | None:
    """A document that is one JSON object or array (as `items`); None for everything else."""
    try:
        value: Any = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            value = json.loads(data.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            return None
    if isinstance(value, list):
        return {"items": value}
    return value if isinstance(value, dict) else None
