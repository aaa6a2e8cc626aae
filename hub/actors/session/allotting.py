"""Whether who has the work may go on: before each start, and where the budget of the session is used up.

Owns: the first agent of a session and the agent of each further try, the wait where nobody is free, the beginning of
a handoff, and what follows a yes and a no at the budget.
Must not: start an agent (`work` does), decide what a failure means (`hub.domain.retry` does), or count what was used.
Tests: tests/hub/actors/session/test_work.py, tests/hub/actors/session/test_spending.py
"""

from __future__ import annotations

import math

import attrs
import trio

from hub.actors.session.agent_control import AgentControl
from hub.actors.session.context import LiveAgent, PendingCommand, SessionContext
from hub.actors.session.permission_broker import PermissionBroker
from hub.actors.session.routing import Routing
from hub.domain.approval import Action
from hub.domain.cost import Budget
from hub.domain.event import DOING, Tag
from hub.domain.failure import FailureClass
from hub.domain.handoff import Trigger
from hub.domain.retry import Wait
from hub.domain.routing import Choice, Target
from hub.domain.session import Attempt, Handoff, OnLimit, SessionRecord, SessionState
from hub.domain.wallclock import iso
from hub.errors import Code, HubError


def nobody(choice: Choice) -> HubError:
    """That and why nobody else may have the work, and what helps."""
    detail = f"No other account or provider may take the work now. {choice.reasons()}"
    return HubError(Code.NO_FALLBACK, detail, hint=choice.next_step())


@attrs.frozen
class Allotting:
    """Says whose the next dispatch is."""

    context: SessionContext
    routing: Routing
    broker: PermissionBroker

    async def allot(self, record: SessionRecord) -> None:
        """Before each start and each further try: who has the work may do it now, or another one does, or it waits.

        Raises:
            HubError: Nobody may, and waiting helps nobody.
        """
        mine = Target(record.provider, record.account)
        begun, choice = await self.choice(record)
        if mine in choice.ranked:
            await self._permitted(record)
            await self.context.store.update(dispatch_id=self.context.new_id("d"), attempt=record.attempt + 1)
        elif choice.first is None:
            await self.nobody_now(record, choice)
        elif begun:
            why = choice.why(mine)
            await start_handoff(self.context, record, Trigger.FAILURE, why, FailureClass.USAGE_LIMIT)
        else:
            await self.begin_with(record, choice.first, choice.why(mine))

    async def choice(self, record: SessionRecord) -> tuple[bool, Choice]:
        """Whether any agent has done anything, and who may have the next dispatch: who has the work comes first.

        Where the user wants no other, who has begun or met its limit keeps it, until a handoff is asked for.
        """
        mine = Target(record.provider, record.account)
        begun = await self.begun(record)
        met = begun or (record.failure is not None and not record.insisted)
        bound = met and (
            record.on_limit is not OnLimit.HANDOFF or record.handoffs_done >= record.max_handoffs
        )
        return begun, await self.routing.choose(record, None, stay=True, only=mine if bound else None)

    async def begun(self, record: SessionRecord) -> bool:
        """Whether any agent of the session has done anything: before that there is nothing to hand over."""
        if record.handoffs_done or not record.attempt:
            return bool(record.handoffs_done)
        found: list[bool] = []
        await self.context.each(
            record.session_id, lambda page: found.append(any(r.meta.get("type") in DOING for r in page))
        )
        return any(found)

    async def begin_with(
        self, record: SessionRecord, target: Target, why: str, left: tuple[Attempt, ...] = ()
    ) -> None:
        """Somebody else begins, as if it had been chosen at once: no handoff, for nothing was done."""
        await self.context.store.update(
            provider=target.provider,
            account=target.account,
            tried=(*record.tried, *left),
            dispatch_id="",
            native_id="",
            failing=0,
            failure=None,
            session_state=SessionState.STARTING,
        )
        mine = Target(record.provider, record.account)
        await self.context.store.say(Tag.SYSTEM, f"{target} begins in place of {mine}: {why}")

    async def nobody_now(self, record: SessionRecord, choice: Choice) -> None:
        """Wait for the first who is free again, or say why nobody will be.

        Raises:
            HubError: `quota_exhausted`, `no_fallback`.
        """
        until = choice.until()
        if until is None:
            raise nobody(choice)
        if record.on_limit is OnLimit.STOP:
            raise HubError(Code.QUOTA_EXHAUSTED, nobody(choice).detail)
        why = f"nobody can take the work now: {choice.said()}"
        await self.wait(Wait(until, why, ender="anybody", unsure=until != choice.reset()))

    async def _permitted(self, record: SessionRecord) -> None:
        """The first start of an agent may need somebody's word; another try of the same one does not.

        Raises:
            HubError: `approval_denied`, `interrupted`.
        """
        target = Target(record.provider, record.account)
        if record.attempt and record.session_state is not SessionState.STARTING:
            return
        occasion = f"start-{record.attempt}" if record.attempt else "start"
        if await self.broker.permitted(record, Action.START, occasion, target):
            return
        raise HubError(Code.APPROVAL_DENIED, f"{record.provider} was not allowed to start.")

    async def wait(self, wait: Wait, **also: object) -> None:
        """Put a wait on record, with other changes in the same write, and tell of it."""
        await self.routing.give_back(self.context.store.now)
        await self.context.store.update(wait=wait, session_state=SessionState.WAITING, **also)
        await tell_wait(self.context, wait)


async def tell_wait(context: SessionContext, wait: Wait) -> None:
    """Tell of a wait that is on record: why, how long, and until when, where that is known."""
    if wait.unsure:
        await context.store.say(Tag.WAITING, wait.reason)
        return
    seconds = max(0, wait.until - context.clock())
    msg = f"{wait.reason.rstrip('.')}; waiting {seconds:.0f} s"
    await context.store.say(Tag.WAITING, msg, until=iso(math.ceil(wait.until)))


async def start_handoff(
    context: SessionContext,
    record: SessionRecord,
    trigger: Trigger,
    reason: str,
    failure: FailureClass | None,
    *,
    tried_as: str = "",
    **also: object,
) -> None:
    """RUNNING -> PAUSING, with other changes of the record in the same write; durable when this returns."""
    left = Attempt(record.provider, record.account, tried_as or str(failure or trigger), record.at)
    await context.store.advance(
        trigger,
        handoff_id=context.new_id("h"),
        handoff=Handoff(trigger=trigger.value, reason=reason),
        failure=failure,
        tried=(*record.tried, left),
        session_state=SessionState.HANDING_OFF,
        needs_input=False,
        paused=record.paused and trigger is not Trigger.MANUAL_HANDOFF,  # who asks for it wants it now
        snapshot_sha="",
        **also,
    )


@attrs.define
class BudgetWatch:
    """Looks whenever something was used."""

    context: SessionContext
    control: AgentControl
    broker: PermissionBroker
    _looked: int = -1
    """Up to which event."""

    def due(self) -> bool:
        """Whether something was used since it was looked last."""
        return self._budget.capped and self.context.store.usage.upto != self._looked

    @property
    def _budget(self) -> Budget:
        session = self.context.config.session
        return Budget(session.max_cost, session.max_tokens)

    async def look(self, record: SessionRecord, live: LiveAgent) -> None:
        """Where the budget is used up: hold the agent, ask, and go on or ask for the session's end.

        Each yes is on record before the agent goes on, so that it holds over a restart.

        Raises:
            HubError: `interrupted`; the session is to stop.
        """
        self._looked = self.context.store.usage.upto
        tokens = self.context.store.usage.tokens()
        usd = (await self.context.store.usage.bill()).usd if self._budget.max_cost is not None else None
        said = self._budget.used_up(usd, tokens.tokens_in + tokens.tokens_out, record.extended)
        if not said:
            return
        live.paused = self.control.pause(on=True)
        occasion, target = f"budget-{record.extended + 1}", Target(record.provider, record.account)
        if not await self.broker.permitted(record, Action.BUDGET, occasion, target, said):
            await self.context.store.say(Tag.SYSTEM, f"{said}, and you did not let it go on")
            await self.context.store.update(stopping="user")
            self.context.shared.ask(PendingCommand.STOP)
            return
        await self.context.store.update(extended=record.extended + 1)
        self._looked = -1
        if not self.context.store.now.paused:
            self.control.pause(on=False)
            live.paused = False
            live.heard_at = trio.current_time()
