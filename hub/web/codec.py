"""Bytes to typed requests, answers to bytes.

Owns: reading a body or a query string into its `Body` or `Query`, and finding *every* field that does not
validate.
Must not: know a route or a framework.

Decided where the specification is silent: an unknown query parameter is refused like an unknown field (422),
and so is one that is given twice; the client that misspells `since` is told, not served the whole log.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import unquote_to_bytes

import msgspec

from hub.domain.canonical import StrictJsonError, parse_strict
from hub.domain.plain import plain_value
from hub.errors import Code, HubError

T = TypeVar("T")
MAX_PROBLEMS = 100
"""A body wrong in more places than this is told the first so many."""

_encoder = msgspec.json.Encoder()
_UNPLAIN = (b"\\u00", b"\\b", b"\\f", b"\\r", b"\x7f")
"""How JSON writes control characters but newline and tab, as ASCII."""
_INTEGER = re.compile(r"-?[0-9]{1,100}")
_hints = functools.cache(get_type_hints)
_fields = functools.cache(msgspec.structs.fields)
"""Both are made anew at each call, which takes longer than all else that is done to a query."""
_AT = re.compile(r" - at `\$(?P<path>.*)`$", re.DOTALL)


def encode(answer: Any) -> bytes:
    """The JSON of an answer, without anything that a terminal would act on or a reader cannot see.

    What comes from git, from files and from agents is shown here for the first time. Nearly every answer is seen
    to be plain from its bytes, a hundred times faster than by looking at each string.
    """
    data = _encoder.encode(answer)
    if data.isascii() and not any(mark in data for mark in _UNPLAIN):
        return data
    return _encoder.encode(plain_value(answer))


def encode_plain(answer: Any) -> bytes:
    """The same of an answer whose texts are known to be plain."""
    return _encoder.encode(answer)


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
    values: dict[str, str] = {}
    twice: list[str] = []
    for part in filter(None, raw.split(b"&")):
        name, _, value = part.partition(b"=")
        key = _text(name)
        if key in values:
            twice.append(key)
        values[key] = _text(value)
    if twice:
        raise _invalid([(f"$.{name}", "given more than once") for name in dict.fromkeys(twice)])
    return _typed(_numbers(values, kind), kind, path)


def _numbers(values: dict[str, str], kind: type) -> dict[str, Any]:
    """The values, those of integer fields as integers where they are written as one."""
    hints = _hints(kind)
    integers = {
        field.encode_name
        for field in _fields(kind)
        if int in (hints[field.name], *get_args(hints[field.name]))
    }
    return {
        name: int(value) if name in integers and _INTEGER.fullmatch(value) else value
        for name, value in values.items()
    }


def _document(data: bytes, *, optional: bool) -> Any:
    if optional and not data.strip():
        return {}
    try:
        return parse_strict(data)
    except StrictJsonError as error:
        raise HubError(
            Code.MALFORMED, f"The body is not JSON: {error}", line=error.line, column=error.column
        ) from error


def _text(quoted: bytes) -> str:
    try:
        return unquote_to_bytes(quoted.replace(b"+", b" ")).decode()
    except UnicodeDecodeError as error:
        raise HubError(Code.MALFORMED, "The query string is not UTF-8") from error


def _typed(value: Any, kind: type[T], path: Mapping[str, str]) -> T:
    problems = list(_clashes(value, path))
    if isinstance(value, dict):
        value = {**value, **path}
    problems += _problems(value, kind, "$")
    if problems:
        raise _invalid(problems)
    return msgspec.convert(value, kind)


def _clashes(value: Any, path: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    given = value if isinstance(value, dict) else {}
    return ((f"$.{name}", "is given by the path") for name in path if name in given)


def _invalid(problems: list[tuple[str, str]]) -> HubError:
    shown = problems[:MAX_PROBLEMS]
    where, what = shown[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return HubError(
        Code.INVALID, f"{where}: {what}{more}", errors=[{"path": at, "message": why} for at, why in shown]
    )


def _problems(value: Any, kind: Any, at: str) -> Iterator[tuple[str, str]]:
    """Every problem of `value`, where `msgspec.convert` tells the first only."""
    kind = _present(kind, value)
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if isinstance(bare, type) and issubclass(bare, msgspec.Struct) and isinstance(value, dict):
        yield from _problems_of_struct(value, bare, at)
        return
    items = get_args(bare)
    inner = list(_each(value, items[0], at)) if get_origin(bare) in _ARRAYS and items else []
    yield from inner or _problem(lambda: msgspec.convert(value, kind), at, _described(kind))


_ARRAYS = (list, tuple, set, frozenset)


def _present(kind: Any, value: Any) -> Any:
    """The `X` of an `X | None` when there is a value."""
    choices = [choice for choice in get_args(kind) if choice not in (NoneType, msgspec.UnsetType)]
    is_union = get_origin(kind) in (Union, UnionType)
    return choices[0] if is_union and value is not None and len(choices) == 1 else kind


def _each(value: Any, kind: Any, at: str) -> Iterator[tuple[str, str]]:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        yield from _problems(item, kind, f"{at}[{index}]")


def _problems_of_struct(
    value: dict[str, Any], kind: type[msgspec.Struct], at: str
) -> Iterator[tuple[str, str]]:
    hints = _hints(kind, include_extras=True)
    fields = {field.encode_name: field for field in _fields(kind)}
    for name in value:
        if name not in fields:
            yield f"{at}.{name}", "unknown; known are " + (", ".join(sorted(fields)) or "none")
    found = False
    for name, field in fields.items():
        if name in value:
            for problem in _problems(value[name], hints[field.name], f"{at}.{name}"):
                found = True
                yield problem
        elif field.required:
            found = True
            yield f"{at}.{name}", "missing"
    if not found:  # rules over the whole, such as a check in __post_init__
        known = {name: item for name, item in value.items() if name in fields}
        yield from _problem(lambda: msgspec.convert(known, kind), at)


def _problem(attempt: Callable[[], Any], at: str, described: str = "") -> Iterator[tuple[str, str]]:
    try:
        attempt()
    except msgspec.ValidationError as error:
        text = str(error)
        inner = _AT.search(text)
        what = _AT.sub("", text)
        if "matching regex" in what and described:  # a pattern is for programs to read
            what = f"{what}; {described}"
        yield at + (inner["path"] if inner else ""), what


def _described(kind: Any) -> str:
    """What the field's description says of what it takes."""
    if get_origin(kind) is not Annotated:
        return ""
    return next(
        (
            item.description
            for item in get_args(kind)[1:]
            if isinstance(item, msgspec.Meta) and item.description
        ),
        "",
    )


def required(kind: Any) -> bool:
    """Whether a request of this kind cannot go without a body."""
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    return get_origin(bare) in _ARRAYS or any(field.required for field in _fields(kind))
