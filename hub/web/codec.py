"""Bytes to typed requests, answers to bytes.

Owns: what is JSON and what is a query string, and what is told of one that does not validate.
Must not: know a route or a framework.

Decided where the specification is silent: an unknown query parameter is refused like an unknown field (422),
and so is one that is given twice; the client that misspells `since` is told, not served the whole log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_args
from urllib.parse import parse_qsl

import attrs
import msgspec

from hub.api.convert import ProblemsError, fields_of, is_required, structure
from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.config.schema import SettingProblem, invalid
from hub.domain.text.plain import plain_value
from hub.errors import Code, HubError

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_UNPLAIN = (b"\\u00", b"\\b", b"\\f", b"\\r", b"\x7f")
"""How JSON writes control characters but newline and tab, as ASCII."""
_INTEGER = re.compile(r"-?[0-9]{1,100}")


def encode(answer: object) -> bytes:
    """The JSON of an answer, without anything that a terminal would act on or a reader cannot see.

    What comes from git, from files and from agents is shown here for the first time. Nearly every answer is seen
    to be plain from its bytes, a hundred times faster than by looking at each string. A class whose fields are named
    as on the wire may come as it is, where its texts are known to be plain.
    """
    data = _encoder.encode(answer)
    if data.isascii() and not any(mark in data for mark in _UNPLAIN):
        return data
    return _encoder.encode(plain_value(answer))


def decode_body(data: bytes, kind: type[T], path: Mapping[str, str]) -> T:
    """A request's body, with the parameters of its path, as `kind`.

    Raises:
        HubError: `malformed` for what is not strict JSON, `invalid` with every problem otherwise.
    """
    return _typed(_document(data, optional=not required(kind)), kind, path)


def decode_query(raw: bytes, kind: type[T], path: Mapping[str, str]) -> T:
    """A query string, with the parameters of the path, as `kind`.

    Raises:
        HubError: `malformed` for bad UTF-8, `invalid` with every problem otherwise.
    """
    try:
        pairs = parse_qsl(raw.decode(), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError as error:
        raise HubError(Code.MALFORMED, "The query string is not UTF-8") from error
    values = dict(pairs)
    given = Counter(name for name, _ in pairs)
    if twice := [name for name in values if given[name] > 1]:
        raise invalid([SettingProblem((name,), "given more than once") for name in twice])
    return _typed(_numbers(values, kind), kind, path)


def _numbers(values: dict[str, str], kind: type) -> dict[str, object]:
    """The values, those of integer fields as integers where they are written as one."""
    integers = _integers(kind)
    return {
        name: int(value) if name in integers and _INTEGER.fullmatch(value) else value
        for name, value in values.items()
    }


@cache
def _integers(kind: type) -> frozenset[str]:
    return frozenset(name for name, field in fields_of(kind).items() if _whole(field.type))


def _whole(kind: object) -> bool:
    return kind is int or any(map(_whole, get_args(kind)))


def _document(data: bytes, *, optional: bool) -> Any:
    if optional and not data.strip():
        return {}
    try:
        return parse_strict(data)
    except StrictJsonError as error:
        raise HubError(
            Code.MALFORMED, f"The body cannot be read as JSON: {error}", line=error.line, column=error.column
        ) from error


def _typed(value: object, kind: type[T], path: Mapping[str, str]) -> T:
    given = value if isinstance(value, dict) else {}
    problems = [SettingProblem((name,), "is given by the path") for name in path if name in given]
    if isinstance(value, dict):
        value = {**value, **path}
    try:
        found = structure(value, kind)
    except ProblemsError as error:
        raise invalid(problems + error.found) from error
    if problems:
        raise invalid(problems)
    return found


def required(kind: Any) -> bool:
    """Whether a request of this kind cannot go without a body."""
    return not attrs.has(kind) or any(map(is_required, fields_of(kind).values()))
