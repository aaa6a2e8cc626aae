"""The handoffs of an audit timeline as a picture: each state, and how long the work stood in it.

Owns: their drawing.
Must not: know what a state means; it draws the moves it finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

import click

from hub.api.history import HistoryEntry, Steps, handoffs
from hub.cli.screen import for_people
from hub.domain.text.figures import lowered

_CELLS = 36
_FEWEST = 4
_BESIDE = 30
"""Columns beside the cells: the state and the milliseconds."""


def pictures(history: list[HistoryEntry], width: int = 0) -> list[str]:
    """One picture for each handoff in the rows that was made, in lines of at most `width` columns; 0 = as they are best."""
    cells = min(_CELLS, max(_FEWEST, width - _BESIDE)) if width else _CELLS
    made = (walk for walk in handoffs(history) if _is_whole(walk))
    return [text for walk in made for text in ("", *_picture(walk, cells))]


def _is_whole(walk: Steps) -> bool:
    (_, first), (_, last) = walk[0], walk[-1]
    return first.source == last.target and not last.abandoned


def _picture(walk: Steps, cells: int) -> Iterator[str]:
    instants = [datetime.fromisoformat(row.ts) for row, _ in walk]
    spans = [(to.target, _ms(*both)) for (_, to), both in zip(walk, pairwise(instants), strict=False)]
    total = max(1, _ms(instants[0], instants[-1]))
    yield click.style(f"handed over in {total} ms: {for_people(walk[0][1].reason)}", bold=True)
    done = 0
    for state, spent in spans:
        left = round(done * cells / total)
        width = max(1, round((done + spent) * cells / total) - left)
        left = min(left, cells - width)
        bar = " " * left + "#" * width + " " * (cells - left - width)
        yield f"  {state:<15} |{click.style(bar, fg='yellow')}| {spent:>6} ms"
        done += spent
    end = instants[-1].astimezone().strftime("%H:%M:%S.%f")[:12]
    yield f"  {walk[-1][1].target:<15} at {end}, with the next agent"
    last = walk[-1][0]
    if why := lowered(last.missing, last.unsupported):
        yield f"  fidelity {last.hfs} of 100:"
        yield from (f"    {for_people(one)}" for one in why)


def _ms(start: datetime, end: datetime) -> int:
    return round((end - start).total_seconds() * 1000)
