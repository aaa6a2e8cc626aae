"""Handoffs, read from the audit timeline.

Owns: what is told of one, and how long the work stood in each state.
Must not: know what a state means.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import attrs

from hub.api.history import HistoryEntry, Steps, handoffs
from hub.domain.handoff import State
from hub.domain.session import LeftOut
from hub.domain.text.figures import agent_name, lowered
from hub.web.page.words import instant


@attrs.frozen
class Stay:
    """How long the work stood in a state."""

    state: str
    seconds: float


@attrs.frozen
class Walk:
    """One handoff."""

    session_id: str
    giver: str
    taker: str
    """"" while it goes on."""
    reason: str
    began: str
    ended: str
    stays: tuple[Stay, ...]
    hfs: int | str | None
    lacks: tuple[str, ...]
    """Why the score is not 100."""
    abandoned: bool
    passed: tuple[LeftOut, ...]
    """Who else was asked for, and why it was none of them."""

    @property
    def seconds(self) -> float:
        """From the first state to the last."""
        return sum(stay.seconds for stay in self.stays)


def walks(history: Iterable[HistoryEntry]) -> list[Walk]:
    """The handoffs of a timeline, the oldest first; one that goes on is the last of its session."""
    return [_walk(moves) for moves in handoffs(history)]


def _walk(moves: Steps) -> Walk:
    (first, left), (last, move) = moves[0], moves[-1]
    over = move.target == State.RUNNING
    stays = [
        Stay(to.target, (instant(after.ts) - instant(here.ts)).total_seconds())
        for (here, to), (after, _) in pairwise(moves)
    ]
    if not over:
        stays.append(Stay(move.target, 0.0))
    return Walk(
        session_id=first.session_id,
        giver=agent_name(first.provider, first.account),
        taker=agent_name(last.provider, last.account) if over else "",
        reason=left.reason,
        began=first.ts,
        ended=last.ts if over else "",
        stays=tuple(stays),
        hfs=last.hfs,
        lacks=tuple(lowered(last.missing, last.unsupported)),
        abandoned=move.abandoned,
        passed=next((tuple(row.passed_by) for row, _ in reversed(moves) if row.passed_by), ()),
    )
