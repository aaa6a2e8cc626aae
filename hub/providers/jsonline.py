"""Reading a line that an agent wrote: it may be anything.

Owns: bytes -> JSON object or nothing, and readers that take a value apart without trusting its type.
Must not: raise, whatever the bytes are; know any one agent's format.

Guarantees for every value that comes out of this module: strings are valid Unicode without NUL, integers lie
within +-2^53, `excerpt` is small and shallow and `Whole` bounded; so all of it can enter an event's meta, the
event log and a signed contract.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from hub.domain.event import Event
from hub.domain.text.safe import cap as cap  # noqa: PLC0414  # part of the API
from hub.domain.text.safe import whole_words

MAX_INT = 2**53
_MILLIS = 1e11
"""From here on a number of seconds is one of milliseconds."""
_NUMBER = re.compile(r"\d{1,16}(?:\.\d{1,9})?", re.ASCII)
_EXCERPT_TEXT = 400
_EXCERPT_ITEMS = 16
_EXCERPT_DEPTH = 3
_WHOLE_TEXT = 65_536
_WHOLE_ITEMS = 512
_WHOLE_DEPTH = 8
_UNKNOWN_TEXT = 1_000
_REPLACEMENT = "\ufffd"


def read(line: bytes) -> dict[str, object] | None:
    """The JSON object on the line; None when there is none that can be read.

    Invalid UTF-8 and lone surrogates inside an object are replaced, so that a torn character costs itself
    and not the line. Numbers that no double holds come out as what `integer` and `number` refuse.
    """
    found = value(line)
    return found if isinstance(found, dict) else None


def value(data: bytes) -> object:
    """What the bytes say as JSON, whatever it is; None when it cannot be read. See `read`."""
    import msgspec  # whoever only takes values apart does without

    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        # ValueError covers malformed JSON and integers of more than 4,300 digits.
        return None


def unknown(line: bytes) -> Event:
    """The event for a line that could not be read: kept, cut and marked."""
    from hub.domain.event import Event, EventType  # as above

    text = clean(line[: 4 * _UNKNOWN_TEXT].decode("utf-8", "replace"))[:_UNKNOWN_TEXT]
    return Event(EventType.SYSTEM, text, {"unknown": True, "bytes": len(line)})


def clean(text: str) -> str:
    """The text without NUL and without lone surrogates."""
    if text.isascii():
        return text.replace("\0", _REPLACEMENT)
    return text.replace("\0", _REPLACEMENT).encode("utf-8", "replace").decode()


def text(value: object) -> str:
    """The string, cleaned; "" for everything else."""
    if type(value) is str and value.isascii() and "\0" not in value:  # nearly all there are
        return value
    return clean(value) if isinstance(value, str) else ""


def mapping(value: object) -> Mapping[str, object]:
    """The object; an empty one for everything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> Sequence[object]:
    """The array; an empty one for everything else."""
    return value if isinstance(value, list) else ()


def texts(value: object) -> list[str]:
    """The strings of an array, cleaned."""
    return [clean(item) for item in items(value) if isinstance(item, str)]


def number(value: object) -> float | None:
    """A finite number within +-2^53; never a bool."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return float(value) if -MAX_INT <= value <= MAX_INT else None


def integer(value: object) -> int | None:
    """A number as an integer (a fraction is cut off); None where `number` is."""
    if type(value) is int and -MAX_INT <= value <= MAX_INT:  # nearly all there are
        return value
    found = number(value)
    return None if found is None else int(found)


def count(value: object) -> int:
    """An amount that cannot be negative; 0 for everything else."""
    if type(value) is int and 0 <= value <= MAX_INT:  # as above
        return value
    return max(0, integer(value) or 0)


def instant(value: object) -> float | None:
    """Epoch seconds of an ISO time (no zone is UTC) or a number of seconds or milliseconds, as one or as a text.

    None for anything else, and for what no calendar has.
    """
    if isinstance(value, str):
        try:
            found = None if _NUMBER.fullmatch(value) else datetime.fromisoformat(value)
        except ValueError:
            return None
        value = (
            float(value)
            if found is None
            else (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        )
    seconds = number(value) or 0.0
    if seconds >= _MILLIS:
        seconds /= 1000
    return seconds if 0 < seconds < _MILLIS else None


def excerpt(value: object, depth: int = _EXCERPT_DEPTH) -> object:
    """The value, small: long strings cut, long arrays and deep places dropped, numbers made safe."""
    if isinstance(value, (dict, list)):
        return _container(value, depth - 1) if depth > 0 else "…"
    if isinstance(value, str):
        short = clean(value[: _EXCERPT_TEXT + 1])
        return short if len(value) <= _EXCERPT_TEXT else whole_words(short[:_EXCERPT_TEXT]) + "…"
    if value is None or isinstance(value, bool):
        return value
    return integer(value)


def _container(value: dict[object, object] | list[object], depth: int) -> object:
    if isinstance(value, list):
        return [excerpt(inner, depth) for inner in value[:_EXCERPT_ITEMS]]
    pairs = list(value.items())[:_EXCERPT_ITEMS]
    return {clean(str(name))[:_EXCERPT_TEXT]: excerpt(inner, depth) for name, inner in pairs}


class Whole:
    """A value as a person is asked about it: all of it within wide bounds, and whether anything was left out.

    `excerpt` is no measure of what may be approved: what it drops would be allowed unseen.
    """

    def __init__(self, value: object) -> None:
        self.cut = False
        self._texts, self._items = _WHOLE_TEXT, _WHOLE_ITEMS
        self.value = self._take(value, _WHOLE_DEPTH)

    def _take(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return self._number(value)
        if not isinstance(value, (dict, list)) or depth == 0:
            self.cut = True
            return "…"
        most = min(len(value), self._items)
        self._items -= most
        self.cut = self.cut or most < len(value)
        if isinstance(value, list):
            return [self._take(inner, depth - 1) for inner in value[:most]]
        pairs = list(value.items())[:most]
        taken = {self._text(str(name)): self._take(inner, depth - 1) for name, inner in pairs}
        self.cut = self.cut or len(taken) < most  # two names that read the same
        return taken

    def _text(self, value: str) -> str:
        short = clean(value[: self._texts])
        self._texts -= len(short)
        if len(short) == len(value):
            return short
        self.cut = True
        return whole_words(short) + "…"

    def _number(self, value: object) -> object:
        """As it is; one that an event cannot hold in words."""
        if (found := integer(value)) == value:
            return found
        if isinstance(value, float):
            return repr(value)
        self.cut = True
        return None
