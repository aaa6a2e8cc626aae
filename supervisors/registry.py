"""Names of actors, as a value that is passed in: there is no global one.

Owns: one slot for each name. Must not: know incarnations (a slot does).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from supervisors.mailbox import MailboxSpec
from supervisors.ref import Ref, Slot


class NameTaken(ValueError):
    """A name was given twice."""


class Registry:
    """Slots by name: registered while an incarnation runs, free when none does, the same after a restart."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots: dict[str, Slot[Any]] = {}

    def slot(self, name: str, mailbox: MailboxSpec) -> Slot[Any]:
        """Make the slot of this name.

        Raises:
            NameTaken: The name has one already.
        """
        return self.add(Slot(name, mailbox))

    def add(self, slot: Slot[Any]) -> Slot[Any]:
        """Enter a slot made elsewhere.

        Raises:
            NameTaken: The name has one already.
        """
        if slot.name in self._slots:
            raise NameTaken(f"there is already a slot named {slot.name!r}")
        self._slots[slot.name] = slot
        return slot

    def ref(self, name: str) -> Ref[Any]:
        """The ref of this name, whether it runs or not. Raises KeyError for a name nobody gave."""
        return self._slots[name].ref

    def whereis(self, name: str) -> Ref[Any] | None:
        """The ref of this name if an incarnation runs."""
        slot = self._slots.get(name)
        return slot.ref if slot is not None and slot.alive else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __contains__(self, name: object) -> bool:
        return name in self._slots
