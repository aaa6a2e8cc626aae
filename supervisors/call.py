"""What a message promises to its sender.

Owns: the type of the answer, and its first outcome.
Must not: hold a message, or send one; block or fail the one who answers, whatever became of the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, NewType, Protocol, Self, TypeVar, cast

import outcome
import trio

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


DEFER: Final = Answer(object())
"""What `Actor.answer_later` returns: the call is answered later, through the `Reply` of its context."""


class Reply:
    """The answer to one call: set once, by anyone, at any time.

    Setting it never blocks and never fails: the first outcome wins, and one that comes after the caller gave
    up is dropped.
    A channel would raise in the *answering* actor when the caller is gone.
    """

    __slots__ = ("_event", "_outcome", "_owner")

    def __init__(self) -> None:
        self._event = trio.Event()
        self._outcome: outcome.Outcome[Any] | None = None
        self._owner: set[Reply] | None = None

    def answer(self, value: object) -> None:
        """Give the caller a value."""
        self._set(outcome.Value(value))

    def fail(self, error: BaseException) -> None:
        """Give the caller an exception."""
        self._set(outcome.Error(error))

    def defer(self, owner: set[Reply]) -> None:
        """Be listed in `owner` until it is set."""
        if self._outcome is None:
            self._owner = owner
            owner.add(self)

    def _set(self, result: outcome.Outcome[object]) -> None:
        if self._outcome is not None:
            return
        self._outcome = result
        self._event.set()
        if self._owner is not None:
            self._owner.discard(self)
            self._owner = None

    async def wait(self) -> Any:
        """The value, or the exception raised; only one task may wait."""
        await self._event.wait()
        return cast("outcome.Outcome[Any]", self._outcome).unwrap()
