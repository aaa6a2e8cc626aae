"""One byte form for one value: what is signed, hashed and audited.

Owns: RFC 8785 on restricted data (strings, booleans, null, integers within +-(2^53 - 1), lists, objects), and
the strict reading of JSON.
Must not: write a float, guess at a value it cannot hold, or let two readings of one text exist.

msgspec's sorted encoder writes the same bytes as RFC 8785 for such data, some twenty times faster, but for one
thing: it orders keys by code point, RFC 8785 by UTF-16 unit. The two differ only when an object has a key beyond
the Basic Multilingual Plane; such a value takes the slow path.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, NoReturn

import msgspec
import rfc8785

MAX_INT = 2**53 - 1
MAX_DEPTH = 64

_encode = msgspec.json.Encoder(order="sorted").encode
_LAST_BMP = "\uffff"
_PLAIN = frozenset((str, bool, type(None)))


class NotCanonicalError(ValueError):
    """A value has no canonical form; the message names the place."""


class StrictJsonError(ValueError):
    """A text is not the JSON hub reads.

    Attributes:
        position: Index of the offending character (of the offending byte for bad UTF-8).
        line: Its line, from 1.
        column: Its column, from 1.
    """

    def __init__(self, reason: str, text: str | bytes, position: int) -> None:
        newline = b"\n" if isinstance(text, bytes) else "\n"
        self.reason = reason
        self.position = position
        self.line = text.count(newline, 0, position) + 1  # type: ignore[arg-type]
        self.column = position - text.rfind(newline, 0, position)  # type: ignore[arg-type]
        super().__init__(f"{reason} (line {self.line}, column {self.column})")


def canonical(value: Any) -> bytes:
    """The RFC 8785 form of `value`.

    Raises:
        NotCanonicalError: A float, an integer beyond 2^53 - 1, a lone surrogate, a key that is no string, a
            type JSON does not have, or nesting deeper than 64.
    """
    astral = _check(value, 0)
    try:
        return rfc8785.dumps(value) if astral else _encode(value)
    except UnicodeEncodeError as error:
        raise NotCanonicalError("a string holds half a surrogate pair") from error
    except rfc8785.CanonicalizationError as error:
        raise NotCanonicalError(str(error)) from error


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


class _Refused(Exception):  # noqa: N818  # never leaves this module
    """Raised by the fast reader's hooks; the walker then finds the place."""


def parse_strict(data: bytes) -> Any:
    """The value of a JSON text that has exactly one reading.

    Raises:
        StrictJsonError: Malformed JSON, bad UTF-8, a duplicate key, NaN or an infinity (spelled or by overflow),
            an integer beyond 2^53 - 1, half a surrogate pair, nesting deeper than 64.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise StrictJsonError("not UTF-8", data, error.start) from error
    if b"\\u" in data or data.count(b"[") + data.count(b"{") > MAX_DEPTH:
        _walk(text)
    try:
        return _decoder.decode(text)
    except json.JSONDecodeError as error:
        raise StrictJsonError(error.msg, text, error.pos) from error
    except _Refused as refused:
        _walk(text)
        # Not reached while the walker knows every rule of the reader's hooks; if it forgot one, still refused.
        raise StrictJsonError("breaks a rule", text, 0) from refused  # pragma: no cover


def _refuse(_: Any) -> NoReturn:
    raise _Refused


def _int(digits: str) -> int:
    if len(digits) > len(str(MAX_INT)) + 1 or not -MAX_INT <= (number := int(digits)) <= MAX_INT:
        raise _Refused
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise _Refused
    return number


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused
    return value


_decoder = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_int, parse_float=_float, parse_constant=_refuse
)

_TOKEN = re.compile(
    r'(?P<open>[\[{])|(?P<close>[\]}])|(?P<string>"(?:[^"\\]|\\.)*")(?P<key>[ \t\r\n]*:)?'
    r"|(?P<number>-?\d+(?P<fraction>(?:\.\d+)?(?:[eE][+-]?\d+)?))|(?P<constant>NaN|-?Infinity)|.",
    re.DOTALL,
)


def _walk(text: str) -> None:
    """Finds the first place where `text` breaks a rule that JSON's own grammar does not have.

    It knows nothing of grammar: malformed text passes, and is left to the reader.
    """
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        at = token.start()
        if token["open"]:
            if len(keys) >= MAX_DEPTH:
                raise StrictJsonError(f"nested deeper than {MAX_DEPTH}", text, at)
            keys.append(set())
        elif token["close"]:
            del keys[-1:]
        elif token["string"]:
            string = _string(token["string"], text, at)
            if token["key"] and keys:
                if string in keys[-1]:
                    raise StrictJsonError(f"duplicate key {string!r}", text, at)
                keys[-1].add(string)
        elif token["number"]:
            _number(token["number"], token["fraction"], text, at)
        elif token["constant"]:
            raise StrictJsonError(f"{token['constant']} is not JSON", text, at)


def _string(quoted: str, text: str, at: int) -> str:
    try:
        string = str(json.loads(quoted))
    except ValueError:
        return quoted
    if not string.isascii() and any("\ud800" <= unit <= "\udfff" for unit in string):
        raise StrictJsonError("half a surrogate pair", text, at)
    return string


def _number(digits: str, fraction: str, text: str, at: int) -> None:
    try:
        _float(digits) if fraction else _int(digits)
    except _Refused:
        raise StrictJsonError("a number out of range", text, at) from None
