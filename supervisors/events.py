"""What a tree tells the outside about itself.

Owns: the event vocabulary, the one synchronous hook, the environment shared by all members of a tree.
Must not: await; let an error of the hook reach the tree.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Callable
from enum import Enum, StrEnum

import attrs
import trio

from supervisors.deadlines import Deadlines
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


class At(Enum):
    """The moments a fault can wait for."""

    MESSAGE = "message"
    """The next message, before its handler."""
    INIT = "init"
    """The next start, before `started`."""
    CONTINUE = "continue"
    """The next start, before `continue_`."""
    STOPPED = "stopped"
    """The next end, before `stopped`."""


@attrs.frozen
class PlantedFault:
    """What goes wrong at one moment: it takes `delay` seconds, raises `error`, or loses the message."""

    error: BaseException | None = None
    delay: float = 0.0
    drop: bool = False


class Faults:
    """What is planted in one tree."""

    __slots__ = ("_planted",)

    def __init__(self) -> None:
        self._planted: defaultdict[tuple[str, At], deque[PlantedFault]] = defaultdict(deque)

    def plant(self, path: str, moment: At, fault: PlantedFault, times: int) -> None:
        """Let the next `times` moments of this kind go wrong."""
        self._planted[path, moment].extend([fault] * times)

    async def meet(self, path: str, moment: At) -> bool:
        """Suffer the next fault planted for this moment; True when the message is to be dropped."""
        planted = self._planted.get((path, moment))
        if not planted:
            return False
        fault = planted.popleft()
        await trio.sleep(fault.delay)
        if fault.error is not None:
            raise fault.error
        return fault.drop


Hook = Callable[[SupEvent], None]


class System:
    """The environment of one tree: where events go, what faults are planted, where chance comes from.

    Args:
        on_event: Called for every event, in order, inside the tree's run loop: it must be quick and must not
        await.
            An exception it raises is swallowed and counted in `hook_errors`.
        chance: Draws from [0, 1) for the jitter of a backoff.
    """

    __slots__ = ("chance", "deadlines", "faults", "hook_errors", "on_event")

    def __init__(self, on_event: Hook | None = None, chance: Callable[[], float] = random.random) -> None:
        self.on_event = on_event
        self.chance = chance
        self.hook_errors = 0
        self.deadlines = Deadlines()
        self.faults: Faults | None = None

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
