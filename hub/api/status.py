"""What the daemon is doing.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.meta import Timestamp
from hub.domain.failure import ErrorNote
from hub.domain.handoff import State
from hub.domain.session import LeftOut, SessionState


@attrs.frozen(kw_only=True)
class Status:
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
    hfs_pending: Annotated[bool, "Whether the newest handoff's score is still to come."]
    fsm_state: State
    session_state: SessionState
    account: str
    needs_input: bool
    needs_approval: bool
    paused: bool
    stopping: bool
    verified: Annotated[
        bool | None,
        "What the acceptance commands said; false where there are none, null while nothing is said.",
    ]
    run_id: Annotated[str, 'The pipeline run it is a node of; "" = none.']
    left_out: list[LeftOut]
    branch: str
    withheld: Annotated[
        list[str],
        "Folders of hub's own that the agent has put into its work: on no branch, and still in its worktree.",
    ]
    worktree: str
    wait_until: Annotated[
        Timestamp | None, "When a quota that it waits for is there again; null also where nobody knows."
    ]
    wait_reason: str
    reason: Annotated[str, "Of the handoff under way."]
    last_action: Annotated[
        str, 'What its agent said, did or asked last, in one line; "" = nothing since the daemon began.'
    ]
    started_at: Timestamp | None
    ended_at: Timestamp | None
    error: ErrorNote | None

    @property
    def needs(self) -> str:
        """Whom it waits for, as in the list of sessions: `approval`, `input` or `none`."""
        return "approval" if self.needs_approval else "input" if self.needs_input else "none"
