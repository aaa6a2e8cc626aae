"""Who is connected, and who gives way when there is no room.

Owns: how many connections there may be, this user's and others' apart.
Must not: end a connection for which something is carried out.

Whoever only opens connections, or sends half of a request, holds a place for as long as nobody else wants it: the oldest of
those gives way to the next connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

MAX_CONNECTIONS = 512
MAX_OTHERS = 32
"""Connections of other users, who can be told no more than that they are others."""


class CrowdMember(Protocol):
    """A connection."""

    @property
    def foreign(self) -> bool:
        """Whether it is another user's."""

    @property
    def waits(self) -> bool:
        """Whether nothing is carried out for it: no request has come, or not all of one."""

    @property
    def served(self) -> bool:
        """Whether a request of its has been answered."""

    def leave(self) -> None:
        """End, without an answer."""


M = TypeVar("M", bound=CrowdMember)


class Crowd(Generic[M]):
    """The connections that are open, oldest first."""

    def __init__(self) -> None:
        self._own: dict[M, None] = {}
        self._others: dict[M, None] = {}

    def __len__(self) -> int:
        return len(self._own) + len(self._others)

    def __iter__(self) -> Iterator[M]:
        return iter((*self._own, *self._others))

    def admit(self, member: M) -> bool:
        """Take in a connection, in the place of another if need be; False when none can give way."""
        room, most = (self._others, MAX_OTHERS) if member.foreign else (self._own, MAX_CONNECTIONS)
        if len(room) >= most and not _give_way(room):
            return False
        room[member] = None
        return True

    def left(self, member: M) -> None:
        """It has ended."""
        self._own.pop(member, None)
        self._others.pop(member, None)

    def relieve(self, *, served: bool = True) -> bool:
        """End one connection for which nothing is done, another user's first; False when there is none.

        `served`: whether one that has been answered, and waits for its next request, may give way, too.
        """
        return _give_way(self._others, served=served) or _give_way(self._own, served=served)


def _give_way(room: dict[M, None], *, served: bool = True) -> bool:
    # Nearly always the very first: whoever has been served, and waits for its next request, gives way last.
    waiting = (member for member in room if member.waits)
    unserved = (member for member in room if member.waits and not member.served)
    found = next(unserved, None) or (next(waiting, None) if served else None)
    if found is None:
        return False
    del room[found]
    found.leave()
    return True
