"""What a message promises to its sender.

Owns: the type of the answer. Must not: hold a message, or send one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NewType, Protocol, Self, TypeVar

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
M_co = TypeVar("M_co", covariant=True)

Answer = NewType("Answer", object)
"""What `Actor.handle` returns for a call: made by the message itself, so that it is what was promised."""
NOTHING: Final = Answer(object())
"""The answer None, told apart from no answer."""


class Call(Generic[A]):
    """A message that is answered with an `A`: whoever sends it by `Ref.call` gets one, and the type checker knows."""

    __slots__ = ()

    def answer(self, value: A) -> Answer:
        """The value, as what answers this message and no other."""
        return NOTHING if value is None else Answer(value)

    if TYPE_CHECKING:

        def _sent(self) -> tuple[Self, A]: ...


class Cast:
    """A message that nobody waits for: `Ref.cast` sends it."""

    __slots__ = ()

    def handled(self) -> Answer:
        """What `Actor.handle` returns for it; a call has no such thing, so the type checker finds one left unanswered."""
        return NOTHING


class Sent(Protocol[M_co, A_co]):
    """A call out of the inbox `M_co`, answered with an `A_co`: what a `Ref` of that inbox takes."""

    def _sent(self) -> tuple[M_co, A_co]: ...
