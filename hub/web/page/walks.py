"""Handoffs, read from the audit timeline.

Owns: which rows of `GET /api/history` belong to one handoff, and how long the work stood in each state.
Must not: know what a state means.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import attrs

from hub.api.history import HistoryEntry
from hub.domain.handoff import ABANDONED, State
from hub.domain.session import LeftOut
from hub.domain.text.figures import agent_name
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
    abandoned: bool
    passed: tuple[LeftOut, ...]
    """Who else was asked for, and why it was none of them."""

    @property
    def seconds(self) -> float:
        """From the first state to the last."""
        return sum(stay.seconds for stay in self.stays)


@attrs.frozen
class _Move:
    entry: HistoryEntry
    source: str
    target: str
    reason: str


def walks(history: Iterable[HistoryEntry]) -> list[Walk]:
    """The handoffs of a timeline, the oldest first; one that goes on is the last of its session."""
    found: list[list[_Move]] = []
    under_way: dict[str, list[_Move]] = {}
    for entry in history:
        states, _, reason = entry.summary.partition(", ")
        source, arrow, target = states.partition(" -> ")
        if entry.event != "handoff" or not arrow:
            continue
        if source == State.RUNNING or entry.session_id not in under_way:
            under_way[entry.session_id] = []
            found.append(under_way[entry.session_id])
        under_way[entry.session_id].append(_Move(entry, source, target, reason))
        if target == State.RUNNING:
            del under_way[entry.session_id]
    return [_walk(moves) for moves in found]


def _walk(moves: list[_Move]) -> Walk:
    first, last = moves[0], moves[-1]
    over = last.target == State.RUNNING
    stays = [
        Stay(a.target, (instant(b.entry.ts) - instant(a.entry.ts)).total_seconds())
        for a, b in pairwise(moves)
    ]
    if not over:
        stays.append(Stay(last.target, 0.0))
    return Walk(
        session_id=first.entry.session_id,
        giver=agent_name(first.entry.provider, first.entry.account),
        taker=agent_name(last.entry.provider, last.entry.account) if over else "",
        reason=first.reason,
        began=first.entry.ts,
        ended=last.entry.ts if over else "",
        stays=tuple(stays),
        hfs=last.entry.hfs,
        abandoned=over and last.reason.startswith(ABANDONED),
        passed=next((tuple(move.entry.passed_by) for move in reversed(moves) if move.entry.passed_by), ()),
    )
