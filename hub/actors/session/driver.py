"""The loop that carries a session from state to state: look at the record, do what its state asks, look again.

Owns: the order of steps, what an error in a step leads to, and which helper knows which other.
Must not: remember anything between two steps; a restart enters the loop at the same place.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import passes
from hub.actors.session import views
from hub.actors.session.agent_control import AgentControl
from hub.actors.session.chronicle import Chronicler, Scores
from hub.actors.session.context import PendingCommand, SessionContext
from hub.actors.session.ending import SessionEnding
from hub.actors.session.handoff_steps import HandoffSteps
from hub.actors.session.permission_broker import PermissionBroker
from hub.actors.session.routing import Routing
from hub.actors.session.work import SessionWork
from hub.domain.audit import parse_anchor
from hub.domain.event import Tag
from hub.domain.failure import ErrorNote
from hub.domain.handoff import State, Trigger
from hub.domain.meta import EventMeta
from hub.domain.session import SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.io.git.check import WorktreeCheck
from hub.io.git.refs import newest_anchor
from hub.io.runner.view import Running, inspect
from hub.io.shortage import shortage
from hub.messages.agent import AdapterInbox, Dispatch
from hub.messages.audit import GetAuditHead
from supervisors import ChildSpec, DynamicHandle, Ref

_NEEDS_DECISION = frozenset({Code.DISPATCH_AMBIGUOUS})
"""Errors only the user can resolve: nothing is done until they hand over or stop."""
_TROUBLE_PAUSE = 2.0
_LOG = logging.getLogger(__name__)
AdapterSpec = Callable[[Dispatch], tuple[ChildSpec, Ref[AdapterInbox]]]


@attrs.define
class Driver:
    """Runs as the session actor's one background task."""

    context: SessionContext
    control: AgentControl
    work: SessionWork
    handoff: HandoffSteps
    ending: SessionEnding
    broker: PermissionBroker
    chronicler: Chronicler
    scores: Scores
    _told: Code | None = None
    _newest: bool = False
    """Whether the record was held against the newest snapshot: once, before anything is done."""

    async def run(self) -> None:
        """Go on for ever; returns only when the daemon lets go of the session."""
        async with trio.open_nursery() as beside:
            beside.start_soon(self.chronicler.run)
            beside.start_soon(self.scores.run)
            beside.start_soon(self.handoff.check.run)
            await self._drive()
            beside.cancel_scope.cancel(reason="the session is let go of")

    async def _drive(self) -> None:
        shared = self.context.shared
        while not shared.detached:
            record = self.context.store.record
            if record is None or self.context.store.over:
                await shared.wait_for(lambda: shared.detached)
                break
            await self._try_step(record)
            shared.notify_all()
        await self.control.release()

    async def _try_step(self, record: SessionRecord) -> None:
        """One step, and what follows its error; an error that comes on top of it leaves the step to be tried again."""
        try:
            await self._step(record)
        except HubError as error:
            try:
                await self._trouble(self.context.store.now, error)
            except HubError as another:
                await self._wait_for_better(another)
        except Exception as error:
            if (short := shortage(error)) is not None:
                await self._wait_for_better(short)
                return
            # A restart may heal it: the record says where to go on. One that comes back every time would take
            # the daemon with it, so it ends the session instead.
            if not self.context.crash_loop.again(record.session_id, record.seq):
                raise
            _LOG.exception("the session cannot go on")
            await self._give_up(record)
        else:
            self._told, self.context.shared.trouble = None, None

    async def _give_up(self, record: SessionRecord) -> None:
        error = HubError(
            Code.INTERNAL, "hub made the same mistake again and again; the session cannot go on."
        )
        try:
            await self.ending.failed(record, error)
        except HubError as another:
            await self._wait_for_better(another)
        except Exception:  # noqa: BLE001 - whatever it is, the daemon is worth more than this session
            _LOG.exception("the session cannot even be ended in order")
            await self.ending.abandoned(record, error)

    async def _step(self, record: SessionRecord) -> None:
        if self.context.store.pending:
            # Nothing of a task is told before all that finds secrets in it is ready; that takes seconds on a new machine.
            await self.context.secrets.arm()
            await self.context.store.publish()
            if not record.previous:
                await _publish_start(self.context, record)
            return
        if self.context.shared.stopping:
            await self.ending.stopped(record, "user")
            self.context.shared.pending = None
        elif not self._newest:
            await _insist_on_newest(self.context, record)
            self._newest = True
        elif record.error is not None and record.error.code in _NEEDS_DECISION:
            await self._await_decision()
        elif record.paused and self._would_start(record):
            await self.work.unpaused()
        elif record.state is State.RUNNING:
            await self.work.step(record)
        else:
            await self.handoff.step(record)

    def _would_start(self, record: SessionRecord) -> bool:
        """Whether the next step brings an agent nearer to its start: a user's pause holds until it is lifted."""
        match record.state:
            case State.RUNNING:
                return record.worktree_ready and not record.wait and not self.control.has_run(record)
            case State.DISPATCHED | State.RESUMING:
                return not self.control.has_run(record)
            case _:
                return True

    async def _await_decision(self) -> None:
        """The user says what an unknowable dispatch is to be: a handoff request starts the next one."""
        shared = self.context.shared
        await shared.wait_for(lambda: shared.pending or shared.detached)
        if shared.pending is not PendingCommand.HANDOFF:
            return
        shared.pending = None
        record = self.context.store.now
        if record.state is not State.RUNNING:
            await self.handoff.abandon_dispatch(record)
            return
        await self.work.routing.ended(record)
        record = await self.context.store.update(
            error=None, dispatch_id="", session_state=SessionState.RUNNING
        )
        if await self.work.routing.next(record, None) is not None:
            handoff_id, why = self.context.new_id("h"), "the user decided to hand over"
            await self.context.store.hand_over(record, handoff_id, Trigger.MANUAL_HANDOFF, why)

    async def _trouble(self, record: SessionRecord, error: HubError) -> None:
        if error.code is Code.INTERRUPTED and self.context.shared.stopping:
            return  # the next step stops
        if passes(error):
            await self._wait_for_better(error)
        elif error.code in _NEEDS_DECISION:
            await self.context.store.trouble(error)
            await self.context.store.update(
                error=ErrorNote.of(error, record.session_id),
                session_state=SessionState.WAITING,
                needs_input=True,
            )
        else:
            await self.ending.failed(record, error)

    async def _wait_for_better(self, error: HubError) -> None:
        """Said once, as soon as it can be, and tried every two seconds: a full disk ends no session."""
        self.context.shared.trouble = ErrorNote.of(error)
        if self.context.shared.pending is PendingCommand.HANDOFF:
            self.context.shared.settle(error)  # whoever asked for it is told, and may ask again
        if self._told is not error.code:
            with trio.move_on_after(_TROUBLE_PAUSE), contextlib.suppress(HubError):
                await self.context.store.trouble(error)
                self._told = error.code
        before = self.context.shared.pending
        await self.context.shared.wait_for(
            lambda: self.context.shared.pending not in (before, None), _TROUBLE_PAUSE
        )


async def _insist_on_newest(context: SessionContext, record: SessionRecord) -> None:
    """That no older `.hub` was put back over a newer one: a session that went on would do once more what is done.

    Raises:
        HubError: AUDIT_BROKEN: its newest snapshot was made at a record that the audit log has not.
    """
    run = context.places.run_dir / record.dispatch_id
    if not record.worktree_ready or (record.dispatch_id and isinstance(inspect(run), Running)):
        return  # there is nothing to be done, or its agent is at it
    try:
        anchor = parse_anchor(await newest_anchor(context.places.root, record.session_id))
    except (HubError, ValueError):  # what git cannot say, or nobody has, proves nothing
        return
    head = await call_until_answered(context.audit, GetAuditHead(anchor.seq))
    if (head.seq, head.hash) == (anchor.seq, anchor.hash):
        return
    detail = f"The records in .hub are older than the newest snapshot on {record.branch}."
    hint = f"Put the newer .hub back, or go on from that snapshot: hub run --continue {record.session_id}"
    raise HubError(Code.AUDIT_BROKEN, detail, hint=hint)


async def _publish_start(context: SessionContext, record: SessionRecord) -> None:
    """What the user has to know of a session that begins; each is said once, however often this is called."""
    await _publish_detection(context)
    await _publish_left_out(context, record)


async def _publish_detection(context: SessionContext) -> None:
    """Rules go on alone where there is no detection engine; never without a word."""
    trouble = context.detection.trouble
    if trouble:
        key = f"detection:{context.store.now.session_id}"
        msg = f"no detection engine: only hub's own rules look for secrets nobody told hub ({trouble})"
        await context.store.say(Tag.SYSTEM, msg, source=key, hint=views.NO_ENGINE)


async def _publish_left_out(context: SessionContext, record: SessionRecord) -> None:
    """An agent that is there and does not take part is told of, once a session."""
    for out in record.left_out:
        several = len(context.config.accounts(out.provider)) > 1
        who = f"{out.provider}/{out.account}" if several else out.provider
        key = f"left-out:{record.session_id}:{out.provider}/{out.account}"
        msg = f"{who} is left out of the chain: {out.reason}. {out.hint}".rstrip()
        told: EventMeta = {"hint": out.hint, "leftOut": who}
        if out.provider in _before(record):
            told["named"] = True
        await context.store.say(Tag.SYSTEM, msg, source=key, **told)


def _before(record: SessionRecord) -> tuple[str, ...]:
    """Those whom the user wants before the one that begins: that they are left out changes what happens."""
    named = record.named
    return named[: named.index(record.provider)] if record.provider in named else ()


def hire(context: SessionContext, adapters: DynamicHandle, adapter_spec: AdapterSpec) -> Driver:
    """A fresh driver and its helpers, for one incarnation of the session.

    Args:
        context: What they share.
        adapters: Where the agents' adapters run.
        adapter_spec: The child that carries a dispatch, and how it is spoken to.
    """
    control = AgentControl(context, adapters, adapter_spec)
    chronicler = Chronicler(context)
    routing, broker = Routing(context), PermissionBroker(context, control)
    scores = Scores(context, chronicler)
    handoff = HandoffSteps(
        context,
        control,
        routing,
        broker,
        WorktreeCheck(context.places.root),
        chronicler,
        scores,
    )
    ending = SessionEnding(context, control, routing, handoff, scores)
    work = SessionWork(context, control, routing, broker, ending)
    return Driver(context, control, work, handoff, ending, broker, chronicler, scores)
