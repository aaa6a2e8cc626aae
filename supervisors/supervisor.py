"""A supervisor with a list of children: OTP's one_for_one, one_for_all and rest_for_one.

Owns: carrying out the steps `plan` names, one after the other. Must not: decide what those steps are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import assert_never

from supervisors import plan
from supervisors.call import Reply
from supervisors.child import Child, ChildState
from supervisors.engine import Again, Due, Event, Request, SupervisorEngine
from supervisors.exits import Exit, StartFailed
from supervisors.handle import AdminCode, AdminError, ChildInfo, Op, SupervisorHandle
from supervisors.life import Life
from supervisors.spec import (
    Brutal,
    ChildSpec,
    Kind,
    Restart,
    SpecError,
    Strategy,
    SupervisorSpec,
    check_children,
)


class Supervisor(SupervisorEngine):
    """One incarnation of a supervisor with a list of children.

    Args:
        life: Its own side of its incarnation.
        spec: What it supervises and how.
        handle: Where to be reached, if anywhere.
    """

    def __init__(self, life: Life, spec: SupervisorSpec, handle: SupervisorHandle | None = None) -> None:
        super().__init__(life, spec, handle)
        self._independent = spec.strategy is Strategy.ONE_FOR_ONE

    async def _start_initial(self) -> bool:
        for spec in self.spec.children:
            failure = await self._start(self._adopt(spec))
            if self.stopping:
                return False
            if failure is not None:
                error = StartFailed(spec.id, failure)
                error.__cause__ = failure.error
                self.finish(error)
                return False
        return True

    async def _start(self, child: Child) -> Exit | None:
        """Start a child and wait until it is ready; its exit when it failed (to decline is not to fail)."""
        self._awaited = life = self._spawn(child)
        await life.settled.wait()
        self._awaited = None
        if life.is_ready:
            return None
        child.down()
        if not life.ignored:
            return life.exit
        if self._forgets(child):
            self._forget(child)
        return None

    async def _stop_all(self) -> None:
        for child in reversed(list(self.children.values())):
            await self._stop_child(child)

    async def _dispatch(self, event: Event) -> None:
        match event:
            case Again(child):
                if self._is_pending(event):
                    await self._restart(child)
            case Due(child):
                if self._is_pending(event):
                    await self._perform(child)
            case Request(op, argument, reply):
                await self._serve(op, argument, reply)
            case _:
                assert_never(event)

    def _again(self, child: Child) -> Life | None:
        if self._independent:
            return super()._again(child)
        self._post.send_nowait(Again(child, child.generation))
        return None

    async def _restart(self, child: Child) -> None:
        delay = self._count(child)
        if delay is None:
            return
        if delay > 0:
            self._later(child, delay)
        else:
            await self._perform(child)

    async def _perform(self, failed: Child) -> None:
        """Carry out a restart. A start that fails ends it; the next try goes on from that child."""
        if self._independent:
            self._spawn(failed)
            return
        views = [self._view(child) for child in self.children.values()]
        for step in plan.restart_steps(self.spec.strategy, views, failed.spec.id):
            if self.stopping:
                return
            child = self.children.get(step.id)  # a temporary one may have ended by itself meanwhile
            if child is not None and not await self._do(step, child):
                return

    async def _do(self, step: plan.Step, child: Child) -> bool:
        """Carry out one step; False when the rest has to wait for another try."""
        match step:
            case plan.Stop():
                await self._stop_child(child)
            case plan.Forget():
                self._forget(child)
            case plan.Start():
                return await self._start_again(child)
            case _:
                assert_never(step)
        return True

    async def _start_again(self, child: Child) -> bool:
        if child.life is not None:  # stuck, or revived meanwhile: never two incarnations at once
            child.revive = child.state is ChildState.STUCK
            return True
        child.cancel_timer()
        child.state = ChildState.RESTARTING
        if await self._start(child) is None:
            return True
        child.restarting()
        child.ready_for = 0.0
        self._post.send_nowait(Again(child, child.generation))
        return False

    async def _serve(self, op: Op, argument: Hashable | ChildSpec, reply: Reply) -> None:
        try:
            match op:
                case Op.START:
                    reply.answer(await self._op_start(argument))
                case Op.TERMINATE:
                    await self._op_terminate(self._find(argument))
                case Op.RESTART:
                    reply.answer(await self._op_restart(self._find(argument)))
                case Op.DELETE:
                    self._op_delete(self._find(argument))
                case _:
                    assert_never(op)
        except (AdminError, SpecError) as error:
            reply.fail(error)
        reply.answer(None)  # a reply keeps its first outcome

    async def _op_start(self, spec: Hashable | ChildSpec) -> ChildInfo:
        spec = check_children([spec], self.spec.auto_shutdown)[0]
        if spec.id in self.children:
            there = self.children[spec.id].running
            raise AdminError(AdminCode.ALREADY_STARTED if there else AdminCode.ALREADY_PRESENT, spec.id)
        child = self._adopt(spec)
        failure = await self._start(child)
        if failure is not None:
            self._forget(child)
            raise AdminError(AdminCode.START_FAILED, spec.id, failure)
        return self._info(child)

    async def _op_terminate(self, child: Child) -> None:
        if not await self._stop_child(child):
            raise AdminError(AdminCode.STUCK, child.spec.id)
        if self._forgets(child):
            self._forget(child)

    async def _op_restart(self, child: Child) -> ChildInfo:
        self._refuse_unless_down(child)
        failure = await self._start(child)
        if failure is not None:
            raise AdminError(AdminCode.START_FAILED, child.spec.id, failure)
        return self._info(child)

    def _op_delete(self, child: Child) -> None:
        self._refuse_unless_down(child)
        self._forget(child)

    def _refuse_unless_down(self, child: Child) -> None:
        if child.state is ChildState.RESTARTING:
            raise AdminError(AdminCode.RESTARTING, child.spec.id)
        if child.state is ChildState.STUCK:
            raise AdminError(AdminCode.STUCK, child.spec.id)
        if child.life is not None:
            raise AdminError(AdminCode.RUNNING, child.spec.id)


def supervisor_spec(
    id: Hashable,
    spec: SupervisorSpec,
    *,
    restart: Restart = Restart.PERMANENT,
    shutdown: float | Brutal = math.inf,
    significant: bool = False,
    start_timeout: float = 60.0,
    handle: SupervisorHandle | None = None,
) -> ChildSpec:
    """The spec of a supervisor that is a child of another one.

    A supervisor that gives up ends with `shutdown`, so its parent restarts it only when it is permanent.
    After a
    restart only the children of `spec` are there.

    Args:
        id: Unique among its siblings.
        spec: What it supervises and how.
        restart: When it is started again.
        shutdown: Seconds it may take to stop its children.
        significant: Whether its end counts for its parent's `auto_shutdown`.
        start_timeout: Seconds the start of all its children may take.
        handle: For those who want to administer its children.

    Raises:
        SpecError: A value is out of its range.
    """

    async def start(life: Life) -> None:
        await Supervisor(life, spec, handle).run()

    return ChildSpec(
        id=id,
        start=start,
        kind=Kind.SUPERVISOR,
        restart=restart,
        shutdown=shutdown,
        significant=significant,
        start_timeout=start_timeout,
    )
