"""What a message promises to its sender.

Owns: the type of the answer. Must not: hold a message, or send one.
"""

from __future__ import annotations

from typing import Generic, TypeVar

A_co = TypeVar("A_co", covariant=True)


class Call(Generic[A_co]):
    """A message that is answered with an `A_co`: whoever sends it by `Ref.call` gets one, and the type checker knows."""

    __slots__ = ()
