"""A row of `GET /api/sessions`: what a person looks for first in a list of sessions.

Owns: the row, of a session that is up, of one on record, and of one that waits for its turn; and what it needs.
Must not: ask anybody.
Tests: tests/hub/actors/sessions/test_actor.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import attrs

from hub.api.sessions import Session
from hub.api.status import Status
from hub.domain.session import SessionRecord
from hub.domain.text.safe import headline

QUEUED = "queued"


def of_status(status: Status) -> Session:
    """Of a session that is up: what it tells of itself."""
    return Session(
        session_id=status.session_id,
        title=headline(status.task_goal),
        session_state=status.session_state,
        needs=_needs(status),
        active_provider=status.active_provider,
        account=status.account,
        branch=status.branch,
        worktree=status.worktree,
        run_id=status.run_id,
        handoffs_done=status.handoffs_done,
        verified=status.verified,
        wait_until=status.wait_until,
        wait_reason=status.wait_reason,
        last_action=status.last_action,
        tokens_used=status.tokens_used,
        started_at=status.started_at,
        ended_at=status.ended_at,
        error=status.error,
        position=0,
        paused=status.paused,
    )


def of_record(record: SessionRecord, hide: Callable[[str], str]) -> Session:
    """Of a session whose actor is not there: it ended, or is just being started."""
    error = record.error
    return Session(
        session_id=record.session_id,
        title=headline(hide(record.task)),
        session_state=str(record.session_state),
        needs="none",
        active_provider=record.provider,
        account=record.account,
        branch=record.branch,
        worktree=record.worktree,
        run_id=record.run_id,
        handoffs_done=record.handoffs_done,
        verified=record.verified,
        wait_until=record.wait_until,
        wait_reason="",
        last_action="",
        tokens_used=record.tokens_used,
        started_at=record.started_at or None,
        ended_at=record.ended_at or None,
        error=attrs.evolve(error, detail=hide(error.detail)) if error else None,
        position=0,
        paused=record.paused,
    )


def of_queue(position: int, session_id: str, task: str, hide: Callable[[str], str]) -> Session:
    """Of one that waits for its turn."""
    bare = of_record(SessionRecord(session_id=session_id, task=task), hide)
    return attrs.evolve(bare, session_state=QUEUED, position=position)


def _needs(status: Status) -> Literal["input", "approval", "decision", "none"]:
    if status.needs_approval:
        return "approval"
    if status.needs_input:
        return "decision" if status.error else "input"
    return "none"
