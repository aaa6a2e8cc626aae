"""The time machine: history, snapshot commits, their diffs, rewind.

Owns: what these take and answer, which records are one handoff, and what is told of one.
Must not: know a route.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

import attrs

from hub.api.base import Done
from hub.api.meta import MAX_SAFE_INTEGER, Meta, Sha, Timestamp
from hub.api.session import SessionId
from hub.domain.handoff import State
from hub.domain.session import LeftOut
from hub.domain.text.figures import agent_name, lowered


@attrs.frozen(kw_only=True)
class HistoryQuery:
    """Which part of the history: without any of these the newest 1,000 records, and all handoffs before them."""

    limit: Annotated[int, Meta(ge=1, le=10_000, description="At most so many, the newest; 1,000.")] | None = (
        None
    )
    cursor: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=MAX_SAFE_INTEGER,
                description="Only records older than this `seq`: that of a page's first entry gives the page before it.",
            ),
        ]
        | None
    ) = None
    event: Annotated[
        str,
        Meta(max_length=64, pattern=r"^[A-Za-z0-9_.]*$(?!\n)", description="Only records of this event."),
    ] = ""
    session_id: Annotated[SessionId, "Only records of this session; the beginning of its id does."] = ""


@attrs.frozen(kw_only=True)
class Move:
    """One step of a handoff."""

    source: Annotated[str, "The state that was left."]
    target: Annotated[str, "The state that was come to."]
    reason: str = ""
    abandoned: Annotated[bool, "The handoff was given up with this step."] = False


@attrs.frozen(kw_only=True)
class HistoryEntry:
    """One record of the audit log."""

    seq: int
    ts: Timestamp
    event: str
    provider: str
    summary: str
    session_id: str
    account: Annotated[str, 'The account that the record is of; "" where it is of none.'] = ""
    exit_code: int | None = None
    """Of an acceptance command; null where none ended."""
    hfs: int | Literal["pending"] | None = None
    """The score of the handoff that this record ends; null for any other record, and where it could not be known."""
    missing: list[str] = attrs.field(factory=list)
    """Of a record with a score: what the next agent was not told, `facet: fact`, at most 20."""
    unsupported: list[str] = attrs.field(factory=list)
    """Of a record with a score: what it was told and nothing shows, `facet: claim`, at most 20."""
    passed_by: list[LeftOut] = attrs.field(factory=list)
    """Of a handoff's record that chose the receiver: who else was asked for, and why it was none of them."""
    move: Move | None = None
    """What a handoff's record says; null for any other."""
    commit: Annotated[str, 'The commit that the record is of; "" where it is of none.'] = ""
    branch: Annotated[str, 'The branch that the record is of; "" where it is of none.'] = ""
    held_by: str | None = None
    """Of the newest `taken` records, where only these are asked for, back to one that holds: a branch of yours that has its
    commit now; "": none has. null: it was not looked at."""


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
    """Of the states that were left again; while it goes on the last one is that in which it is."""
    hfs: int | str | None
    lacks: tuple[str, ...]
    """Why the score is not 100."""
    abandoned: bool
    made: bool
    """Whether it came to its end, and its beginning is known."""
    passed: tuple[LeftOut, ...]
    """Who else was asked for, and why it was none of them."""

    @property
    def seconds(self) -> float:
        """From the first state to the last."""
        return sum(stay.seconds for stay in self.stays)


def walks(rows: Iterable[HistoryEntry]) -> list[Walk]:
    """The handoffs among rows that are oldest first, in the order in which they began.

    Sessions may hand over at once, and the rows may begin or end in the middle of one; one that is over ends in RUNNING.
    """
    found: list[_Steps] = []
    under_way: dict[str, _Steps] = {}
    for row in rows:
        if row.move is None:
            continue
        if row.move.source == State.RUNNING or row.session_id not in under_way:
            under_way[row.session_id] = []
            found.append(under_way[row.session_id])
        under_way[row.session_id].append((row, row.move))
        if row.move.target == State.RUNNING:
            del under_way[row.session_id]
    return [_walk(steps) for steps in found]


_Steps: TypeAlias = list[tuple[HistoryEntry, Move]]


def _walk(steps: _Steps) -> Walk:
    (first, left), (last, move) = steps[0], steps[-1]
    over = move.target == State.RUNNING
    at = [datetime.fromisoformat(row.ts) for row, _ in steps]
    stays = [
        Stay(to.target, (after - here).total_seconds())
        for (_, to), (here, after) in zip(steps, pairwise(at), strict=False)
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
        made=over and left.source == State.RUNNING and not move.abandoned,
        passed=next((tuple(row.passed_by) for row, _ in reversed(steps) if row.passed_by), ()),
    )


@attrs.frozen(kw_only=True)
class Commit:
    """One snapshot."""

    sha: str
    short: str
    subject: str
    when: str
    session_id: str
    handoff_id: str


@attrs.frozen(kw_only=True)
class DiffQuery:
    """Which snapshot."""

    sha: Sha


@attrs.frozen(kw_only=True)
class Diff:
    """What has changed."""

    summary: str
    diff: str
    truncated: Annotated[bool, "There is more than is told."]


@attrs.frozen(kw_only=True)
class CommitDiff(Diff):
    """What one snapshot changed."""

    sha: str


@attrs.frozen(kw_only=True)
class Rewind:
    """Where to go back to."""

    sha: Sha


@attrs.frozen(kw_only=True)
class Rewound(Done):
    """The branch that was made; nothing else moved."""

    branch: str
    sha: str
