"""What a tree tells the outside about itself.

Owns: the event vocabulary, the one synchronous hook, the environment shared by all members of a tree.
Must not: await; let an error of the hook reach the tree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import StrEnum

import attrs
import trio

from supervisors.exits import Exit


class EventKind(StrEnum):
    """The closed list of things that happen in a tree."""

    STARTED = "started"
    """An incarnation is ready."""
    EXITED = "exited"
    """An incarnation that had been ready is gone; `exit` says how."""
    START_FAILED = "start_failed"
    """An incarnation ended before it was ready."""
    IGNORED = "ignored"
    """A child declined to start."""
    RESTARTING = "restarting"
    """A restart was decided: number `attempt`, after `delay` seconds."""
    STUCK = "stuck"
    """A killed child does not end."""
    CLEANUP_FAILED = "cleanup_failed"
    """A cleanup hook was cut off at its bound, or failed after its actor had failed."""
    INTENSITY = "intensity"
    """A supervisor gives up."""
    AUTO_SHUTDOWN = "auto_shutdown"
    """A supervisor ends because its significant children did."""
    DEAD_LETTER = "dead_letter"
    """A cast was lost: its actor ended, or was not there."""
    MAILBOX_FULL = "mailbox_full"
    """A message was refused or pushed out by the overflow rule."""


@attrs.frozen
class SupEvent:
    """One thing that happened, as plain data."""

    kind: EventKind
    path: str
    """Ids from the root down, joined by slashes."""
    generation: int
    """Which incarnation of the child: 1 is the first."""
    time: float
    """`trio.current_time()` when it happened."""
    exit: Exit | None = None
    attempt: int = 0
    delay: float = 0.0
    detail: str = ""


Hook = Callable[[SupEvent], None]


class System:
    """The environment of one tree: where events go, where chance comes from.

    Args:
        on_event: Called for every event, in order, inside the tree's run loop: it must be quick and must not
        await.
            An exception it raises is swallowed and counted in `hook_errors`.
        chance: Draws from [0, 1) for the jitter of a backoff.
    """

    __slots__ = ("chance", "hook_errors", "on_event")

    def __init__(self, on_event: Hook | None = None, chance: Callable[[], float] = random.random) -> None:
        self.on_event = on_event
        self.chance = chance
        self.hook_errors = 0

    def emit(
        self,
        kind: EventKind,
        path: str,
        generation: int,
        *,
        exit: Exit | None = None,
        attempt: int = 0,
        delay: float = 0.0,
        detail: str = "",
    ) -> None:
        """Tell the hook, if there is one."""
        if self.on_event is not None:
            event = SupEvent(kind, path, generation, trio.current_time(), exit, attempt, delay, detail)
            self.guard(self.on_event, event)

    def guard(self, callback: Callable[..., object], *arguments: object) -> None:
        """Call somebody else's synchronous function; its errors are counted, never raised."""
        try:
            callback(*arguments)
        except Exception:  # noqa: BLE001 - an observer must never harm the observed
            self.hook_errors += 1
