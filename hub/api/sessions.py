"""The list of sessions.

Owns: what it takes and answers.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated, Literal

import attrs

from hub.api.meta import Timestamp
from hub.domain.failure import ErrorNote
from hub.domain.standing import group, words


@attrs.frozen(kw_only=True)
class Session:
    """One of them."""

    session_id: str
    title: Annotated[str, "The first line of its task."]
    session_state: Annotated[str, "As in the status; `queued`: it waits for its turn."]
    needs: Annotated[Literal["input", "approval", "decision", "none"], "What it waits for a person for."]
    active_provider: str
    account: str
    branch: str
    worktree: str
    run_id: Annotated[str, 'The pipeline run it is a node of; "" = none.']
    handoffs_done: int
    verified: bool | None
    wait_until: Timestamp | None
    wait_reason: str
    last_action: Annotated[
        str, 'What its agent said, did or asked last, in one line; "" = nothing since the daemon began.'
    ]
    tokens_used: Annotated[int | None, "In and out; null: it has not begun, or an older version ended it."]
    started_at: Timestamp | None
    ended_at: Timestamp | None
    error: ErrorNote | None
    position: Annotated[int, "Its place among those that wait for their turn; 0: it does not."]
    paused: Annotated[bool, "As in the status: also while it is verified, or waits."] = False

    @property
    def group(self) -> int:
        """Its place among the groups of a list (`hub.domain.standing.GROUPS`)."""
        return group(
            needs=self.needs, state=self.session_state, position=self.position, wait_until=self.wait_until
        )

    @property
    def standing(self) -> str:
        """What it does, in a word or two (`hub.domain.standing.words`)."""
        return words(
            needs=self.needs, state=self.session_state, position=self.position, verified=self.verified
        )

    @property
    def last(self) -> str:
        """What a list has to say of it: why it failed or waits, else what its agent said, did or asked last."""
        if self.error is not None and self.session_state == "failed":
            return self.error.detail.partition("\n")[0]
        return (
            self.wait_reason if self.session_state == "waiting" and self.needs == "none" else self.last_action
        )


@attrs.frozen(kw_only=True)
class Sessions:
    """The oldest first; who waits for a turn is last."""

    sessions: list[Session]
    concurrent: Annotated[int, "How many may run at once."]
