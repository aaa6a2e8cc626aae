"""What both kinds of supervisor share: the system queue, the shield, stopping one child, queries.

Owns: the life of a supervisor from its first child to its last. Must not: know restart rules or strategies.

Exits, retries and requests arrive on one unbounded queue (bounded by the children there are, never fed with user data), so
posting never blocks and no exit can be lost. Every event names the incarnation or generation it is about, and one that is
stale is dropped. The nursery of the children is shielded: an outer cancellation arrives at a watcher outside the shield,
which turns it into a stop, so that even then children are stopped in order.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import attrs
import trio

from supervisors.child import Child, ChildState, Life, run_life
from supervisors.events import EventKind
from supervisors.exits import IntensityReached, Shutdown
from supervisors.handle import AdminCode, AdminError, ChildInfo, Counts, Op, _Handle
from supervisors.intensity import Intensity
from supervisors.mailbox import Reply
from supervisors.ref import ActorDied
from supervisors.spec import Brutal, ChildSpec, Kind


@attrs.frozen(eq=False)
class Exited:
    """An incarnation that had been ready ended."""

    life: Life


@attrs.frozen(eq=False)
class Settled:
    """An incarnation became ready, or ended before it did."""

    life: Life


@attrs.frozen(eq=False)
class Retry:
    """A restart failed: count it and try again."""

    child: Child
    generation: int


@attrs.frozen(eq=False)
class Due:
    """The delay of a restart is over."""

    child: Child
    generation: int


@attrs.frozen(eq=False)
class Request:
    """Somebody asks for something."""

    op: Op
    argument: Any
    reply: Reply


def _nothing() -> None:
    """The default of a hook."""


Event = Exited | Settled | Retry | Due | Request


class Engine(ABC):
    """One incarnation of a supervisor.

    Args:
        life: Its own side of its incarnation.
        intensity: Restarts allowed within `period`.
        period: Seconds of the window.
        stuck_after: Seconds a killed child is waited for.
        handle: Where to be reached, if anywhere.
    """

    def __init__(
        self, life: Life, *, intensity: int, period: float, stuck_after: float, handle: _Handle | None
    ) -> None:
        self.life = life
        self.system = life.system
        self.children: dict[Hashable, Child] = {}
        self.stopping = False
        self.on_stopping: Callable[[], None] = _nothing
        self._window = Intensity(intensity, period)
        self._stuck_after = stuck_after
        self._handle = handle
        self._post, self._inbox = trio.open_memory_channel[Event | None](math.inf)
        self._outcome: BaseException | None = None
        self._hurry = False
        self._waits: set[trio.CancelScope] = set()
        self._nursery: trio.Nursery

    async def run(self) -> None:
        """Run until stopped, killed or given up. All children are gone when it returns or raises.

        Raises:
            StartFailed: A child did not start.
            IntensityReached: Too many restarts.
            Shutdown: The significant children ended.
        """
        self.life.members = self._members
        try:
            async with trio.open_nursery() as outer:
                outer.start_soon(self._watch_cancel)
                with trio.CancelScope(shield=True):
                    await self._run_children()
                outer.cancel_scope.cancel()
        finally:
            self._close()
        if self._outcome is not None:
            raise self._outcome

    async def _run_children(self) -> None:
        async with trio.open_nursery() as self._nursery:
            self.life.on_stop(self.request_stop)
            if self._handle is not None:
                self._handle.bind(self)
            if await self._start_initial() and not self.stopping:
                self.life.ready()
                await self._loop()
            for child in self.children.values():
                child.cancel_timer()
            await self._stop_all()

    async def _watch_cancel(self) -> None:
        try:
            await trio.sleep_forever()
        finally:
            self.request_stop(hurry=self.life.killed)

    async def _loop(self) -> None:
        while not self.stopping:
            event = await self._inbox.receive()
            if self.stopping or event is None:
                break
            await self._dispatch(event)

    def _close(self) -> None:
        if self._handle is not None:
            self._handle.bind(None)
        while self._inbox.statistics().current_buffer_used:
            event = self._inbox.receive_nowait()
            if isinstance(event, Request):
                event.reply.fail(ActorDied(self.life.path))
        self._inbox.close()
        self._post.close()

    def request_stop(self, *, hurry: bool = False) -> None:
        """Begin the ordered stop. With `hurry`, children are killed instead of asked. Never blocks."""
        if hurry and not self._hurry:
            self._hurry = True
            for scope in tuple(self._waits):
                scope.cancel()
        if not self.stopping:
            self._begin_stop()
            for child in self.children.values():
                if child.state is ChildState.STARTING and child.life is not None:
                    child.life.request_stop()
            self._post.send_nowait(None)

    def finish(self, outcome: BaseException) -> None:
        """End this supervisor with an exception once its children are stopped; the first one counts."""
        self._outcome = self._outcome or outcome
        self._begin_stop()

    def _begin_stop(self) -> None:
        if not self.stopping:
            self.stopping = True
            self.on_stopping()

    @abstractmethod
    async def _start_initial(self) -> bool:
        """Start the children that are there from the start; False when one failed."""

    @abstractmethod
    async def _dispatch(self, event: Event) -> None:
        """Handle one event."""

    @abstractmethod
    async def _stop_all(self) -> None:
        """Stop all children."""

    def _watch(self, life: Life) -> None:
        """Called synchronously by an incarnation when it is settled and when it ends."""
        if life.fatal is not None:
            self._outcome = self._outcome or life.fatal
            self.request_stop()
        if life.ended.is_set() and life.is_ready:
            self._post.send_nowait(Exited(life))

    def _spawn(self, child: Child) -> Life:
        child.generation += 1
        child.state = ChildState.STARTING
        child.life = life = Life(child.spec, child.path, child.generation, self.system, self._watch)
        self._nursery.start_soon(run_life, life, name=child.path)
        return life

    def _adopt(self, spec: ChildSpec) -> Child:
        child = Child(spec, f"{self.life.path}/{spec.id}")
        self.children[spec.id] = child
        return child

    async def _stop_child(self, child: Child) -> bool:
        """Stop a child: ask, wait its time, kill, wait a little longer. False when it is still there after all that."""
        if child.state is ChildState.STUCK:
            return False
        life = child.life
        if life is not None and not life.ended.is_set():
            child.state = ChildState.STOPPING
            await self._stop_life(life)
            if not life.ended.is_set():
                child.state = ChildState.STUCK
                detail = f"killed {self._stuck_after:g} s ago and still there"
                self.system.emit(EventKind.STUCK, life.path, life.generation, detail=detail)
                return False
        child.down()
        return True

    async def _stop_life(self, life: Life) -> None:
        patience = life.spec.shutdown
        if not isinstance(patience, Brutal) and not self._hurry:
            life.request_stop()
            with trio.move_on_after(patience) as scope:
                self._waits.add(scope)
                await life.ended.wait()
            self._waits.discard(scope)
        if not life.ended.is_set():
            life.kill("killed by its supervisor")
            with trio.move_on_after(self._stuck_after):
                await life.ended.wait()

    def _count(self, child: Child) -> float | None:
        """Count one restart: its delay, or None when it is one too many and the supervisor gives up."""
        now = trio.current_time()
        if not self._window.allow(now):
            detail = f"more than {self._window.limit} restarts within {self._window.period:g} s"
            self.system.emit(EventKind.INTENSITY, self.life.path, self.life.generation, detail=detail)
            child.down()
            self.finish(IntensityReached(f"{detail}, the last one of {child.spec.id!r}"))
            return None
        child.restarts += 1
        delay = 0.0
        backoff = child.spec.backoff
        if backoff is not None:
            ready_for = now - child.life.ready_at if child.life is not None and child.life.is_ready else 0.0
            child.attempt = backoff.attempt(child.attempt, ready_for)
            delay = backoff.delay(child.attempt, self.system.chance())
        else:
            child.attempt += 1
        child.life = None
        child.state = ChildState.RESTARTING
        self.system.emit(
            EventKind.RESTARTING, child.path, child.generation, attempt=child.attempt, delay=delay
        )
        return delay

    def _later(self, child: Child, delay: float) -> None:
        """Post Due after the delay, unless the timer is cancelled."""
        child.timer = scope = trio.CancelScope()
        self._nursery.start_soon(self._timer, scope, delay, Due(child, child.generation))

    async def _timer(self, scope: trio.CancelScope, delay: float, due: Due) -> None:
        with scope:
            await trio.sleep(delay)
            self._post.send_nowait(due)

    def _is_pending(self, event: Retry | Due) -> bool:
        child = event.child
        return child.state is ChildState.RESTARTING and child.generation == event.generation

    def _auto_shutdown(self) -> None:
        self.system.emit(EventKind.AUTO_SHUTDOWN, self.life.path, self.life.generation)
        self.finish(Shutdown("auto_shutdown"))

    def ask(self, op: Op, argument: Hashable | ChildSpec) -> Reply:
        """Queue a request."""
        reply = Reply()
        if self.stopping:
            reply.fail(ActorDied(self.life.path))
        else:
            self._post.send_nowait(Request(op, argument, reply))
        return reply

    def which(self) -> tuple[ChildInfo, ...]:
        """All children, in start order."""
        return tuple(self._info(child) for child in self.children.values())

    def _info(self, child: Child) -> ChildInfo:
        spec = child.spec
        return ChildInfo(spec.id, spec.kind, spec.restart, child.state.value, child.generation)

    def count(self) -> Counts:
        """How many."""
        children = self.children.values()
        supervisors = sum(child.spec.kind is Kind.SUPERVISOR for child in children)
        active = sum(child.life is not None for child in children)
        return Counts(len(children), active, supervisors, len(children) - supervisors)

    def child_spec(self, child: Hashable) -> ChildSpec:
        """One spec."""
        return self._find(child).spec

    def _find(self, child: Hashable) -> Child:
        try:
            return self.children[child]
        except KeyError:
            raise AdminError(AdminCode.NOT_FOUND, child) from None

    def _members(self) -> Iterable[Child]:
        return self.children.values()
