"""What became of the work of a session that is over, and what is said of work that was left behind.

Owns: of which records that is known.
Must not: read a log, or look at a branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

TAKES = 20
"""Records of takes of which it is looked at whether they hold, at most."""


class ResultRecord(Protocol):
    """A record of a take or a discard."""

    @property
    def event(self) -> str:
        """`taken`, `discarded`; of a log that was tampered with another one."""

    @property
    def commit(self) -> str:
        """The commit that was made; "" = none."""

    @property
    def held_by(self) -> str | None:
        """The branch of the user's that has that commit; "" = none has, None = nobody looked."""


R = TypeVar("R", bound=ResultRecord)


def fate(discarded: Sequence[R], taken: Sequence[R]) -> R | None:
    """What became of it, by its newest records of each event, at most `TAKES`.

    That it was let go, else the newest take that still holds; None: neither.

    Who made a patch may take the work still; and a log that was tampered with ends with another record.
    """
    for one in discarded[-1:]:
        if one.event == "discarded":
            return one
    held = (one for one in reversed(taken) if one.event == "taken" and one.commit and one.held_by != "")
    return next(held, None)


def left_behind(session_id: str) -> str:
    """What is said where its worktree has more than was taken."""
    return f"its worktree has more, which is in no snapshot: .hub/worktrees/{session_id}"
