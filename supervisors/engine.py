"""What both kinds of supervisor share: starting, judging and stopping one child, the queue, the shield.

Owns: the life of a supervisor from its first child to its last. Must not: know strategies.

An exit is judged at once, synchronously, in the task that ended: it can neither be lost nor wait behind a slow
sibling, and an incarnation that nothing holds back follows the last one in the same task. What concerns siblings, or
has to wait, goes through one unbounded queue (bounded by the children there are, never fed with user data). Every
event names the generation it is about, and a stale one is dropped. The nursery of the children is shielded: an outer
cancellation arrives at a watcher outside the shield, which turns it into a stop, so that children are stopped in
order even then.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import attrs
import trio

from supervisors import plan
from supervisors.call import Reply
from supervisors.child import Child, ChildState, run_life
from supervisors.events import EventKind
from supervisors.exits import Exit, IntensityReached, Shutdown
from supervisors.handle import AdminCode, AdminError, ChildInfo, Counts, Handle, Op
from supervisors.life import Life
from supervisors.plan import ChildView, Intensity
from supervisors.ref import ActorDied
from supervisors.spec import Brutal, ChildSpec, Kind, Restart, SupervisorSpec


@attrs.frozen(eq=False)
class Again:
    """A child is to be started again: count it first."""

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


Event = Again | Due | Request
"""What waits in a supervisor's queue."""


class SupervisorEngine(ABC):
    """One incarnation of a supervisor.

    Args:
        life: Its own side of its incarnation.
        spec: When it gives up, ends by itself, or stops waiting; and whom it starts with.
        handle: Where to be reached, if anywhere.
    """

    def __init__(self, life: Life, spec: SupervisorSpec, handle: Handle | None) -> None:
        self.life = life
        self.system = life.system
        self.children: dict[Hashable, Child] = {}
        self.stopping = False
        self.on_stopping: Callable[[], None] | None = None
        self.spec = spec
        self._window = Intensity(spec.intensity, spec.period)
        self._handle = handle
        self._post, self._inbox = trio.open_memory_channel[Event | None](math.inf)
        self._outcome: BaseException | None = None
        self._hurry = False
        self._waits: set[trio.CancelScope] = set()
        self._awaited: Life | None = None
        self._nursery: trio.Nursery

    # The life of the supervisor

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
                outer.cancel_scope.cancel(reason="the supervisor is done")
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
            await self._accept(await self._inbox.receive())

    async def _accept(self, event: Event | None) -> None:
        if self.stopping or event is None:
            self._refuse(event)
        else:
            await self._dispatch(event)

    def _refuse(self, event: Event | None) -> None:
        if isinstance(event, Request):
            event.reply.fail(ActorDied(self.life.path))

    def _close(self) -> None:
        if self._handle is not None:
            self._handle.bind(None)
        while self._inbox.statistics().current_buffer_used:
            self._refuse(self._inbox.receive_nowait())
        self._inbox.close()
        self._post.close()

    def request_stop(self, *, hurry: bool = False) -> None:
        """Begin the ordered stop. With `hurry`, children are killed instead of asked. Never blocks."""
        if hurry:
            self._hurry = True
            for scope in tuple(self._waits):
                scope.cancel(reason="the supervisor was killed")
        self._begin_stop()

    def finish(self, outcome: BaseException) -> None:
        """End this supervisor with an exception once its children are stopped; the first one counts."""
        if self._outcome is None:
            self._outcome = outcome
        self._begin_stop()

    def _begin_stop(self) -> None:
        if self.stopping:
            return
        self.stopping = True
        if self.on_stopping is not None:
            self.on_stopping()
        for child in self.children.values():
            if child.life is not None and not child.life.is_ready:
                child.life.request_stop()
        self._post.send_nowait(None)

    @abstractmethod
    async def _start_initial(self) -> bool:
        """Start the children that are there from the start; False when one failed."""

    @abstractmethod
    async def _dispatch(self, event: Event) -> None:
        """Handle one event."""

    @abstractmethod
    async def _stop_all(self) -> None:
        """Stop all children."""

    # Starting a child

    def _adopt(self, spec: ChildSpec) -> Child:
        child = Child(spec, f"{self.life.path}/{spec.id}")
        self.children[spec.id] = child
        return child

    def _forget(self, child: Child) -> None:
        if self.children.get(child.spec.id) is child:
            del self.children[child.spec.id]

    def _forgets(self, child: Child) -> bool:
        """Whether the spec of a child that is down is dropped."""
        return child.spec.restart is Restart.TEMPORARY

    def _next(self, child: Child) -> Life:
        """Make the next incarnation; `_host` runs it."""
        child.generation += 1
        if child.state is not ChildState.RESTARTING:
            child.state = ChildState.STARTING
        child.life = life = Life(child.spec, child.path, child.generation, self.system)
        life.on_ready = partial(self._ready, child)
        return life

    def _spawn(self, child: Child) -> Life:
        life = self._next(child)
        self._nursery.start_soon(self._host, life, name=child.path)
        return life

    async def _host(self, life: Life | None) -> None:
        """Run an incarnation and, in the same task, those that may follow it at once."""
        while life is not None:
            await run_life(life)
            life = self._after(life)

    def _ready(self, child: Child) -> None:
        if child.state in (ChildState.STARTING, ChildState.RESTARTING):
            child.state = ChildState.RUNNING

    # Judging an end

    def _after(self, life: Life) -> Life | None:
        """Judge the end of an incarnation; the next one if it is to follow at once."""
        if life.fatal is not None:
            self.finish(life.fatal)
        child = self.children.get(life.spec.id)
        if self.stopping or child is None or child.life is not life or child.state is ChildState.STOPPING:
            return None
        if child.state is ChildState.STUCK:
            return self._unstuck(child)
        if life.is_ready and life.exit is not None:
            return self._ended(child, life.exit)
        if life is not self._awaited:
            self._not_ready(child, life)
        return None

    def _unstuck(self, child: Child) -> Life | None:
        revive = child.revive
        child.down()
        if revive:
            return self._next(child)
        if self._forgets(child):
            self._forget(child)
        return None

    def _ended(self, child: Child, end: Exit) -> Life | None:
        if plan.restarts(child.spec.restart, end):
            child.restarting()
            return self._again(child)
        ended = self._view(child)
        child.down()
        if self._forgets(child):
            self._forget(child)
        siblings = [self._view(other) for other in self.children.values() if other is not child]
        if plan.ends_supervisor(self.spec.auto_shutdown, ended, siblings):
            self.system.emit(EventKind.AUTO_SHUTDOWN, self.life.path, self.life.generation)
            self.finish(Shutdown("auto_shutdown"))
        return None

    def _not_ready(self, child: Child, life: Life) -> None:
        """A start that nobody waits for came to nothing."""
        if not life.ignored:
            child.restarting()
            self._post.send_nowait(Again(child, child.generation))
            return
        child.down()
        if self._forgets(child):
            self._forget(child)

    def _view(self, child: Child) -> ChildView:
        return ChildView(child.spec.id, child.spec.restart, child.spec.significant, child.active)

    # Restarting a child that concerns no sibling

    def _again(self, child: Child) -> Life | None:
        """Count a restart; the next incarnation, unless it has to wait or is one too many."""
        delay = self._count(child)
        if delay is None:
            return None
        if delay > 0:
            self._later(child, delay)
            return None
        return self._next(child)

    def _count(self, child: Child) -> float | None:
        """Count a restart: its delay, or None when it is one too many and the supervisor gives up."""
        if not self._window.allow(trio.current_time()):
            detail = f"more than {self._window.limit} restarts within {self._window.period:g} s"
            self.system.emit(EventKind.INTENSITY, self.life.path, self.life.generation, detail=detail)
            child.down()
            self.finish(IntensityReached(f"{detail}, the last one of {child.spec.id!r}"))
            return None
        child.restarts += 1
        backoff = child.spec.backoff
        child.attempt = backoff.attempt(child.attempt, child.ready_for) if backoff else child.attempt + 1
        delay = backoff.delay(child.attempt, self.system.chance()) if backoff else 0.0
        attempt = child.attempt
        self.system.emit(EventKind.RESTARTING, child.path, child.generation, attempt=attempt, delay=delay)
        return delay

    def _later(self, child: Child, delay: float) -> None:
        """Post Due after the delay, unless the timer is cancelled."""
        child.timer = scope = trio.CancelScope()
        self._nursery.start_soon(self._timer, scope, delay, Due(child, child.generation))

    async def _timer(self, scope: trio.CancelScope, delay: float, due: Due) -> None:
        with scope:
            await trio.sleep(delay)
            due.child.timer = None
            self._post.send_nowait(due)

    def _is_pending(self, event: Again | Due) -> bool:
        child = event.child
        down = child.life is None and child.state is ChildState.RESTARTING
        return down and child.generation == event.generation

    # Stopping a child

    async def _stop_child(self, child: Child) -> bool:
        """Stop a child: ask, wait, kill, wait a little. False when it is there after all that."""
        if child.state is ChildState.STUCK:
            return False
        life = child.life
        if life is not None and not life.ended.is_set():
            child.state = ChildState.STOPPING
            await self._stop_life(life, child.spec.shutdown)
            if not life.ended.is_set():
                child.state = ChildState.STUCK
                detail = f"killed {self.spec.stuck_after:g} s ago and still there"
                self.system.emit(EventKind.STUCK, life.path, life.generation, detail=detail)
                return False
        child.down()
        return True

    async def _stop_life(self, life: Life, patience: float | Brutal) -> None:
        if not isinstance(patience, Brutal) and not self._hurry:
            life.request_stop()
            with trio.move_on_after(patience) as scope:
                self._waits.add(scope)
                await life.ended.wait()
            self._waits.discard(scope)
        if not life.ended.is_set():
            life.kill("killed by its supervisor")
            with trio.move_on_after(self.spec.stuck_after):
                await life.ended.wait()

    # Questions from outside

    def ask(self, op: Op, argument: Hashable | ChildSpec) -> Reply:
        """Queue a request."""
        reply = Reply()
        if self.stopping:
            reply.fail(ActorDied(self.life.path))
            return reply
        self._post.send_nowait(Request(op, argument, reply))
        awaited = self._awaited
        if op is Op.TERMINATE and awaited is not None and awaited.spec.id == argument and self.life.is_ready:
            awaited.request_stop()  # a hung init must not hold up the request to end it
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
        active = sum(child.running for child in children)
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
