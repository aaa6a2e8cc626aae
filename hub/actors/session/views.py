"""What the session tells about itself.

Owns: the shapes of `/api/status`, `/api/session/cost` and `/api/redactions`.
Must not: change anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import attrs

from hub.actors.clock import iso
from hub.actors.session.kit import Kit
from hub.domain.handoff import State
from hub.domain.session import ErrorNote, SessionRecord, SessionState
from hub.errors import HubError
from hub.messages import Ended

_HELD = (SessionState.STARTING, SessionState.RUNNING, SessionState.HANDING_OFF)
NO_ENGINE = "Run: hub doctor"


def digest(commands: Sequence[str]) -> str:
    """What the acceptance commands were at the start."""
    return hashlib.sha256("\0".join(commands).encode()).hexdigest()


def status(kit: Kit) -> dict[str, Any]:
    """`GET /api/status`."""
    record = kit.ledger.record
    if record is None:
        record = SessionRecord()
    total, active = kit.tallies.tokens(), record.session_state.active
    body: dict[str, Any] = {
        "sessionId": record.session_id,
        "taskId": record.task_id,
        "taskGoal": kit.task(record),
        "role": record.role,
        "activeProvider": record.provider,
        "tokensUsed": total.tokens_in + total.tokens_out,
        "graphNodes": 0,
        "handoffsDone": record.handoffs_done,
        "hfsScore": record.hfs,
        "hfsHistory": list(record.hfs_history),
        "hfsPending": record.unscored is not None,
        "fsmState": str(record.state),
        "sessionState": str(_seen_state(record)),
        "account": record.account,
        "needsInput": record.needs_input,
        "needsApproval": kit.board.held or bool(kit.board.agent and kit.board.agent.asks),
        "paused": record.paused,
        "stopping": record.session_state.active and bool(record.stopping),
        "verified": record.verified,
        "runId": record.run_id,
        "leftOut": [attrs.asdict(out) for out in record.left_out],
        "branch": record.branch,
        "withheld": list(record.withheld),
        "worktree": record.worktree,
        "waitUntil": iso(record.wait_until) if record.wait_until else None,
        "waitReason": record.wait_reason if active and record.wait_until else "",
        # Of the handoff under way. What it was is in the history; said of a later moment it would be untrue.
        "reason": record.reason if active and record.state is not State.RUNNING else "",
        "startedAt": record.started_at or None,
        "endedAt": record.ended_at or None,
        "error": None,
    }
    error = record.error or kit.board.trouble
    if error is not None:
        body["error"] = {"code": str(error.code), "detail": error.detail, "hint": error.hint}
    return body


def _seen_state(record: SessionRecord) -> SessionState:
    """A paused agent is paused for people; on record the session runs, and goes on where it stood."""
    held = record.paused and record.session_state in _HELD
    return SessionState.PAUSED if held else record.session_state


async def cost(kit: Kit) -> dict[str, Any]:
    """`GET /api/session/cost`: the agents' own figures, else a list of prices; what has no price is named."""
    record = kit.ledger.record or SessionRecord()
    found = await kit.tallies.bill()
    return {
        "sessionUsd": found.usd,
        "tokensIn": found.tokens.tokens_in,
        "tokensOut": found.tokens.tokens_out,
        "provider": record.provider,
        "cachedIn": found.tokens.cached_in,
        "cacheWriteIn": found.tokens.cache_write_in,
        "priced": not found.unpriced,
        "sources": list(found.sources),
        "unpricedModels": list(found.unpriced),
    }


def redactions(kit: Kit) -> dict[str, str]:
    """`GET /api/redactions`."""
    from hub.domain.redaction.redactor import summary  # noqa: PLC0415  # a start has nothing to hide yet

    return {"summary": summary(kit.tallies.redactions)}


def facts(kit: Kit) -> dict[str, Any]:
    """What the read-only git views need to know."""
    record = kit.ledger.record or SessionRecord()
    return {
        "sessionId": record.session_id,
        "branch": record.branch,
        "withheld": list(record.withheld),
        "worktree": record.worktree,
        "mainBranch": record.main_branch,
        "base": record.base,
        "active": record.session_state.active,
        "begun": record.worktree_ready,
        "accounts": [[record.provider, record.account], [record.to_provider, record.to_account]],
    }


def started(record: SessionRecord) -> dict[str, Any]:
    """The answer to an order to start."""
    return {
        "sessionId": record.session_id,
        "taskId": record.task_id,
        "branch": record.branch,
        "withheld": list(record.withheld),
        "worktree": record.worktree,
    }


def ended(record: SessionRecord) -> Ended:
    """The answer to whoever waited for the end."""
    return Ended(
        record.session_state,
        record.provider,
        record.handoffs_done,
        record.verified,
        record.snapshot_sha,
        record.error,
    )


def unended(trouble: ErrorNote) -> HubError:
    """Why a stop is not over yet, for whoever asked for it."""
    detail = (
        f"The session cannot be ended in order: {trouble.detail} What the agent wrote is in its worktree."
    )
    return HubError(trouble.code, detail, hint=trouble.hint)
