"""The session actor: the inbox of one session.

Owns: the answers about the session, and the way an agent's batches reach the log.
Must not: carry the session on (the driver does), or write to the worktree.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import assert_never

import trio

from hub.actors.common.transient import TRANSIENT
from hub.actors.session import views
from hub.actors.session.context import (
    LiveAgent,
    PendingCommand,
    SessionContext,
    agent_meta,
    owner,
    unknown_agent,
)
from hub.actors.session.contract import follow_up
from hub.actors.session.driver import Driver
from hub.actors.session.ending import ended, stopped, withdraw_all
from hub.api.session import HandingOver, Paused, Replied
from hub.domain.event import Event, EventType, Tag, answers
from hub.domain.failure import ErrorNote, FailureClass
from hub.domain.handoff import State
from hub.domain.quota.window import QuotaReading, breach, newest, reading_of
from hub.domain.session import SessionRecord, SessionState
from hub.domain.text.safe import headline
from hub.domain.turn import nobody
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.messages.agent import AgentBatch, AgentEvent
from hub.messages.claims import AccountFreed
from hub.messages.quota import QuotaSeen
from hub.messages.session import (
    Detach,
    DraftFollowUp,
    GetContract,
    GetCost,
    GetRedactions,
    GetSessionFacts,
    GetStatus,
    ReleaseRun,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    SessionEnd,
    SessionInbox,
)
from supervisors import Actor, Answer

_EVENT_PAUSE_PATIENCE = 2.0


class SessionActor(Actor[SessionInbox]):
    """From its first record on; the record outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(self, context: SessionContext, driver: Driver) -> None:
        self._context = context
        self._driver = driver

    async def started(self) -> None:
        """Read the record back, take hold of what runs, and go on where the record says."""
        damage = self._context.store.load()
        if damage is not None:
            self._context.shared.trouble = ErrorNote.of(damage)
            with contextlib.suppress(HubError):
                await self._context.store.trouble(damage)
        record = self._context.store.record
        if self.ctx.generation > 1:
            await self._driver.control.sweep_adapters()  # those of an earlier incarnation
        if record is not None and record.session_state.active:
            if record.stopping:  # it was asked of an earlier incarnation, or of an earlier daemon
                self._context.shared.ask(PendingCommand.STOP)
        elif record is not None:
            self.ctx.nursery.start_soon(withdraw_all, self._context, record.session_id)
        self.ctx.nursery.start_soon(self._carry_on)

    async def continue_(self) -> None:
        """A session of many events takes a while to be counted again."""
        await self._recount()

    async def _carry_on(self) -> None:
        """What has ended needs nobody to carry it on."""
        shared, store = self._context.shared, self._context.store
        if store.over:
            return
        await (
            self._context.secrets.arm()
        )  # before anything of an agent is read; some seconds on a new machine
        if not shared.detached:
            await self._driver.run()

    async def _recount(self) -> None:
        """Count again what the session's events tell; a log that cannot be read costs the counts, nothing else."""
        record = self._context.store.record
        if record is not None:
            with contextlib.suppress(HubError):
                await self._context.each(record.session_id, self._context.store.usage.feed_all)

    async def handle(self, message: SessionInbox) -> Answer:
        """Each message is a question, a wish, or news of the agent."""
        match message:
            case AgentBatch():
                await self._batch(message)
                return message.answer(None)
            case QuotaSeen(readings=readings):
                await self._quota_seen(readings)
                return message.handled()
            case GetStatus() | GetCost() | GetRedactions() | GetContract() | GetSessionFacts():
                return views.answer(self, self._context, message)
            case DraftFollowUp():
                return self.answer_later(message, follow_up(self._context, self._driver.chronicler, message))
            case RequestHandoff():
                return await self._handoff(message)
            case RequestPause(pause=pause):
                return message.answer(await self._pause(on=pause))
            case RequestReply(text=text):
                return message.answer(await self._reply(text))
            case RequestStop():
                return await self._stop(message)
            case SessionEnd(session_id=session_id):
                return self.answer_later(message, ended(self._context, session_id))
            case ReleaseRun(run_id=run_id):
                await self._release(run_id)
                return message.answer(None)
            case AccountFreed():
                self._context.shared.freed = True
                self._context.shared.notify_all()
                return message.handled()
            case Detach():
                self._context.shared.detached = True
                self._context.shared.notify_all()
                return message.handled()
            case _:
                assert_never(message)

    # --- orders ---------------------------------------------------------------------------------------

    def _active(self) -> SessionRecord:
        record = self._context.store.record
        if record is None or not record.session_state.active:
            raise HubError(Code.NO_ACTIVE_SESSION)
        return record

    async def _handoff(self, order: RequestHandoff) -> Answer:
        """A wish: the driver alone moves the record. Answered once the handoff is on record, or refused."""
        record = self._active()
        if record.state is not State.RUNNING and record.error is None:
            raise HubError(Code.HANDOFF_IN_PROGRESS)
        if record.session_state is SessionState.VERIFYING:
            raise _between(record)
        early = not (record.dispatch_id or record.wait or record.error)
        if early:
            choice = await self._driver.work.routing.choose(record, None)
            if choice.first is None:
                raise nobody(choice)
        self._context.shared.ask(PendingCommand.HANDOFF)
        if record.wait or record.error is not None or not record.dispatch_id:
            return order.answer(HandingOver(session_id=record.session_id, waiting=True))
        return self.answer_later(order, self._taken_up())

    async def _taken_up(self) -> HandingOver:
        """Once the driver has taken up the wish for a handoff, or refused it."""
        shared = self._context.shared
        await shared.wait_for(lambda: shared.pending is not PendingCommand.HANDOFF)
        record = self._context.store.now
        if shared.denied is not None:
            raise shared.denied
        if record.state is State.RUNNING:
            raise HubError(Code.NO_ACTIVE_SESSION, "The session ended before it could be handed over.")
        return HandingOver(session_id=record.session_id, handoff_id=record.handoff_id)

    async def _pause(self, *, on: bool) -> Paused:
        record = self._active()
        await self._context.store.update(paused=on)
        live = self._context.shared.agent
        if live is not None and not on:
            if not self._context.shared.held:  # else it stands still for its budget: `spending` lets it go on
                self._driver.control.resume(live)
        elif live is not None:
            self.ctx.nursery.start_soon(self._pause_soon, live, live.batches)
        if record.paused is not on:  # a wish that is repeated is no news
            await self._context.store.say(Tag.WAITING if on else Tag.SYSTEM, "paused" if on else "resumed")
        self._context.shared.notify_all()
        return Paused(session_id=record.session_id, paused=on)

    async def _pause_soon(self, live: LiveAgent, batches: int) -> None:
        """At the next event boundary; an agent that says nothing is at one already."""
        await self._context.shared.wait_for(lambda: live.batches != batches, _EVENT_PAUSE_PATIENCE)
        if self._context.store.now.paused and not live.paused and self._driver.control.pause(on=True):
            live.paused = True

    async def _reply(self, text: str) -> Replied:
        record = self._active()
        provider = self._context.providers.get(owner(record)[0])
        live = self._context.shared.agent
        if provider is None:
            raise unknown_agent(owner(record)[0])
        if not provider.capabilities.replies or (live is not None and not live.takes_replies):
            raise HubError(Code.REPLY_UNSUPPORTED, f"{provider.display_name} takes no replies while it runs.")
        # A receiver may ask its first question while its handoff is still being scored.
        reachable = record.state in (State.RUNNING, State.RESUMING)
        if not reachable or live is None or not self._driver.control.hears:
            raise _between(self._context.seen)
        # On record as the user's words: what they ask for binds the next agent too. Before the agent hears them.
        await self._context.store.say(Tag.TEXT, self._context.secrets.text(text), role="user")
        if not self._driver.control.reply(text, self._context.new_id("r")):
            raise _between(self._context.seen)
        live.question = False
        if record.needs_input and not live.needs_input:
            await self._context.store.update(needs_input=False)
        return Replied(session_id=record.session_id)

    async def _stop(self, order: RequestStop) -> Answer:
        """A wish that outlives the daemon: it is on record before anybody acts upon it."""
        store = self._context.store
        if not store.pending:  # an end that is not told yet is still to be waited for
            self._active()
        if store.active and not store.now.stopping:
            try:
                await store.update(stopping=order.reason)
            except HubError as error:
                if error.code not in TRANSIENT:
                    raise
                # A full disk keeps nobody from stopping an agent; then this daemon alone knows of it.
        self._context.shared.ask(PendingCommand.STOP)
        return self.answer_later(order, stopped(self._context))

    async def _release(self, run_id: str) -> None:
        record = self._context.store.record
        if record is not None and record.run_id == run_id:
            await self._context.store.update(run_id="")

    # --- news of the agent ----------------------------------------------------------------------------

    async def _batch(self, batch: AgentBatch) -> None:
        """Log the events, then let the driver see where the agent stands."""
        record = self._context.store.record
        live = self._context.shared.agent
        if record is None or live is None or live.dispatch_id != batch.dispatch_id:
            return
        logged = [_logged(record, batch, item) for item in batch.events]
        asks = next((i for i, one in enumerate(logged) if "approvalId" in one.meta), 0)
        try:
            # What led to a request is told before it, and what asks only once the request is on record.
            if asks:
                await self._context.store.log(logged[:asks], spooled=True)
            requests = await self._driver.broker.put(record, batch, live)
            if batch.events:
                await self._context.store.log(logged[asks:], spooled=True)
            await self._account(record, batch, live)
        except HubError as error:
            # The adapter keeps the batch and comes again; meanwhile the status says why nothing moves.
            self._context.shared.trouble = ErrorNote.of(error)
            raise
        self._context.shared.trouble = None
        live.tools_in_flight = batch.tools_in_flight
        live.native_session = batch.native_session
        live.alive = live.alive or batch.alive
        live.answered = live.answered or _answered(batch)
        live.worked = live.worked or any(_worked(item.event) for item in batch.events)
        live.outcome = live.outcome or batch.outcome
        live.exit = live.exit or batch.exit
        live.no_space = batch.no_space
        live.heard_at = trio.current_time()
        live.batches += 1
        for request in requests:
            self.ctx.nursery.start_soon(self._driver.broker.see_through, live, request)
        self._context.shared.notify_all()

    async def _account(self, record: SessionRecord, batch: AgentBatch, live: LiveAgent) -> None:
        """Keep the native session id and the question to the user, durably, and look at the quota."""
        for item in batch.events:
            if item.event.type is EventType.QUOTA:
                reading = reading_of(item.event, *owner(record), item.at_ms / 1000)
                await self._watch_quota(record, live, reading)
            if not item.event.meta.get("delta"):
                live.question = bool(item.event.meta.get("needsInput"))
                if live.question or item.event.type in _ACTIONS:
                    self._context.shared.last_action = headline(item.event.content, _ACTION)
        changes: dict[str, object] = {}
        if (
            batch.native_session
            and record.state is State.RUNNING
            and batch.native_session != record.native_id
        ):
            changes["native_id"] = batch.native_session
        if batch.current and live.needs_input != record.needs_input:
            changes["needs_input"] = live.needs_input
        if changes:
            await self._context.store.update(**changes)

    async def _quota_seen(self, readings: Sequence[QuotaReading]) -> None:
        """A poll, or a declared cap, told of a quota of which the agent itself says nothing."""
        record, live = self._context.store.record, self._context.shared.agent
        if record is None or live is None or not record.session_state.active:
            return
        for reading in readings:
            if (reading.provider, reading.account) == owner(record):
                await self._watch_quota(record, live, reading)
        self._context.shared.notify_all()

    async def _watch_quota(
        self, record: SessionRecord, live: LiveAgent, reading: QuotaReading | None
    ) -> None:
        if reading is None or live.breach is not None:
            return
        if reading.used_permille <= live.breaches.get(reading.window, 0):
            return
        # A spool is read from its start: what it says of a window that has begun anew since is no news.
        if breach(newest([reading], self._context.clock()).values(), record.threshold) is not None:
            live.breach = await self._driver.work.routing.wall(record, reading)
            if live.breach is not None:
                live.breaches[reading.window] = reading.used_permille


def _between(record: SessionRecord) -> HubError:
    """Why no agent hears anything at this moment."""
    why = "The agent is being changed; try again in a moment."
    if record.wait is not None:
        why = f"No agent runs while the session waits: {record.wait.reason}."
    elif record.session_state is SessionState.VERIFYING:
        why = "The agent is done; its work is being verified."
    elif record.state is State.RUNNING:
        why = "The agent is being started; try again in a moment."
    return HubError(Code.HANDOFF_IN_PROGRESS, why)


_ACTIONS = (EventType.TEXT, EventType.TOOL_USE)
_ACTION = 160
"""Letters of what is told of one."""


def _logged(record: SessionRecord, batch: AgentBatch, item: AgentEvent) -> NewEvent:
    event, dispatch = item.event, batch.dispatch_id
    meta = agent_meta(record, event, dispatch)
    return NewEvent(str(event.tag), event.content, meta, item.at_ms, dispatch, item.offset, item.index)


def _answered(batch: AgentBatch) -> bool:
    """Whether the model has answered; a refusal is an answer, however the agent tells it."""
    failure = batch.outcome.failure if batch.outcome is not None else None
    refused = failure is not None and failure.kind is FailureClass.REFUSAL
    return refused or any(answers(item.event) for item in batch.events)


def _worked(event: Event) -> bool:
    return event.type is EventType.TOOL_RESULT and not event.meta.get("isError")
