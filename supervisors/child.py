"""One incarnation of a child, and the record its supervisor keeps across incarnations.

Owns: the scope of an incarnation, the stop and kill requests, the classification of its end.
Must not: know strategies; decide on restarts; catch what no supervisor may handle.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from enum import StrEnum

import attrs
import trio

from supervisors import exits
from supervisors.events import EventKind, System
from supervisors.exits import Exit, ExitKind, Ignore
from supervisors.spec import ChildSpec
from supervisors.tree import Gauge, NodeInfo


class ChildState(StrEnum):
    """Where a child is in its life."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STUCK = "stuck"
    """Killed, but still there: it shields itself."""
    RESTARTING = "restarting"
    """Down and to be started again, or being started again and not ready yet (OTP's `restarting`)."""
    STOPPED = "stopped"
    """Down, its spec kept (OTP's `undefined` pid)."""


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

    def __init__(self, spec: ChildSpec, path: str, generation: int, system: System) -> None:
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
        self.members: Callable[[], Iterable[Child]] = tuple
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


async def run_life(life: Life) -> None:
    """Run one incarnation to its end. Raises nothing but a cancellation of the supervisor itself."""
    error: BaseException | None = None
    life.scope.deadline = trio.current_time() + life.spec.start_timeout
    try:
        with life.scope:
            await life.spec.start(life)
    except BaseException as caught:  # noqa: BLE001 - a supervisor's edge: classified below, on its leaves
        error = caught
    try:
        if error is None:
            life.finish(_returned(life))
        else:
            _raised(life, error)
    finally:
        del error  # a frame that holds its own traceback is a cycle, left to the collector


def _raised(life: Life, error: BaseException) -> None:
    fatal = exits.fatal_leaf(error)
    if isinstance(
        fatal, trio.Cancelled
    ):  # the supervisor's own nursery is being torn down: not ours to handle
        life.finish(exits.KILLED)
        raise error
    life.fatal = fatal
    life.ignored = not life.is_ready and exits.all_leaves(error, Ignore)
    life.finish(Exit(ExitKind.NORMAL, "ignore") if life.ignored else exits.from_error(error))


def _returned(life: Life) -> Exit:
    if life.killed:
        return exits.KILLED
    if life.stop_requested:
        return exits.SHUTDOWN
    if life.is_ready:
        return exits.NORMAL
    error: Exception = exits.NotReady("returned without being ready")
    if life.scope.cancelled_caught:
        error = exits.StartTimeout(f"not ready after {life.spec.start_timeout:g} s")
    return Exit(ExitKind.ERROR, str(error), error)


@attrs.define(eq=False)
class Child:
    """A supervisor's record of one child, across incarnations."""

    spec: ChildSpec
    path: str
    state: ChildState = ChildState.STOPPED
    life: Life | None = None
    """The incarnation that is there; None while it is down."""
    generation: int = 0
    restarts: int = 0
    """Restarts that were decided, over the life of its supervisor."""
    attempt: int = 0
    """Restarts in a row, for the backoff."""
    ready_for: float = 0.0
    """Seconds the last incarnation was ready, for the backoff."""
    timer: trio.CancelScope | None = None
    """The wait for a delayed restart."""
    revive: bool = False
    """A stuck child that is to be started again once it is gone."""

    @property
    def active(self) -> bool:
        """Whether it runs or is about to be started again."""
        return self.life is not None or self.state is ChildState.RESTARTING

    @property
    def running(self) -> bool:
        """Whether OTP would show a pid: it is there, and is not a restart that has yet to succeed."""
        return self.life is not None and self.state is not ChildState.RESTARTING

    def cancel_timer(self) -> None:
        """Forget a delayed restart."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def down(self) -> None:
        """The incarnation is gone, and none is to come."""
        self.cancel_timer()
        self.life = None
        self.state = ChildState.STOPPED
        self.revive = False

    def restarting(self) -> None:
        """The incarnation is gone, and another one is to come."""
        life = self.life
        if life is not None:
            self.ready_for = trio.current_time() - life.ready_at if life.is_ready else 0.0
        self.life = None
        self.state = ChildState.RESTARTING

    def node(self, now: float) -> NodeInfo:
        """This child and what is below it, as plain data."""
        life = self.life
        gauge = Gauge() if life is None else life.gauge()
        return NodeInfo(
            name=str(self.spec.id),
            path=self.path,
            kind=self.spec.kind.value,
            state=self.state.value,
            generation=self.generation,
            restarts=self.restarts,
            uptime=max(0.0, now - life.ready_at) if life is not None and life.is_ready else 0.0,
            depth=gauge.depth,
            peak=gauge.peak,
            capacity=gauge.capacity,
            dead_letters=gauge.dead_letters,
            current=gauge.current,
            blocked_in=gauge.blocked_in,
            children=() if life is None else tuple(child.node(now) for child in life.members()),
        )

    def find(self, path: str) -> Child | None:
        """The record with this path, here or below."""
        if self.path == path:
            return self
        members = () if self.life is None else self.life.members()
        return next((found for child in members if (found := child.find(path)) is not None), None)
