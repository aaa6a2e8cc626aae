"""A supervisor with a list of children: OTP's one_for_one, one_for_all and rest_for_one.

Owns: carrying out the steps `plan` names, one after the other. Must not: decide what those steps are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import assert_never

from supervisors import plan
from supervisors.child import Child, ChildState, Life
from supervisors.engine import Due, Engine, Event, Exited, Request, Retry, Settled
from supervisors.exits import Exit, StartFailed
from supervisors.handle import AdminCode, AdminError, Op, SupervisorHandle
from supervisors.mailbox import Reply
from supervisors.plan import Verdict, View
from supervisors.spec import Brutal, ChildSpec, Kind, Restart, SpecError, SupervisorSpec, check_children


class Supervisor(Engine):
    """One incarnation of a supervisor with a list of children.

    Args:
        life: Its own side of its incarnation.
        spec: What it supervises and how.
        handle: Where to be reached, if anywhere.
    """

    def __init__(self, life: Life, spec: SupervisorSpec, handle: SupervisorHandle | None = None) -> None:
        super().__init__(
            life, intensity=spec.intensity, period=spec.period, stuck_after=spec.stuck_after, handle=handle
        )
        self.spec = spec

    async def _start_initial(self) -> bool:
        for spec in self.spec.children:
            child = self._adopt(spec)
            failure = await self._start(child)
            if self.stopping:
                return False
            if failure is not None:
                error = StartFailed(spec.id, failure)
                error.__cause__ = failure.error
                self.finish(error)
                return False
        return True

    async def _start(self, child: Child) -> Exit | None:
        """Start a child and wait until it is ready; its exit when it failed. One that declines is no failure."""
        life = self._spawn(child)
        await life.settled.wait()
        if life.is_ready:
            child.state = ChildState.RUNNING
            return None
        child.down()
        if life.ignored:
            if child.spec.restart is Restart.TEMPORARY:
                del self.children[child.spec.id]
            return None
        return life.exit

    async def _stop_all(self) -> None:
        for child in reversed(self.children.values()):
            await self._stop_child(child)

    async def _dispatch(self, event: Event) -> None:
        match event:
            case Exited(life):
                await self._exited(life)
            case Retry(child):
                if self._is_pending(event):
                    await self._restart(child)
            case Due(child):
                if self._is_pending(event):
                    child.timer = None
                    await self._perform(child)
            case Request(op, argument, reply):
                await self._serve(op, argument, reply)
            case Settled():
                pass

    async def _exited(self, life: Life) -> None:
        child = self.children.get(life.spec.id)
        if child is None or child.life is not life or life.exit is None:
            return
        if child.state is ChildState.STUCK:
            await self._unstuck(child)
            return
        verdict = plan.judge(child.spec.restart, life.exit)
        if verdict is Verdict.RESTART:
            await self._restart(child)
            return
        ended = self._view(child)
        child.down()
        if verdict is Verdict.FORGET:
            del self.children[child.spec.id]
        siblings = [self._view(other) for other in self.children.values() if other is not child]
        if plan.ends_supervisor(self.spec.auto_shutdown, ended, siblings):
            self._auto_shutdown()

    async def _unstuck(self, child: Child) -> None:
        revive = child.revive
        child.down()
        if revive:
            await self._start_or_retry(child)

    async def _restart(self, child: Child) -> None:
        delay = self._count(child)
        if delay is None:
            return
        if delay > 0:
            self._later(child, delay)
        else:
            await self._perform(child)

    async def _perform(self, failed: Child) -> None:
        """Carry out a restart. A start that fails ends it; what is left is done by the retry, from that child on."""
        if self.spec.strategy is plan.Strategy.ONE_FOR_ONE:
            await self._start_or_retry(failed)
            return
        views = [self._view(child) for child in self.children.values()]
        for step in plan.restart_steps(self.spec.strategy, views, failed.spec.id):
            if self.stopping:
                return
            child = self.children[step.id]
            match step:
                case plan.Stop():
                    await self._stop_child(child)
                case plan.Forget():
                    del self.children[step.id]
                case plan.Start():
                    if not await self._start_or_retry(child):
                        return
                case _:
                    assert_never(step)

    async def _start_or_retry(self, child: Child) -> bool:
        if child.state is ChildState.STUCK:
            child.revive = True
            return True
        child.cancel_timer()
        if await self._start(child) is None:
            return True
        child.state = ChildState.RESTARTING
        self._post.send_nowait(Retry(child, child.generation))
        return False

    def _view(self, child: Child) -> View:
        return View(child.spec.id, child.spec.restart, child.spec.significant, child.active)

    async def _serve(self, op: Op, argument: Hashable | ChildSpec, reply: Reply) -> None:
        try:
            match op:
                case Op.START:
                    reply.answer(await self._op_start(argument))
                case Op.TERMINATE:
                    reply.answer(await self._op_terminate(self._find(argument)))
                case Op.RESTART:
                    reply.answer(await self._op_restart(self._find(argument)))
                case Op.DELETE:
                    reply.answer(self._op_delete(self._find(argument)))
                case _:
                    assert_never(op)
        except (AdminError, SpecError) as error:
            reply.fail(error)

    async def _op_start(self, spec: Hashable | ChildSpec) -> object:
        check_children([spec], self.spec.auto_shutdown)
        assert isinstance(spec, ChildSpec)
        if spec.id in self.children:
            there = self.children[spec.id].life is not None
            raise AdminError(AdminCode.ALREADY_STARTED if there else AdminCode.ALREADY_PRESENT, spec.id)
        child = self._adopt(spec)
        failure = await self._start(child)
        if failure is not None:
            del self.children[spec.id]
            raise AdminError(AdminCode.START_FAILED, spec.id, failure)
        return self._info(child)

    async def _op_terminate(self, child: Child) -> None:
        if not await self._stop_child(child):
            raise AdminError(AdminCode.STUCK, child.spec.id)
        if child.spec.restart is Restart.TEMPORARY:
            del self.children[child.spec.id]

    async def _op_restart(self, child: Child) -> object:
        self._refuse_unless_down(child)
        failure = await self._start(child)
        if failure is not None:
            raise AdminError(AdminCode.START_FAILED, child.spec.id, failure)
        return self._info(child)

    def _op_delete(self, child: Child) -> None:
        self._refuse_unless_down(child)
        del self.children[child.spec.id]

    def _refuse_unless_down(self, child: Child) -> None:
        if child.state is ChildState.RESTARTING:
            raise AdminError(AdminCode.RESTARTING, child.spec.id)
        if child.state is ChildState.STUCK:
            raise AdminError(AdminCode.STUCK, child.spec.id)
        if child.life is not None:
            raise AdminError(AdminCode.RUNNING, child.spec.id)


def supervisor_spec(
    id: Hashable,  # noqa: A002 - the vocabulary of the field
    spec: SupervisorSpec,
    *,
    restart: Restart = Restart.PERMANENT,
    shutdown: float | Brutal = math.inf,
    significant: bool = False,
    start_timeout: float = 60.0,
    handle: SupervisorHandle | None = None,
) -> ChildSpec:
    """The spec of a supervisor that is a child of another one.

    A supervisor that gives up ends with `shutdown`, so its parent restarts it only when it is permanent. After a restart only
    the children of `spec` are there.

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
