"""A supervisor whose children come and go on demand: OTP's simple_one_for_one, Elixir's DynamicSupervisor.

Owns: unordered children, each started and stopped in its own time. Must not: let one slow child hold up another.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import assert_never

import attrs
import trio

from supervisors import plan
from supervisors.child import Child, ChildState, Life
from supervisors.engine import Due, Engine, Event, Exited, Request, Retry, Settled
from supervisors.handle import AdminCode, AdminError, DynamicHandle, Op
from supervisors.mailbox import Reply
from supervisors.plan import Verdict, View
from supervisors.spec import (
    AutoShutdown,
    Brutal,
    ChildSpec,
    Kind,
    Restart,
    SpecError,
    SupervisorSpec,
    check_children,
)


@attrs.frozen(kw_only=True)
class DynamicOptions:
    """How a dynamic supervisor supervises."""

    intensity: int = 1
    period: float = 5.0
    max_children: float = math.inf
    """Children it holds at most, those being restarted included."""
    auto_shutdown: AutoShutdown = AutoShutdown.NEVER
    stuck_after: float = 5.0

    def __attrs_post_init__(self) -> None:
        SupervisorSpec(
            intensity=self.intensity,
            period=self.period,
            auto_shutdown=self.auto_shutdown,
            stuck_after=self.stuck_after,
        )
        limit = self.max_children
        if isinstance(limit, bool) or not (limit == math.inf or (isinstance(limit, int) and limit >= 0)):
            raise SpecError("invalid_max_children", f"max_children is {limit!r}")


class DynamicSupervisor(Engine):
    """One incarnation of a dynamic supervisor.

    Args:
        life: Its own side of its incarnation.
        options: How it supervises.
        handle: Where children are started.
    """

    def __init__(self, life: Life, options: DynamicOptions, handle: DynamicHandle) -> None:
        super().__init__(
            life,
            intensity=options.intensity,
            period=options.period,
            stuck_after=options.stuck_after,
            handle=handle,
        )
        self.options = options
        self._starts: dict[Child, Reply] = {}

    async def _start_initial(self) -> bool:
        return True

    def _watch(self, life: Life) -> None:
        super()._watch(life)
        self._post.send_nowait(Settled(life))

    async def _stop_all(self) -> None:
        async with trio.open_nursery() as stops:
            for child in self.children.values():
                stops.start_soon(self._stop_child, child)
        for child, reply in self._starts.items():
            reply.fail(AdminError(AdminCode.START_FAILED, child.spec.id))

    async def _dispatch(self, event: Event) -> None:
        match event:
            case Exited(life):
                self._exited(life)
            case Settled(life):
                self._settled(life)
            case Retry(child):
                if self._is_pending(event):
                    self._restart(child)
            case Due(child):
                if self._is_pending(event):
                    child.timer = None
                    self._spawn(child)
            case Request(op, argument, reply):
                self._serve(op, argument, reply)

    def _child_of(self, life: Life) -> Child | None:
        child = self.children.get(life.spec.id)
        return child if child is not None and child.life is life else None

    def _settled(self, life: Life) -> None:
        child = self._child_of(life)
        if child is None or child.state is not ChildState.STARTING:
            return
        reply = self._starts.pop(child, None)
        if life.is_ready:
            child.state = ChildState.RUNNING
            if reply is not None:
                reply.answer(self._info(child))
        elif life.ignored:
            del self.children[child.spec.id]
            child.down()
            if reply is not None:
                reply.answer(self._info(child))
        elif reply is not None:
            del self.children[child.spec.id]
            reply.fail(AdminError(AdminCode.START_FAILED, child.spec.id, life.exit))
        else:
            child.life = None
            child.state = ChildState.RESTARTING
            self._post.send_nowait(Retry(child, child.generation))

    def _exited(self, life: Life) -> None:
        child = self._child_of(life)
        if child is None or life.exit is None or child.state is ChildState.STOPPING:
            return
        if child.state is ChildState.STUCK:
            del self.children[child.spec.id]
            return
        self._settled(life)
        if plan.judge(child.spec.restart, life.exit) is Verdict.RESTART:
            self._restart(child)
            return
        del self.children[child.spec.id]
        siblings = [self._view(other) for other in self.children.values()]
        if plan.ends_supervisor(self.options.auto_shutdown, self._view(child), siblings):
            self._auto_shutdown()

    def _view(self, child: Child) -> View:
        return View(child.spec.id, child.spec.restart, child.spec.significant, child.active)

    def _restart(self, child: Child) -> None:
        delay = self._count(child)
        if delay is None:
            return
        if delay > 0:
            self._later(child, delay)
        else:
            self._spawn(child)

    def _serve(self, op: Op, argument: Hashable | ChildSpec, reply: Reply) -> None:
        try:
            match op:
                case Op.START:
                    self._op_start(argument, reply)
                case Op.TERMINATE:
                    self._nursery.start_soon(self._op_terminate, self._find(argument), reply)
                case Op.RESTART | Op.DELETE:
                    raise AdminError(AdminCode.NOT_FOUND, op.value)
                case _:
                    assert_never(op)
        except (AdminError, SpecError) as error:
            reply.fail(error)

    def _op_start(self, spec: Hashable | ChildSpec, reply: Reply) -> None:
        check_children([spec], self.options.auto_shutdown)
        assert isinstance(spec, ChildSpec)
        if spec.id in self.children:
            there = self.children[spec.id].life is not None
            raise AdminError(AdminCode.ALREADY_STARTED if there else AdminCode.RESTARTING, spec.id)
        if len(self.children) >= self.options.max_children:
            raise AdminError(AdminCode.MAX_CHILDREN, spec.id)
        child = self._adopt(spec)
        self._starts[child] = reply
        self._spawn(child)

    async def _op_terminate(self, child: Child, reply: Reply) -> None:
        if await self._stop_child(child):
            if self.children.get(child.spec.id) is child:
                del self.children[child.spec.id]
            reply.answer(None)
        else:
            reply.fail(AdminError(AdminCode.STUCK, child.spec.id))


def dynamic_spec(
    id: Hashable,  # noqa: A002 - the vocabulary of the field
    handle: DynamicHandle,
    *,
    intensity: int = 1,
    period: float = 5.0,
    max_children: float = math.inf,
    auto_shutdown: AutoShutdown = AutoShutdown.NEVER,
    stuck_after: float = 5.0,
    restart: Restart = Restart.PERMANENT,
    shutdown: float | Brutal = math.inf,
    significant: bool = False,
) -> ChildSpec:
    """The spec of a dynamic supervisor. Children are started through `handle`, from anywhere.

    Args:
        id: Unique among its siblings.
        handle: Outlives the supervisor's incarnations; one supervisor a handle.
        intensity: Restarts of children allowed within `period`.
        period: Seconds of the window.
        max_children: Children it holds at most, those being restarted included.
        auto_shutdown: Whether the end of significant children ends it.
        stuck_after: Seconds a killed child is waited for.
        restart: When the supervisor itself is started again, without children.
        shutdown: Seconds it may take to stop its children.
        significant: Whether its end counts for its parent's `auto_shutdown`.

    Raises:
        SpecError: A value is out of its range.
    """
    options = DynamicOptions(
        intensity=intensity,
        period=period,
        max_children=max_children,
        auto_shutdown=auto_shutdown,
        stuck_after=stuck_after,
    )

    async def start(life: Life) -> None:
        await DynamicSupervisor(life, options, handle).run()

    return ChildSpec(
        id=id, start=start, kind=Kind.SUPERVISOR, restart=restart, shutdown=shutdown, significant=significant
    )
