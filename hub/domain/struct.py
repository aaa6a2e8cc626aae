"""A small frozen value, made without attrs: for what a look at the machine imports.

Owns: how its fields become its slots, its constructor, equality, hash and looks; a copy with changes.
Must not: import what the interpreter has not imported, or be used where values are made in a hot loop: a constructor that
attrs writes is faster.

Importing attrs takes 19 ms, as much as the bare interpreter, and each class that it makes 200 us more. A class here costs
30 us, for nothing is compiled. Type checkers know it as they know a dataclass.
"""

from __future__ import annotations

from types import MappingProxyType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Self, dataclass_transform
else:

    def dataclass_transform(**_):  # noqa: ANN003, ANN201  # typed above
        """What tells a type checker only."""
        return lambda made: made


@dataclass_transform(frozen_default=True)
class _Made(type):
    """Makes slots of the annotations, and defaults of the values beside them."""

    _defaults: Mapping[str, Any]

    def __new__(
        cls,
        name: str,
        bases: tuple[type, ...],
        space: dict[str, Any],
        *,
        hidden: tuple[str, ...] = (),
        kw_only: bool = False,  # noqa: ARG004  # the type checker's
    ) -> _Made:
        own = tuple(space.get("__annotations__", ()))
        defaults = {field: space.pop(field) for field in own if field in space}
        made = super().__new__(cls, name, bases, {**space, "__slots__": own})
        fields = [field for base in reversed(made.__mro__) for field in base.__dict__.get("__slots__", ())]
        made._fields = tuple(fields)  # type: ignore[attr-defined]  # its own
        made._defaults = {**getattr(made, "_defaults", {}), **defaults}  # as above
        made._hidden = (*getattr(made, "_hidden", ()), *hidden)  # type: ignore[attr-defined]  # as above
        return made

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **_: object) -> None:
        super().__init__(name, bases, space)


class Struct(metaclass=_Made):
    """Frozen; equal to another of the same class whose fields are equal.

    A subclass is written as a dataclass is. `hidden` names fields that are not shown. A default is shared by all values, so
    it must be one that nobody changes.
    """

    if TYPE_CHECKING:
        _fields: ClassVar[tuple[str, ...]]
        _hidden: ClassVar[tuple[str, ...]]
    else:

        def __init__(self, *given, **named):  # noqa: ANN002, ANN003, ANN204  # each subclass has its own, for type checkers
            fields = self._fields
            told = {**self._defaults, **dict(zip(fields, given)), **named}  # noqa: B905  # defaults are the rest
            if len(told) != len(fields) or len(given) > len(fields):
                wrong = sorted(set(fields).symmetric_difference(told))
                raise TypeError(f"{type(self).__qualname__}: missing or unexpected: {', '.join(wrong)}")
            for name, value in told.items():
                _put(self, name, value)

    def but(self, **changes: Any) -> Self:
        """The same with other values in these fields."""
        return type(self)(**{**dict(zip(self._fields, self.values(), strict=True)), **changes})

    def values(self) -> tuple[Any, ...]:
        """Of all fields, in their order."""
        return tuple([getattr(self, name) for name in self._fields])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__qualname__} is frozen: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__qualname__} is frozen: {name}")

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self.values() == other.values()

    def __hash__(self) -> int:
        return hash((self.__class__, self.values()))

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self._fields if name not in self._hidden)
        return f"{type(self).__qualname__}({', '.join(shown)})"


NOTHING: Mapping[str, Any] = MappingProxyType({})
"""An empty mapping that nobody can change."""
_put = object.__setattr__
