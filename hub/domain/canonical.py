"""One byte form for one value: what is signed, hashed and audited.

Owns: RFC 8785 on restricted data (strings, booleans, null, integers within +-(2^53 - 1), lists, objects), and
the strict reading of JSON.
Must not: write a float, guess at a value it cannot hold, or let two readings of one text exist.

msgspec's sorted encoder writes the same bytes as RFC 8785 for such data, but for one thing: it orders keys by code
point, RFC 8785 by UTF-16 unit. The two differ only when an object has a key beyond the Basic Multilingual Plane; such
a value is ordered first. The library `rfc8785` is the judge in the tests.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec

MAX_INT = 2**53 - 1
MAX_DEPTH = 64
_TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
_SHOWN = 40
"""Characters of a key or a number that an error names."""

_encode = msgspec.json.Encoder(order="sorted").encode
_LAST_BMP = "\uffff"
_PLAIN = frozenset((str, bool, type(None)))


class NotCanonicalError(ValueError):
    """A value has no canonical form; the message names the place."""


class StrictJsonError(ValueError):
    """A text is not the JSON hub reads.

    Attributes:
        reason: What is wrong; a rule that is broken names the key or the number.
        line: Where the grammar is broken, from 1; None where a rule is.
        column: Likewise.
    """

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        self.reason = reason
        self.line = line
        self.column = column
        super().__init__(reason if line is None else f"{reason} (line {line}, column {column})")


def canonical(value: object) -> bytes:
    """The RFC 8785 form of `value`.

    Raises:
        NotCanonicalError: A float, an integer beyond 2^53 - 1, a lone surrogate, a key that is no string, a
            type JSON does not have, or nesting deeper than 64.
    """
    astral = _check(value, 0)
    try:
        return msgspec.json.encode(_ordered(value)) if astral else _encode(value)
    except UnicodeEncodeError as error:
        raise NotCanonicalError("a string holds half a surrogate pair") from error


def _ordered(value: object) -> object:
    """The value with the members of its objects in the order of their names' UTF-16 units."""
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


def _check(value: Any, depth: int) -> bool:
    """Refuses what has no canonical form; tells whether a key needs the UTF-16 order.

    Each record of the audit log comes through here, so exact types are asked first and plain members of an
    object or a list cost no call.
    """
    kind = type(value)
    if kind in _PLAIN:
        return False
    if kind is int or isinstance(value, int):
        if not -MAX_INT <= value <= MAX_INT:
            raise NotCanonicalError("an integer is beyond 2^53 - 1")
        return False
    if isinstance(value, str):
        return False
    if depth >= MAX_DEPTH:
        raise NotCanonicalError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, dict):
        astral = _beyond_bmp(value)
        items: Iterable[Any] = value.values()
    elif isinstance(value, list | tuple):
        astral, items = False, value
    else:
        raise NotCanonicalError(f"a {kind.__name__} has no canonical form")
    for item in items:
        if type(item) not in _PLAIN and _check(item, depth + 1):
            astral = True
    return astral


def _beyond_bmp(keys: Iterable[Any]) -> bool:
    """Whether a key has a character beyond the Basic Multilingual Plane."""
    try:
        joined = "".join(keys)
    except TypeError:
        raise NotCanonicalError("a key is not a string") from None
    return not joined.isascii() and max(joined) > _LAST_BMP


def parse_strict(data: bytes) -> object:
    """The value of a JSON text that has exactly one reading.

    Raises:
        StrictJsonError: Malformed JSON, bad UTF-8, a duplicate key, NaN or an infinity (spelled or by overflow),
            an integer beyond 2^53 - 1, half a surrogate pair, nesting deeper than 64.
    """
    try:
        text = data.decode("utf-8")
        value = _decoder.decode(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StrictJsonError("not UTF-8", line, error.start - data.rfind(b"\n", 0, error.start)) from error
    except json.JSONDecodeError as error:
        raise StrictJsonError(error.msg, error.lineno, error.colno) from error
    except RecursionError as error:
        raise StrictJsonError(_TOO_DEEP) from error
    if b"\\u" in data or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _insist(value, 0)
    return value


def _insist(value: object, depth: int) -> None:
    """Refuses what the reader lets through, and only some texts can hold."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= unit <= "\udfff" for unit in value):
            raise StrictJsonError("half a surrogate pair")
    elif isinstance(value, dict | list):
        if depth >= MAX_DEPTH:
            raise StrictJsonError(_TOO_DEEP)
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            _insist(item, depth + 1)


def no_constant(name: str) -> NoReturn:
    """What a reader of JSON does with `NaN` and the infinities, which Python would take.

    Raises:
        StrictJsonError: Always.
    """
    raise StrictJsonError(f"{name} is not JSON")


def _int(digits: str) -> int:
    if len(digits) > len(str(MAX_INT)) + 1 or not -MAX_INT <= (number := int(digits)) <= MAX_INT:
        raise StrictJsonError(f"a number out of range: {digits[:_SHOWN]}")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise StrictJsonError(f"a number out of range: {digits[:_SHOWN]}")
    return number


def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of these members, each of which it may have once.

    Raises:
        StrictJsonError: One key is there twice: a reader takes the first or the last, and another the other.
    """
    value = dict(pairs)
    if len(value) != len(pairs):
        [(key, _), *_] = Counter(key for key, _ in pairs).most_common(1)
        raise StrictJsonError(f"duplicate key {key[:_SHOWN]!r}")
    return value


_decoder = json.JSONDecoder(
    object_pairs_hook=unique, parse_int=_int, parse_float=_float, parse_constant=no_constant
)
