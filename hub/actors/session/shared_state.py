"""What the session knows right now and nobody has to remember: wishes, and the live agent's condition.

Owns: the meeting point of the inbox (which writes here) and the driver (which waits here).
Must not: hold anything a restart would need; that is the store's.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

import attrs
import trio

from hub.domain.quota.window import QuotaReading
from hub.domain.session import ErrorNote
from hub.errors import Code, HubError

if TYPE_CHECKING:
    from hub.providers.base import Outcome, ProcessExit

T = TypeVar("T")


class PendingCommand(StrEnum):
    """What a user may ask of a running session."""

    HANDOFF = "handoff"
    STOP = "stop"


@attrs.define
class LiveAgent:
    """The condition of the agent of one dispatch, as its last batch told it."""

    dispatch_id: str
    tools_in_flight: int = 0
    native_session: str = ""
    alive: bool = False
    """Whether its program runs."""
    answered: bool = False
    """Whether its model has answered: the heartbeat. A program that says "Not logged in" runs, and works not at all."""
    worked: bool = False
    """Whether a tool call of this run has come to a good end: what fails now does not fail again, but anew."""
    outcome: Outcome | None = None
    exit: ProcessExit | None = None
    heard_at: float = 0.0
    """`trio.current_time()` of the last batch."""
    batches: int = 0
    paused: bool = False
    adapter_up: bool = False
    breach: QuotaReading | None = None
    breach_muted: bool = False
    """A forecast that led nowhere once is not looked at again for this dispatch."""
    question: bool = False
    """Whether the last thing it said was a question."""
    asks: set[str] = attrs.field(factory=set)
    """Ids of the approvals that it waits for."""
    no_space: bool = False
    """Whether its last words, and its end, wait for space on the disk."""
    takes_replies: bool = True
    """Whether words can reach it while it runs; an agent that got its prompt as a file has no way in."""

    @property
    def needs_input(self) -> bool:
        """Whether it waits for a person: its silence has a reason."""
        return self.question or bool(self.asks)


@attrs.define
class SharedState:
    """Shared by the session's inbox and its driver; both run in one thread, so a change is never half seen."""

    agent: LiveAgent | None = None
    pending: PendingCommand | None = None
    denied: HubError | None = None
    """Why the last wish for a handoff came to nothing."""
    held: bool = False
    """Whether hub itself waits for somebody's word before it starts an agent."""
    detached: bool = False
    freed: bool = False
    """Whether an account that was in use has come free since this was last looked at."""
    last_action: str = ""
    """What the agent said or did last, in one line."""
    trouble: ErrorNote | None = None
    """What keeps the session from going on at this moment; it may be a disk too full to write that down."""
    _changed: trio.Event = attrs.field(factory=trio.Event)

    def touch(self) -> None:
        """Wake whoever waits."""
        self._changed.set()
        self._changed = trio.Event()

    def ask(self, pending: PendingCommand) -> None:
        """Record a wish. Stop wins over handoff."""
        if self.pending is not PendingCommand.STOP:
            self.pending, self.denied = pending, None
        self.touch()

    def settle(self, denied: HubError | None = None) -> None:
        """The wish for a handoff is taken up, or refused; one for a stop stays until the session has ended."""
        if self.pending is PendingCommand.HANDOFF:
            self.pending, self.denied = None, denied
        self.touch()

    async def unless_stopped(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something long; when the user asks for a stop it is cancelled.

        Raises:
            HubError: `interrupted`; the stop is still to be done. Or what the work raises.
        """
        done: list[T] = []
        failed: list[HubError] = []

        async def watch(scope: trio.CancelScope) -> None:
            await self.until(lambda: self.pending is PendingCommand.STOP)
            scope.cancel(reason="the session is to stop")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch, nursery.cancel_scope)
            try:
                done.append(await work())
            except HubError as error:
                failed.append(error)  # raised below, as itself and not as a group
            nursery.cancel_scope.cancel(reason="done")
        if failed:
            raise failed[0]
        if not done:
            raise HubError(Code.INTERRUPTED, "The session is being stopped.")
        return done[0]

    async def until(self, predicate: Callable[[], object], timeout: float = math.inf) -> bool:
        """Wait until the predicate holds, at most `timeout` seconds; returns whether it does."""
        with trio.move_on_after(timeout):
            while not predicate():
                await self._changed.wait()
        return bool(predicate())
