"""One incarnation of a child, as its start function sees it.

Owns: the scope of an incarnation, the stop and kill requests, and the word of its end.
Must not: know the record that outlives it, or judge its end.
Tests: tests/supervisors/test_exits.py, tests/supervisors/test_start.py
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import Protocol

import trio

from supervisors.events import EventKind, System
from supervisors.exits import Exit
from supervisors.tree import Gauge, NodeInfo


class Startable(Protocol):
    """What an incarnation is made from (`supervisors.spec.ChildSpec`)."""

    @property
    def id(self) -> Hashable:
        """Unique among the children of one supervisor."""

    @property
    def start(self) -> Callable[[Life], Awaitable[None]]:
        """Runs one incarnation."""

    @property
    def start_timeout(self) -> float:
        """Seconds its init may take."""


class Member(Protocol):
    """The record of a child below a supervisor (`supervisors.child.Child`)."""

    life: Life | None

    def node(self, now: float) -> NodeInfo:
        """The child and what is below it, as plain data."""

    def find(self, path: str) -> Member | None:
        """The record with this path, here or below."""


class Life:
    """What a child's start function is given: its side of one incarnation.

    The function calls `ready()` once it serves, and ends when asked to. One that never calls `on_stop` is
    stopped by
    cancellation, like an OTP process that does not trap exits; one that does is asked first, and cancelled
    only
    when its `shutdown` time is over.
    """

    __slots__ = (
        "_on_stop", "ended", "exit", "fatal", "gauge", "generation", "ignored", "is_ready", "killed",
        "members", "on_dying", "on_kill", "on_ready", "path", "ready_at", "scope", "settled", "spec",
        "stop_requested", "system",
    )  # fmt: skip

    def __init__(self, spec: Startable, path: str, generation: int, system: System) -> None:
        self.spec = spec
        self.path = path
        self.generation = generation
        self.system = system
        self.scope = trio.CancelScope()
        self.settled = trio.Event()
        self.ended = trio.Event()
        self.is_ready = False
        self.ready_at = 0.0
        self.ignored = False
        self.killed = False
        self.stop_requested = False
        self.exit: Exit | None = None
        self.fatal: BaseException | None = None
        self.gauge: Callable[[], Gauge] = Gauge
        self.members: Callable[[], Iterable[Member]] = tuple
        self.on_ready: Callable[[], None] = _nothing
        self.on_dying: Callable[[], None] = _nothing
        self.on_kill: Callable[[], object] = _nothing
        self._on_stop: Callable[[], object] | None = None

    def ready(self) -> None:
        """Say that init is done. Calling it again has no effect."""
        if self.is_ready:
            return
        self.is_ready = True
        self.ready_at = trio.current_time()
        self.scope.deadline = math.inf
        self.system.emit(EventKind.STARTED, self.path, self.generation)
        self.settled.set()
        self.on_ready()

    def on_stop(self, ask: Callable[[], object]) -> None:
        """Be asked to stop by a call of `ask` (at once if it is late) instead of being cancelled."""
        self._on_stop = ask
        if self.stop_requested:
            ask()

    async def until_stop(self) -> None:
        """Wait until a stop is requested."""
        asked = trio.Event()
        self.on_stop(asked.set)
        await asked.wait()

    def request_stop(self) -> None:
        """Ask the incarnation to end in order. Idempotent, never blocks; no effect once it has ended."""
        if self.stop_requested or self.ended.is_set():
            return
        self.stop_requested = True
        self.on_dying()
        if self._on_stop is None:
            self.scope.cancel(reason="asked to stop")
        else:
            self._on_stop()

    def kill(self, reason: str = "killed") -> None:
        """Cancel the incarnation: it ends as soon as its code allows. Never blocks; no effect once it has."""
        if self.ended.is_set():
            return
        self.killed = True
        self.on_dying()
        if not self.on_kill():
            self.scope.cancel(reason=reason)

    def finish(self, end: Exit) -> None:
        """Record the end, and wake those who wait for it."""
        self.exit = end
        if self.ignored:
            kind = EventKind.IGNORED
        elif self.is_ready:
            kind = EventKind.EXITED
        else:
            kind = EventKind.START_FAILED
        self.system.emit(kind, self.path, self.generation, exit=end)
        self.ended.set()
        self.settled.set()


def _nothing() -> None:
    """The default of a hook."""
