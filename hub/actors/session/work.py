"""RUNNING: an agent works, and hub watches for its end, its wall, its silence, its budget and the user's wishes.

Owns: the start of an agent, the watch over it, and what a failure leads to.
Must not: pass work on itself (it only moves the record to PAUSING), or end the session (`ending` does).
"""

from __future__ import annotations

from functools import partial

import attrs

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import passes
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.chronicle import amend
from hub.actors.session.commands import prepare
from hub.actors.session.context import LiveAgent, PendingCommand, SessionContext, owner, unknown_agent
from hub.actors.session.contract import adopted_orders
from hub.actors.session.ending import SessionEnding
from hub.actors.session.permission_broker import PermissionBroker
from hub.actors.session.routing import Routing
from hub.actors.session.store import effect
from hub.domain.approval import Action
from hub.domain.cost import Budget
from hub.domain.event import Tag
from hub.domain.failure import TIME_MENDS, Failure, FailureClass
from hub.domain.handoff import State, Trigger
from hub.domain.prompt import Orders, orders_again
from hub.domain.retry import HandOff, Surface, Wait, decide
from hub.domain.session import Attempt, OnLimit, SessionRecord, SessionState
from hub.domain.turn import Begin, Go, HandOver, bound, nobody, situation, told_anew, turn
from hub.errors import Code, HubError
from hub.io.git.env import together
from hub.io.models.prices import billed
from hub.messages.breakers import BreakerFailure, BreakerSuccess
from hub.providers.base import Ending, Outcome
from hub.providers.provider import refused_login_hint

_LOOK = 10.0
"""Seconds between two looks of a session that waits at who is free: a login may be made beside hub, untold."""
_LEAVES = 5.0
"""Seconds for the process of a run that was interrupted to end."""
_STARTS = frozenset({FailureClass.CRASH, FailureClass.AUTH, FailureClass.SILENT})
"""Failures that, before an agent has done anything, say that it could not start."""
_UNSAID = frozenset({FailureClass.CRASH, FailureClass.SILENT})
"""Failures no agent tells of itself."""


@attrs.define
class SessionWork:
    """What is done while the record says RUNNING."""

    context: SessionContext
    control: AgentControl
    routing: Routing
    broker: PermissionBroker
    ending: SessionEnding
    _looked: int = -1
    """The newest event when the budget was looked at."""

    async def step(self, record: SessionRecord) -> None:
        """One stretch of work: until the record has to change."""
        if record.wait:
            await self._wait(record, record.wait)
        elif not record.worktree_ready:
            await prepare(self.context, record)
        elif record.provider not in self.context.providers:
            await self._gone(record)
        elif not record.dispatch_id:
            await self._allot(record)
        else:
            await self._run(record)

    async def _gone(self, record: SessionRecord) -> None:
        """Its agent was taken out of the configuration while hub was away: another one goes on with its work.

        Raises:
            HubError: `agent_missing`; nobody else may.
        """
        error = unknown_agent(record.provider)
        if not record.handoffs_left or await self.routing.next(record, None) is None:
            raise error
        await self.context.store.trouble(error)
        await self._hand_off(record, Trigger.FAILURE, error.detail, FailureClass.CRASH)

    async def _wait(self, record: SessionRecord, wait: Wait) -> None:
        """Sleep until an absolute instant, which survives a restart; a handoff request ends it at once.

        Where nobody else is free, that request means: try once more now. It is on record until an agent has started.
        """
        shared, store, early = self.context.shared, self.context.store, False
        while wait.until > self.context.clock():
            shared.freed = False
            if early := (stands := await self.routing.look(record, wait)) is None:
                break
            shared.stands = wait = stands
            left = max(0.0, wait.until - self.context.clock())
            pause = min(left, _LOOK) if wait.ender else left
            await shared.wait_for(lambda: shared.pending or shared.detached or shared.freed, pause)
            if shared.pending or shared.detached:
                break
        await self.unpaused()
        if shared.stopping or shared.detached:
            return
        asked = shared.pending is PendingCommand.HANDOFF
        record = store.now
        wanted = (asked or wait.then == "handoff") and await self.routing.begun(record)
        waiting = record if early else attrs.evolve(record, wait=None)
        if wanted and await self.routing.next(waiting, record.failure) is not None:
            trigger = Trigger.MANUAL_HANDOFF if asked else Trigger.FAILURE
            reason = "asked for by the user" if asked else "another account is free again"
            # One write: were the wait ended by another one, a crash between the two would try the same agent again.
            handoff_id = self.context.new_id("h")
            await store.hand_over(
                record, handoff_id, trigger, reason, record.failure, wait=None, error=None, dispatch_id=""
            )
        else:
            state = SessionState.RUNNING if record.attempt else SessionState.STARTING
            await store.update(session_state=state, insisted=asked, wait=None, error=None, dispatch_id="")
        why = " (asked for by the user)" if asked else ""
        shared.stands = None
        await store.say(Tag.SYSTEM, f"waiting is over{why}; going on")
        shared.settle()

    async def _allot(self, record: SessionRecord) -> None:
        """Before each start and each further try: who has the work may do it now, or another one does, or it waits.

        Raises:
            HubError: Nobody may, and waiting helps nobody; or the user does not let it start.
        """
        store = self.context.store
        begun, choice = await self.routing.turn(record)
        match turn(record, choice, begun=begun):
            case Go():
                await self.broker.insist_start(record)
                await store.update(dispatch_id=self.context.new_id("d"), attempt=record.attempt + 1)
            case Begin(target=target, why=why):
                await store.begin_with(record, target, why)
            case HandOver(why=why):
                handoff_id = self.context.new_id("h")
                await store.hand_over(record, handoff_id, Trigger.FAILURE, why, FailureClass.USAGE_LIMIT)
            case Wait() as wait:
                await self.routing.give_back(record)
                await store.wait(wait)

    async def _run(self, record: SessionRecord) -> None:
        await self.context.store.note(
            "dispatch",
            f"dispatch:{record.dispatch_id}",
            dispatchId=record.dispatch_id,
            provider=record.provider,
            account=record.account,
        )
        if not await self.routing.claim(record, runs=self.control.has_run(record)):
            await self.context.store.update(dispatch_id="")  # somebody else has the one attempt: ask anew
            return
        try:
            live = await self.control.dispatch(record, self._orders(record))
        except HubError as error:
            if error.code is not Code.DISPATCH_FAILED or passes(error):
                raise
            record = await self.context.store.update(insisted=False)
            await self._failed(record, Failure(FailureClass.CRASH, error.detail))
            return
        effect(State.RUNNING, "mid")
        if record.session_state is SessionState.STARTING or record.insisted:
            record = await self.context.store.update(session_state=SessionState.RUNNING, insisted=False)
        self.context.shared.trouble = None  # the agent is held and on record: nothing keeps it from working
        await self._watch(record, live)

    def _orders(self, record: SessionRecord) -> Orders:
        resumes = self.context.providers[record.provider].capabilities.resume
        if record.adopted:
            return adopted_orders(self.context, record, resumes=resumes)
        return orders_again(record, resumes=resumes)

    async def _watch(self, record: SessionRecord, live: LiveAgent) -> None:
        shared = self.context.shared
        own = self.context.providers[record.provider].silent_after
        silent_after = self.context.config.session.silent_after or own
        while True:
            heard = live.heard_at
            spoke = await shared.wait_for(
                lambda: (
                    live.outcome
                    or live.exit
                    or self._breached(live)
                    or shared.pending
                    or not live.adapter_up
                    or self._spent()
                ),
                silent_after,
            )
            if shared.stopping:
                return
            if live.outcome is not None:
                if live.exit is not None and not live.alive:
                    self.control.insist_known(record)
                effect(State.RUNNING, "done")
                await self._over(record, live.outcome)
                return
            if self._spent():
                await self._look_at_budget(self.context.store.now, live)
                continue
            if shared.pending is PendingCommand.HANDOFF:
                if await self._nobody(record):
                    continue
                await self._hand_off(record, Trigger.MANUAL_HANDOFF, "asked for by the user", None)
                return
            reading = live.breach
            if reading is not None and self._breached(live) and await self._nobody_left(record):
                live.breach = None
                continue
            if reading is not None and self._breached(live):
                reason = f"{reading.window or 'quota'} at {reading.used_permille / 10:g} %"
                await self._hand_off(record, Trigger.QUOTA_BREACH, reason, FailureClass.USAGE_LIMIT)
                return
            if not live.adapter_up:
                return
            if not spoke and heard == live.heard_at and self._may_be_stuck(live):
                text = f"No event for {silent_after:g} s."
                await self._failed(record, Failure(FailureClass.SILENT, text))
                return

    def _breached(self, live: LiveAgent) -> bool:
        """Whether its quota is a reason to hand over; not while the user has paused it: it uses nothing up."""
        return live.breach is not None and not self.context.store.now.paused

    async def unpaused(self) -> None:
        """Wait until the user lets the session go on; a stop ends the wait, and so does a wish for a handoff."""
        shared, store = self.context.shared, self.context.store
        if store.now.paused:
            await self.routing.line_up()
        await shared.wait_for(lambda: not store.now.paused or shared.pending or shared.detached)
        if store.now.paused and shared.pending is PendingCommand.HANDOFF:
            await store.update(paused=False)
            await store.say(Tag.SYSTEM, "resumed: a handoff was asked for")

    async def _nobody(self, record: SessionRecord) -> bool:
        """Whether the user's wish for a handoff must be refused; the agent then works on."""
        choice = await self.routing.choose(record, None)
        if choice.first is not None:
            return False
        why = nobody(choice)
        await self.context.store.trouble(HubError(why.code, f"no handoff: {why.detail}", hint=why.hint))
        self.context.shared.settle(why)
        return True

    async def _nobody_left(self, record: SessionRecord) -> bool:
        """A forecast is no reason to stop an agent when nobody could go on."""
        if not record.handoffs_left or record.on_limit is not OnLimit.HANDOFF:
            return True
        return await self.routing.next(record, FailureClass.USAGE_LIMIT, fresh=True) is None

    @property
    def _budget(self) -> Budget:
        session = self.context.config.session
        return Budget(session.max_cost, session.max_tokens)

    def _spent(self) -> bool:
        """Whether something was used since it was looked last."""
        return self._budget.capped and self.context.store.usage.upto != self._looked

    async def _look_at_budget(self, record: SessionRecord, live: LiveAgent) -> None:
        """Where the budget is used up: hold the agent, ask, and go on or ask for the session's end.

        Each yes is on record before the agent goes on, so that it holds over a restart.

        Raises:
            HubError: `interrupted`; the session is to stop.
        """
        store, budget = self.context.store, self._budget
        self._looked, sums = store.usage.upto, store.usage.tokens()
        tokens = sums.tokens_in + sums.tokens_out
        usd = (await billed(store.usage.by_dispatch.values())).usd if budget.max_cost is not None else None
        said = budget.used_up(usd, tokens, record.extended)
        if not said:
            return
        live.paused = self.control.pause(on=True)
        occasion = f"budget-{record.extended + 1}"
        if not await self.broker.permitted(record, Action.BUDGET, occasion, record.holder, said):
            await store.say(Tag.SYSTEM, f"{said}, and you did not let it go on")
            await store.update(stopping="user")
            self.context.shared.ask(PendingCommand.STOP)
            return
        await store.update(extended=max(record.extended + 1, budget.times(usd, tokens)))
        self._looked = -1
        if not store.now.paused:
            self.control.resume(live)

    def _may_be_stuck(self, live: LiveAgent) -> bool:
        """A pause, a question to the user and a running tool are silence with a reason."""
        return not (live.paused or live.needs_input or live.tools_in_flight)

    async def _over(self, record: SessionRecord, outcome: Outcome) -> None:
        match outcome.ending:
            case Ending.DONE:
                done = BreakerSuccess(record.provider, record.account, record.dispatch_id)
                await call_until_answered(self.context.breakers, done)
                self.context.shared.settle(
                    HubError(Code.HANDOFF_IN_PROGRESS, "The agent is done; its work is being verified.")
                )
                await self.control.stop("done")
                await self.control.release()
                await self.ending.judge(record)
            case Ending.INTERRUPTED if await self._orphaned(record):
                await self.routing.ended(record)
                await self.control.release()
                await self.context.store.update(dispatch_id="", failing=record.failing + 1)
                await self.context.store.say(
                    Tag.SYSTEM, f"{record.provider} was stopped while hub was away; it goes on"
                )
            case Ending.FAILED | Ending.INTERRUPTED:
                failure = outcome.failure or Failure(FailureClass.UNKNOWN, "It was interrupted.")
                await self._failed(record, failure)

    async def _orphaned(self, record: SessionRecord) -> bool:
        """Whether its runner stopped the agent in order, because no daemon came back in time: it may go on."""
        live = self.context.shared.agent
        if live is None or record.failing >= self.context.config.session.retries:
            return False
        await self.context.shared.wait_for(
            lambda: live.exit or not live.adapter_up or self.context.shared.pending, _LEAVES
        )
        return live.exit is not None and live.exit.asked

    async def _failed(self, record: SessionRecord, failure: Failure) -> None:
        """Ask the rule what a failure leads to, and do it."""
        live = self.context.shared.agent
        worked = failure.kind in TIME_MENDS and live is not None and live.worked
        told = BreakerFailure(record.provider, record.account, failure, record.dispatch_id, worked)
        await call_until_answered(self.context.breakers, told)
        if failure.kind in _UNSAID:
            await self.context.store.say(
                Tag.ERROR, f"{record.provider}: {failure.text}", failure=str(failure.kind)
            )
        await self.unpaused()
        if self.context.shared.stopping or self.context.shared.detached:
            return  # what the failure leads to is decided anew, or never
        record = self.context.store.now
        if worked:
            record = attrs.evolve(record, failing=0)
        if failure.kind is FailureClass.REFUSAL:
            record = await self.context.store.update(refused_by=(*record.refused_by, record.provider))
        mine = record.holder
        if failure.kind is FailureClass.USAGE_LIMIT and failure.resets_at is None:
            failure = attrs.evolve(failure, resets_at=await self.routing.reset_of(mine))
        choice = await self.routing.choose(record, failure.kind)
        target = choice.first
        where = situation(
            record,
            failure.kind,
            choice,
            self.context.clock(),
            breaker_open=await self.routing.is_shut(mine),
            jitter=self.context.chance(),
            max_attempts=self.context.config.session.retries,
        )
        match decision := decide(failure, where):
            case HandOff() if failure.kind in _STARTS and not await self.routing.begun(record):
                await self.control.stop("failed")
                await self.control.release()
                kind = "auth" if failure.kind is FailureClass.AUTH else "dispatch_failed"
                left = Attempt(*owner(record), kind, record.at)
                record = await self.context.store.update(tried=(*record.tried, left), dispatch_id="")
                if target:  # else the session waits for somebody, as whose turn it is says
                    await self.context.store.begin_with(record, target, failure.text)
            case HandOff(reason=reason):
                await self._hand_off(record, Trigger.FAILURE, reason or failure.text, failure.kind)
            case Wait():
                if decision.ender and target is None and not bound(record, begun=True):
                    decision = told_anew(attrs.evolve(decision, why=f"{decision.reason}. "), choice)
                await self._begin_wait(record, decision, failure.kind)
            case Surface(code=code, reason=reason):
                provider = self.context.providers[record.provider]
                hint = refused_login_hint(provider, record.account) if code is Code.AUTH_NEEDED else ""
                raise HubError(code, f"{reason}: {failure.text}", hint=hint)

    async def _begin_wait(self, record: SessionRecord, wait: Wait, failure: FailureClass) -> None:
        await self.control.stop("waiting")
        await self.control.release()
        # It has the session that the agent told of.
        await amend(self.context, self.control, self.context.store.now)
        await self.routing.give_back(record)
        await self.context.store.wait(wait, failure=failure, failing=record.failing + 1)

    async def _hand_off(
        self, record: SessionRecord, trigger: Trigger, reason: str, failure: FailureClass | None
    ) -> None:
        if trigger is not Trigger.FAILURE:
            await self.routing.ended(record)
        handoff_id = self.context.new_id("h")
        begin = partial(self.context.store.hand_over, record, handoff_id, trigger, reason, failure)
        if record.verify:  # nobody knows how long that takes: the launcher would not wait for its end
            await begin()
        else:
            await together(begin, self.control.make_ready)
        self.context.shared.settle()
