"""`GET /api/status`.

Owns: the shape of the Status resource.
Must not: compute any of it.
"""

from __future__ import annotations

import contextlib
from typing import Annotated

import trio
from msgspec import Meta

from hub.domain.handoff import State
from hub.domain.jsonvalue import JsonObject
from hub.domain.session import SessionState
from hub.errors import HubError
from hub.messages import GetGraphNodes, GetStatus
from hub.web.context import Context
from hub.web.route import NoQuery, get
from hub.web.schema import Answer
from supervisors import ActorDied


class LeftOut(Answer, frozen=True, kw_only=True):
    """A provider that is installed and not in the session's chain, and what brings it in."""

    provider: str
    reason: str
    hint: str
    account: str


class Status(Answer, frozen=True, kw_only=True):
    """The session, or the last one, or the idle daemon."""

    session_id: str
    task_id: str
    task_goal: str
    role: str
    active_provider: str
    tokens_used: int
    graph_nodes: int
    handoffs_done: int
    hfs_score: float
    hfs_history: list[float]
    hfs_pending: Annotated[bool, Meta(description="Whether the newest handoff's score is still to come.")]
    fsm_state: State
    session_state: SessionState
    account: str
    needs_input: bool
    needs_approval: bool
    left_out: list[LeftOut]
    withheld: list[str]
    """Folders of hub's own that the agent has put into its work: on no branch, and still in its worktree."""


_BRIEFLY = 0.5


async def status(context: Context, _: NoQuery) -> JsonObject:
    """The graph's size is no reason to have no status."""
    found = await context.call(GetStatus())
    with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
        found["graphNodes"] = await context.call(GetGraphNodes(), timeout=_BRIEFLY)
    return found


ROUTES = (get("/api/status", "What the daemon is doing.", status, answer=Status),)
