"""What the session tells about itself.

Owns: what of a session is told, and as what.
Must not: change anything.
"""

from __future__ import annotations

from typing import TypeVar

import attrs

from hub.actors.session.context import SessionContext, owner
from hub.actors.session.contract import current_contract
from hub.api.observability import Redactions
from hub.api.session import Cost
from hub.api.status import Status
from hub.domain.handoff import State
from hub.domain.routing import Target
from hub.domain.session import SessionRecord, SessionState
from hub.domain.usage import SessionUsage
from hub.io.models.prices import billed
from hub.messages.session import (
    GetContract,
    GetCost,
    GetRedactions,
    GetSessionFacts,
    GetStatus,
    SessionFacts,
    SessionQuestion,
)
from supervisors import Actor, Answer

M = TypeVar("M")

_HELD = (SessionState.STARTING, SessionState.RUNNING, SessionState.HANDING_OFF)
NO_ENGINE = "Run: hub doctor"


def answer(actor: Actor[M], context: SessionContext, question: SessionQuestion) -> Answer:
    """The actor's answer about the session of this context, also where there is none."""
    match question:
        case GetStatus():
            return question.answer(status(context))
        case GetCost():  # a list of prices takes its time to load
            record = context.store.record or SessionRecord()
            return actor.answer_later(question, cost(record, context.store.usage))
        case GetRedactions():
            return question.answer(redactions(context))
        case GetContract():
            return actor.answer_later(question, current_contract(context))
        case GetSessionFacts():
            return question.answer(facts(context))


def status(context: SessionContext) -> Status:
    """The session, or the idle daemon."""
    record = context.seen
    agent, trouble = context.shared.agent, context.shared.trouble
    told = of_record(record, context.task(record), context.store.usage)
    return attrs.evolve(
        told,
        needs_approval=context.shared.held or bool(agent and agent.asks),
        last_action=context.secrets.value(context.shared.last_action) if record.session_state.active else "",
        error=told.error or trouble,
    )


def of_record(record: SessionRecord, task: str, usage: SessionUsage) -> Status:
    """What is on record of a session, or of none.

    Args:
        record: Its record.
        task: Its task, as everyone may see it.
        usage: What its log counts up to.
    """
    total, active = usage.tokens(), record.session_state.active
    return Status(
        session_id=record.session_id,
        task_id=record.task_id,
        task_goal=task,
        role=record.role,
        active_provider=record.provider,
        tokens_used=total.tokens_in + total.tokens_out,
        graph_nodes=0,
        handoffs_done=record.handoffs_done,
        hfs_score=record.hfs,
        hfs_history=list(record.hfs_history),
        hfs_pending=record.unscored is not None,
        fsm_state=record.state,
        session_state=_seen_state(record),
        account=record.account,
        needs_input=record.needs_input,
        needs_approval=False,
        paused=record.paused,
        stopping=active and bool(record.stopping),
        verified=record.verified,
        run_id=record.run_id,
        left_out=list(record.left_out),
        branch=record.branch,
        withheld=list(record.withheld),
        worktree=record.worktree,
        wait_until=record.wait_until,
        wait_reason=record.wait.reason if active and record.wait else "",
        # Of the handoff under way. What it was is in the history; said of a later moment it would be untrue.
        reason=record.handoff.reason if active and record.state is not State.RUNNING else "",
        last_action="",
        started_at=record.started_at or None,
        ended_at=record.ended_at or None,
        error=record.error,
    )


def _seen_state(record: SessionRecord) -> SessionState:
    """A paused agent is paused for people; on record the session runs, and goes on where it stood."""
    paused = record.paused and record.session_state in _HELD
    return SessionState.PAUSED if paused else record.session_state


async def cost(record: SessionRecord, usage: SessionUsage) -> Cost:
    """The agents' own figures, else a list of prices; what has no price is named."""
    found = await billed(usage.by_dispatch.values())
    return Cost(
        session_usd=found.usd,
        tokens_in=found.tokens.tokens_in,
        tokens_out=found.tokens.tokens_out,
        provider=record.provider,
        cached_in=found.tokens.cached_in,
        cache_write_in=found.tokens.cache_write_in,
        priced=not found.unpriced,
        sources=list(found.sources),
        unpriced_models=list(found.unpriced),
    )


def redactions(context: SessionContext) -> Redactions:
    """How many secrets were hidden."""
    from hub.domain.redaction.redactor import summary  # noqa: PLC0415  # a start has nothing to hide yet

    return Redactions(summary=summary(context.store.usage.redactions))


def facts(context: SessionContext) -> SessionFacts:
    """What others need to know."""
    record, live = context.store.record, context.shared.agent
    if record is None:
        return SessionFacts()
    working = Target(*owner(record)) if live is not None and live.exit is None else None
    return SessionFacts(attrs.evolve(record, task=context.task(record)), context.store.over, working)
