"""The record that a supervisor keeps of a child across incarnations, and the run of one of them.

Owns: the record, and the classification of an incarnation's end.
Must not: know strategies; decide on restarts; catch what no supervisor may handle.
"""

from __future__ import annotations

from enum import StrEnum

import attrs
import trio

from supervisors import exits
from supervisors.exits import Exit, ExitKind, Ignore
from supervisors.life import Life, Member
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
            **attrs.asdict(gauge),
            children=() if life is None else tuple(child.node(now) for child in life.members()),
        )

    def find(self, path: str) -> Member | None:
        """The record with this path, here or below."""
        if self.path == path:
            return self
        members = () if self.life is None else self.life.members()
        return next((found for child in members if (found := child.find(path)) is not None), None)
