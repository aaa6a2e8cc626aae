"""A value of a class of `hub.api`, of which a test says only what it is about.

Owns: what stands in the other fields: nothing, zero, the first of several; or, of a whole one, something in each.
Must not: be taken for what a daemon answers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, is_typeddict

import attrs

from hub.api.convert import fields_of, keys_of, metas, structure
from hub.api.meta import Timestamp, Unset

T = TypeVar("T")
_INSTANT = "2026-01-01T00:00:00.000Z"
_TEXTS = ("text", "0" * 40)
_DEEP = 6
"""Classes within classes: one may hold itself."""


def sample(kind: type[T], /, **given: Any) -> T:
    """One of that class; `given` has the names of the wire."""
    return structure({**_document(kind), **given}, kind)


def _document(kind: Any) -> dict[str, Any]:
    required = {name: field for name, field in fields_of(kind).items() if field.default is attrs.NOTHING}
    return {name: _least(field.type) for name, field in required.items()}


def _least(kind: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _least(inner[0])
    if origin is Literal:
        return inner[0]
    if origin in (list, dict):
        return origin()
    if inner:  # a union
        return None if NoneType in inner else _least(next(one for one in inner if one is not Unset))
    if attrs.has(kind):
        return _document(kind)
    return next(iter(kind)).value if issubclass(kind, Enum) else kind()


def whole(kind: type[T], /, **given: Any) -> T:
    """One of that type with something in every field, and one item in every list."""
    return structure({**_most(kind), **given} if given else _most(kind), kind)


def _most(kind: Any, deep: int = 0) -> Any:  # noqa: PLR0911  # a table of types
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        if set(get_args(Timestamp)[1:]) <= set(inner[1:]):
            return _INSTANT
        patterns = [found.pattern for found in metas(kind) if found.pattern]
        fitting = (text for text in _TEXTS if all(re.search(pattern, text) for pattern in patterns))
        return next(fitting) if inner[0] is str else _most(inner[0], deep)
    if origin is Literal:
        return inner[0]
    if origin in (list, tuple, Sequence):
        return [] if deep > _DEEP else [_most(inner[0], deep)]
    if origin in (dict, Mapping):
        return {"key": _most(inner[1], deep)}
    if inner:  # a union
        return _most(next(one for one in inner if one not in (NoneType, Unset)), deep)
    if attrs.has(kind):
        return {name: _most(field.type, deep + 1) for name, field in fields_of(kind).items()}
    if is_typeddict(kind):
        return {name: _most(keys_of(kind)[name], deep) for name in kind.__required_keys__}
    plain = {str: "text", int: 1, float: 0.5, bool: True, Any: "text", object: "text"}
    return plain[kind] if kind in plain else next(iter(kind)).value
