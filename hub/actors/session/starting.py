"""How a session begins: whether there may be one, and its first record.

Owns: the single-session guard, how an order and the configuration make a record, and what is told of it.
Must not: choose who begins (`routing` does), or start an agent.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import attrs

from hub.actors.clock import iso
from hub.actors.insist import insist
from hub.actors.session import views
from hub.actors.session.kit import Kit
from hub.actors.session.routing import Beginning, Routing
from hub.domain.event import Tag
from hub.domain.routing import Target
from hub.domain.session import OnLimit, SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.io import git
from hub.messages import AuditAppend, StartRun

T = TypeVar("T")


@attrs.frozen
class Starting:
    """Takes orders to start."""

    kit: Kit
    routing: Routing

    async def accept(self, order: StartRun) -> dict[str, Any]:
        """Put the session on record; it is durable when this returns. What follows is the driver's.

        Raises:
            HubError: `session_already_running`, `no_commit`, `no_fallback`..., and nothing has begun.
        """
        kit = self.kit
        active = kit.ledger.record
        if active is not None and order.session_id == active.session_id:
            return views.started(active)
        if active is not None:
            insist_free(active, order.run_id)
        await self.routing.refresh_config()
        if order.kind and not order.profile:
            order = attrs.evolve(order, profile=kit.config.profile_for(order.kind))
        beginning = await self.routing.begin(order)
        state = await git.repo_state(kit.places.root)
        if not state.has_commit:
            raise HubError(Code.NO_COMMIT)
        # Refused now, where the log was tampered with: a session without its audit log is none.
        await insist(kit.audit, AuditAppend([]))
        record = new_record(kit, order, beginning, state)
        kit.tallies.clear()
        kit.board.wish = None
        kit.board.trouble = None
        await kit.ledger.begin(record)
        kit.board.touch()
        return views.started(record)

    async def tell(self, record: SessionRecord) -> None:
        """What the user has to know of a session that begins; each is said once, however often this is called."""
        await self._tell_detection()
        await self._tell_left_out(record)
        if record.wait_until and not record.attempt:
            key, until = f"waits:{record.session_id}", iso(record.wait_until)
            await self.kit.ledger.say(Tag.WAITING, record.wait_reason, source=key, until=until)

    async def _tell_detection(self) -> None:
        """Rules go on alone where there is no detection engine; never without a word."""
        trouble = self.kit.detection.trouble
        if trouble:
            key = f"detection:{self.kit.ledger.now.session_id}"
            msg = f"no detection engine: only hub's own rules look for secrets nobody told hub ({trouble})"
            await self.kit.ledger.say(Tag.SYSTEM, msg, source=key, hint=views.NO_ENGINE)

    async def _tell_left_out(self, record: SessionRecord) -> None:
        """An agent that is there and does not take part is told of, once a session."""
        for out in record.left_out:
            several = len(self.kit.config.accounts(out.provider)) > 1
            who = f"{out.provider}/{out.account}" if several else out.provider
            key = f"left-out:{record.session_id}:{out.provider}/{out.account}"
            msg = f"{who} is left out of the chain: {out.reason}. {out.hint}".rstrip()
            await self.kit.ledger.say(Tag.SYSTEM, msg, source=key, hint=out.hint)


def insist_free(record: SessionRecord, run_id: str) -> None:
    """The single-session guard: one session at a time, and between the nodes of a pipeline run none but its own."""
    if record.session_state.active:
        raise HubError(Code.SESSION_ALREADY_RUNNING, f"Session {record.session_id} is running.")
    if record.run_id and record.run_id != run_id:
        raise HubError(
            Code.SESSION_ALREADY_RUNNING, f"The pipeline run {record.run_id} is running, between two nodes."
        )


def new_record(kit: Kit, order: StartRun, beginning: Beginning, state: git.RepoState) -> SessionRecord:
    """The first record: what was asked for, else what is configured. Where nobody is free now, it waits."""
    session_id = order.session_id or kit.new_id("s")
    config, profile = kit.config, kit.config.profile(order.profile)
    choice = beginning.choice
    waits = min((p for p in choice.passed if p.until), key=lambda p: p.until or 0.0, default=None)
    chosen = choice.first or (waits.target if waits is not None else Target("", ""))
    until = choice.until() if choice.first is None else None
    active = order.provider, config.accounts(order.provider)[0].label
    verify = tuple(order.verify if order.verify is not None else config.session.verify)
    return SessionRecord(
        session_id=session_id,
        seq=1,
        at=iso(kit.clock()),
        session_state=SessionState.STARTING if until is None else SessionState.WAITING,
        role=order.role,
        run_id=order.run_id,
        task_id=kit.new_id("t"),
        task=order.task,
        branch=f"hub/{session_id}",
        worktree=str(kit.places.worktrees / session_id),
        base=order.base or state.head_sha,
        carries=not order.base,
        first=order.first,
        adopted=order.adopted,
        native_id=order.native_id if (chosen.provider, chosen.account) == active else "",
        main_branch=state.branch or state.main_branch,
        profile=order.profile,
        context_hint=profile.context_hint,
        skills=profile.skills,
        chain=beginning.order,
        named=beginning.named,
        left_out=beginning.left_out(),
        threshold=_or(order.threshold, config.session.threshold),
        max_handoffs=_or(order.max_handoffs, config.session.max_handoffs),
        on_limit=OnLimit(_or(order.on_limit, config.session.on_limit)),
        verify=verify,
        verify_sha=views.digest(verify),
        provider=chosen.provider,
        account=chosen.account,
        model=config.provider(chosen.provider).model,
        wait_until=math.ceil(until) if until is not None else 0,
        wait_reason=f"nobody can begin now: {choice.said()}" if until is not None else "",
        started_at=iso(kit.clock()),
    )


def _or(asked: T | None, configured: T) -> T:
    """What was asked for, else what is configured."""
    return configured if asked is None else asked
