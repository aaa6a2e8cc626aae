"""A value of a class of `hub.api`, of which a test says only what it is about.

Owns: what stands in the other fields: nothing, zero, the first of several.
Must not: be taken for what a daemon answers.
"""

from __future__ import annotations

from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import attrs

from hub.api.convert import fields_of, structure
from hub.api.meta import Unset

T = TypeVar("T")


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
