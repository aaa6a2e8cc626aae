"""What every small value has in common: equality, hash and looks, written once.

Owns: these three for classes made with `attrs.frozen(eq=False, repr=False)`.
Must not: be used where a class is compared or hashed in a hot loop; methods that attrs writes for one class are faster.

attrs writes and compiles them anew for each class. That is more than half of what it costs to import one, and a daemon
imports a hundred before it answers.
"""

from __future__ import annotations

from typing import Any

import attrs


class Value:
    """Equal to another of the same class whose fields are equal; shown like any class of attrs, secrets left out."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return _compared(self) == _compared(other)

    def __hash__(self) -> int:
        return hash((self.__class__, _compared(self)))

    def __repr__(self) -> str:
        shown = (f"{field.name}={getattr(self, field.name)!r}" for field in _fields(self) if field.repr)
        return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _fields(value: object) -> tuple[attrs.Attribute[Any], ...]:
    found: tuple[attrs.Attribute[Any], ...] = attrs.fields(value.__class__)  # type: ignore[arg-type]
    return found


def _compared(value: object) -> tuple[object, ...]:
    return tuple(getattr(value, field.name) for field in _fields(value) if field.eq)
