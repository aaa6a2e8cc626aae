"""The handoffs of an audit timeline as a picture: each state, and how long the work stood in it.

Owns: their drawing.
Must not: know what a state means; it draws the moves it finds.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from hub.api.history import HistoryEntry, Walk, walks
from hub.cli.terminal.screen import for_people
from hub.cli.terminal.width import hung
from hub.domain.handoff import State
from hub.domain.wallclock import local

_CELLS = 36
_FEWEST = 4
_HANG = 4
_BESIDE = 30
"""Columns beside the cells: the state and the milliseconds."""


def pictures(history: list[HistoryEntry], width: int = 0) -> list[str]:
    """One picture for each handoff in the rows that was made, in lines of at most `width` columns; 0 = as they are best."""
    cells = min(_CELLS, max(_FEWEST, width - _BESIDE)) if width else _CELLS
    made = [walk for walk in walks(history) if walk.made]
    many = len({walk.session_id for walk in made}) > 1
    lines = (text for walk in made for text in ("", *_picture(walk, cells, many=many)))
    return [hung(text, width, _HANG) for text in lines]


def _picture(walk: Walk, cells: int, *, many: bool) -> Iterator[str]:
    total = max(1, _ms(walk.seconds))
    yield click.style(f"handed over in {total} ms: {for_people(walk.reason)}", bold=True)
    done = 0
    for stay in walk.stays:
        spent = _ms(stay.seconds)
        left = round(done * cells / total)
        width = max(1, round((done + spent) * cells / total) - left)
        left = min(left, cells - width)
        bar = " " * left + "#" * width + " " * (cells - left - width)
        yield f"  {stay.state:<15} |{click.style(bar, fg='yellow')}| {spent:>6} ms"
        done += spent
    end = local(walk.ended).strftime("%H:%M:%S.%f")[:12]
    whose = f", {walk.session_id}" if many else ""
    yield f"  {State.RUNNING:<15} at {end}, {walk.giver} -> {walk.taker}{whose}"
    if walk.lacks:
        yield f"  fidelity {walk.hfs} of 100:"
        yield from (f"    {for_people(one)}" for one in walk.lacks)


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
