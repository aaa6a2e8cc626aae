"""What the fold of a session's intent remembers between two events.

Owns: `Memory`, which can be kept and gone on with, the limits of what is remembered, and the record of what has changed.
Must not: read an event, or decide what counts (`fold` does).
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

import attrs

from hub.domain.contract import Sourced
from hub.domain.intent.activity import Calls
from hub.domain.intent.plan import MAX_ITEMS, Plan
from hub.domain.intent.statements import StatementKind
from hub.domain.intent.upcoming import Upcoming

_T = TypeVar("_T")


@attrs.frozen
class RanCommand:
    """A command the agent ran, as its newest run ended."""

    command: str
    exit_code: int | None
    """None when the agent does not tell it."""
    failed: bool
    source: int


@attrs.frozen
class Touched:
    """A file the agent named in a tool call."""

    path: str
    written: bool
    source: int


@attrs.frozen
class InFlight:
    """Code of a newest edit; unfinished where its tool call has not ended."""

    path: str
    snippet: str
    finished: bool
    source: int


class Section(StrEnum):
    """A collection of which each item stands for itself."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    DO_NOT_REDO = "do_not_redo"
    """Said to be done; what a plan says is with the plan."""
    FILE = "file"
    COMMAND = "command"
    FAILURE = "failure"


SECTION_OF = {
    StatementKind.DECISION: Section.DECISION,
    StatementKind.CONSTRAINT: Section.CONSTRAINT,
    StatementKind.DO_NOT_REDO: Section.DO_NOT_REDO,
}


class Fate(StrEnum):
    """What became of an item."""

    KEPT = "kept"
    """It came, or came again: it is the newest."""
    FILLED = "filled"
    """It tells more, and stays where it is among the others."""
    GAVE_WAY = "gave_way"
    """It still holds, but there is no room for it."""
    GONE = "gone"
    """It no longer holds."""


@attrs.frozen
class ItemChange:
    """What became of one item."""

    section: Section
    key: str
    fate: Fate
    order: int
    """Greater than that of whatever was kept before; of no matter where the item was not kept anew."""


@attrs.define
class Memory:
    """The fold's whole memory. Every dictionary has its newest item last."""

    prompt: str = ""
    root: str = ""
    last_id: int = 0
    calls: Calls = attrs.field(factory=Calls)
    plan: Plan = attrs.field(factory=Plan)
    next: Upcoming = attrs.field(factory=Upcoming)
    said: dict[Section, dict[str, int]] = attrs.field(
        factory=lambda: {section: {} for section in SECTION_OF.values()}
    )
    loaded: dict[str, int] = attrs.field(factory=dict)
    used: dict[str, int] = attrs.field(factory=dict)
    mcps: dict[str, int] = attrs.field(factory=dict)
    model: Sourced | None = None
    files: dict[str, Touched] = attrs.field(factory=dict)
    edits: dict[int, InFlight] = attrs.field(factory=dict)
    commands: dict[str, RanCommand] = attrs.field(factory=dict)
    failures: dict[str, Sourced] = attrs.field(factory=dict)
    streamed: str = ""
    streamed_id: int = 0
    count: int = 0
    """Items that were kept so far."""


class Changes:
    """Keeps and drops items, and tells afterwards which, to whoever asked for that.

    Args:
        memory: Whose items.
        watched: Somebody takes the changes; else none are collected.
    """

    def __init__(self, memory: Memory, *, watched: bool) -> None:
        self._memory = memory
        self._watched = watched
        self._found: dict[tuple[Section, str], ItemChange] = {}

    def keep(
        self, section: Section, items: dict[str, _T], key: str, value: _T, limit: int = MAX_ITEMS
    ) -> None:
        """The item is the newest of its section; where there is no room, the oldest gives way."""
        items.pop(key, None)
        items[key] = value
        self._memory.count += 1
        self._note(section, key, Fate.KEPT)
        if len(items) > limit:
            oldest = next(iter(items))
            del items[oldest]
            self._note(section, oldest, Fate.GAVE_WAY)

    def fill(self, section: Section, items: dict[str, _T], key: str, value: _T) -> None:
        """An item that is there tells more; it is no newer for that."""
        items[key] = value
        self._note(section, key, Fate.FILLED)

    def drop(self, section: Section, items: dict[str, _T], key: str) -> None:
        """The item no longer holds."""
        if items.pop(key, None) is not None:
            self._note(section, key, Fate.GONE)

    @property
    def found(self) -> bool:
        """Whether there is something to take."""
        return bool(self._found)

    def take(self) -> tuple[ItemChange, ...]:
        """What became of items since this was asked last, each once."""
        found, self._found = tuple(self._found.values()), {}
        return found

    def _note(self, section: Section, key: str, fate: Fate) -> None:
        if self._watched:
            self._found[section, key] = ItemChange(section, key, fate, self._memory.count)
