"""The first record of a session, and whether there may be one.

Owns: the single-session guard, and how an order and the configuration make a record.
Must not: write the record (the ledger does), or choose the providers (`targets` does).
"""

from __future__ import annotations

from typing import TypeVar

from hub.actors.clock import iso
from hub.actors.session import views
from hub.actors.session.kit import Kit
from hub.domain.session import OnLimit, SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.io import git
from hub.messages import StartRun

T = TypeVar("T")


def insist_free(record: SessionRecord, run_id: str) -> None:
    """The single-session guard: one session at a time, and between the nodes of a pipeline run none but its own."""
    if record.session_state.active:
        raise HubError(Code.SESSION_ALREADY_RUNNING, f"Session {record.session_id} is running.")
    if record.run_id and record.run_id != run_id:
        raise HubError(
            Code.SESSION_ALREADY_RUNNING, f"The pipeline run {record.run_id} is running, between two nodes."
        )


def new_record(kit: Kit, order: StartRun, chain: tuple[str, ...], state: git.RepoState) -> SessionRecord:
    """The first record: what was asked for, else what is configured."""
    session_id = order.session_id or kit.new_id("s")
    config = kit.config
    provider, profile = chain[0], config.profile(order.profile)
    verify = tuple(order.verify if order.verify is not None else config.session.verify)
    return SessionRecord(
        session_id=session_id,
        seq=1,
        at=iso(kit.clock()),
        session_state=SessionState.STARTING,
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
        native_id=order.native_id,
        main_branch=state.branch or state.main_branch,
        profile=order.profile,
        context_hint=profile.context_hint,
        skills=profile.skills,
        chain=chain,
        threshold=_or(order.threshold, config.session.threshold),
        max_handoffs=_or(order.max_handoffs, config.session.max_handoffs),
        on_limit=OnLimit(_or(order.on_limit, config.session.on_limit)),
        verify=verify,
        verify_sha=views.digest(verify),
        provider=provider,
        account=config.accounts(provider)[0].label,
        model=config.provider(provider).model,
        started_at=iso(kit.clock()),
    )


def _or(asked: T | None, configured: T) -> T:
    """What was asked for, else what is configured."""
    return configured if asked is None else asked
