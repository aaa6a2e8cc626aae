"""A supervisor whose children come and go on demand: OTP's simple_one_for_one, Elixir's DynamicSupervisor.

Owns: unordered children, each started and stopped in its own time. Must not: let one slow child hold up
another.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import assert_never

import trio

from supervisors.call import Reply
from supervisors.child import Child
from supervisors.engine import Again, Due, Event, Request, SupervisorEngine
from supervisors.handle import AdminCode, AdminError, DynamicHandle, Op
from supervisors.life import Life
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


class DynamicSupervisor(SupervisorEngine):
    """One incarnation of a dynamic supervisor.

    Args:
        life: Its own side of its incarnation.
        spec: When it gives up, ends by itself, or stops waiting. No children: they come later.
        max_children: Children it holds at most, those being restarted included.
        handle: Where children are started.
    """

    def __init__(self, life: Life, spec: SupervisorSpec, max_children: float, handle: DynamicHandle) -> None:
        super().__init__(life, spec, handle)
        self._max_children = max_children
        self._starts: dict[Child, Reply] = {}

    async def _start_initial(self) -> bool:
        return True

    async def _stop_all(self) -> None:
        async with trio.open_nursery() as stops:
            for child in self.children.values():
                stops.start_soon(self._stop_child, child)
        for child, reply in self._starts.items():
            reply.fail(AdminError(AdminCode.START_FAILED, child.spec.id))

    async def _dispatch(self, event: Event) -> None:
        match event:
            case Again(child):
                life = self._again(child) if self._is_pending(event) else None
                if life is not None:
                    self._nursery.start_soon(self._host, life, name=child.path)
            case Due(child):
                if self._is_pending(event):
                    self._spawn(child)
            case Request(op, argument, reply):
                self._serve(op, argument, reply)
            case _:
                assert_never(event)

    def _forgets(self, child: Child) -> bool:  # noqa: ARG002 - whatever it is
        return True

    def _ready(self, child: Child) -> None:
        super()._ready(child)
        reply = self._starts.pop(child, None)
        if reply is not None:
            reply.answer(self._info(child))

    def _not_ready(self, child: Child, life: Life) -> None:
        reply = self._starts.pop(child, None)
        if reply is None:
            super()._not_ready(child, life)
            return
        child.down()
        self._forget(child)
        if life.ignored:
            reply.answer(self._info(child))
        else:
            reply.fail(AdminError(AdminCode.START_FAILED, child.spec.id, life.exit))

    def _serve(self, op: Op, argument: Hashable | ChildSpec, reply: Reply) -> None:
        try:
            if op is Op.START:
                self._op_start(argument, reply)
            else:  # a dynamic handle has no other request
                self._nursery.start_soon(self._op_terminate, self._find(argument), reply)
        except (AdminError, SpecError) as error:
            reply.fail(error)

    def _op_start(self, spec: Hashable | ChildSpec, reply: Reply) -> None:
        spec = check_children([spec], self.spec.auto_shutdown)[0]
        if spec.id in self.children:
            there = self.children[spec.id].running
            raise AdminError(AdminCode.ALREADY_STARTED if there else AdminCode.ALREADY_PRESENT, spec.id)
        if len(self.children) >= self._max_children:
            raise AdminError(AdminCode.MAX_CHILDREN, spec.id)
        child = self._adopt(spec)
        self._starts[child] = reply
        self._spawn(child)

    async def _op_terminate(self, child: Child, reply: Reply) -> None:
        gone = await self._stop_child(child)
        starter = self._starts.pop(child, None)
        if starter is not None:
            starter.fail(AdminError(AdminCode.START_FAILED, child.spec.id))
        if gone:
            self._forget(child)
            reply.answer(None)
        else:
            reply.fail(AdminError(AdminCode.STUCK, child.spec.id))


def _check_max_children(limit: object) -> None:
    whole = isinstance(limit, int) and not isinstance(limit, bool) and limit >= 0
    if not whole and limit != math.inf:
        raise SpecError("invalid_max_children", f"max_children is {limit!r}")


def dynamic_spec(
    id: Hashable,
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

    Its children have no order: they start and stop side by side, each within its own `shutdown` time.

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
    _check_max_children(max_children)
    spec = SupervisorSpec(
        intensity=intensity, period=period, auto_shutdown=auto_shutdown, stuck_after=stuck_after
    )

    async def start(life: Life) -> None:
        await DynamicSupervisor(life, spec, max_children, handle).run()

    return ChildSpec(
        id=id, start=start, kind=Kind.SUPERVISOR, restart=restart, shutdown=shutdown, significant=significant
    )
