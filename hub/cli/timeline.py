"""The handoffs of an audit timeline as a picture: each state, and how long the work stood in it.

Owns: the reading of `GET /api/history` rows as moves, and their drawing.
Must not: know what a state means; it draws the moves it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

import attrs
import click

from hub.api.history import HistoryEntry
from hub.cli.screen import for_people

_CELLS = 36
_FEWEST = 4
_BESIDE = 30
"""Columns beside the cells: the state and the milliseconds."""
_HOME = "RUNNING"


@attrs.frozen
class Move:
    """One transition of the state machine."""

    at: datetime
    source: str
    target: str
    reason: str


def handoffs(history: list[HistoryEntry], width: int = 0) -> list[str]:
    """One picture for each handoff in the rows that was made, in lines of at most `width` columns; 0 = as they are best."""
    cells = min(_CELLS, max(_FEWEST, width - _BESIDE)) if width else _CELLS
    return [text for walk in _walks(history) for text in ("", *_picture(walk, cells))]


def _walks(history: list[HistoryEntry]) -> Iterator[list[Move]]:
    from hub.domain.handoff import ABANDONED  # whoever only asks for help needs no handoff

    walk: list[Move] = []
    for row in history:
        if row.event != "handoff":
            continue
        move = _move(row)
        if move.source == _HOME:
            walk = []
        walk.append(move)
        if move.target == _HOME and walk[0].source == _HOME and not move.reason.startswith(ABANDONED):
            yield walk


def _move(row: HistoryEntry) -> Move:
    states, _, reason = row.summary.partition(", ")
    source, _, target = states.partition(" -> ")
    return Move(datetime.fromisoformat(row.ts), source, target, reason)


def _picture(walk: list[Move], cells: int) -> Iterator[str]:
    spans = [(here.target, _ms(here, after)) for here, after in pairwise(walk)]
    total = max(1, _ms(walk[0], walk[-1]))
    yield click.style(f"handed over in {total} ms: {for_people(walk[0].reason)}", bold=True)
    done = 0
    for state, spent in spans:
        left = round(done * cells / total)
        width = max(1, round((done + spent) * cells / total) - left)
        left = min(left, cells - width)
        bar = " " * left + "#" * width + " " * (cells - left - width)
        yield f"  {state:<15} |{click.style(bar, fg='yellow')}| {spent:>6} ms"
        done += spent
    end = walk[-1].at.astimezone().strftime("%H:%M:%S.%f")[:12]
    yield f"  {walk[-1].target:<15} at {end}, with the next agent"


def _ms(start: Move, end: Move) -> int:
    return round((end.at - start.at).total_seconds() * 1000)
