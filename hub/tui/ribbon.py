"""The handoffs of a session: from whom to whom, why, each state with its time, the score, and who was passed by.

Owns: their lines.
Must not: know what a state means; it draws the moves it finds.
Tests: tests/hub/tui/test_words.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hub.api.history import Walk
from hub.domain.session import LeftOut
from hub.domain.text.figures import agent_name
from hub.domain.wallclock import seconds
from hub.tui.look import Look
from hub.tui.rows import Row, fitted, row, wrapped
from hub.tui.words import for_people

_CELLS = 30


def rows_of(walks: list[Walk], left_out: Sequence[LeftOut], width: int, look: Look) -> Iterator[Row]:
    """The newest handoff first, then who was passed by at the start."""
    for walk in reversed(walks):
        yield from _drawn(walk, width, look)
        yield row("")
    if left_out:
        yield row(("Passed by at the start", "head"))
    for out in left_out:
        yield from _passed("  ", out, width)
    if not walks:
        yield row(("no handoff yet; at the quota wall one comes by itself, h hands over now", "dim"))


def _drawn(walk: Walk, width: int, look: Look) -> Iterator[Row]:
    hfs = walk.hfs if isinstance(walk.hfs, str | None) else f"{walk.hfs} of 100"
    yield row(
        (walk.giver or "?", "bold"),
        (f" {look.line * 2}{look.arrow} ", "warn"),
        (walk.taker or ("?" if walk.ended else "not over yet"), "bold"),
        (f"   fidelity {hfs}" if hfs else "", "good"),
        key=walk.began,
    )
    yield row((f"{seconds(walk.began)}  ", "dim"), for_people(walk.reason))
    if len(walk.stays) > (not walk.ended):
        yield from _states(walk, min(_CELLS, max(8, width - 32)), look)
    for passed in walk.passed:
        yield from _passed("  passed by: ", passed, width)
    for words in walk.lacks:
        first, *rest = wrapped(for_people(words), width - 4)
        yield row("  ", (first, "warn"))
        yield from (row("    " + line) for line in rest)


def _passed(before: str, one: LeftOut, width: int) -> Iterator[Row]:
    words = f"{agent_name(one.provider, one.account)}: {one.reason}{f'. {one.hint}' if one.hint else ''}"
    return fitted(row((before, "dim"), for_people(words)), width - 1)


def _states(walk: Walk, cells: int, look: Look) -> Iterator[Row]:
    """A bar for each state that was left again, where it lies in the whole."""
    spans = [(stay.state, round(stay.seconds * 1000)) for stay in walk.stays]
    if not walk.ended:
        spans.pop()
    total = max(1, sum(spent for _, spent in spans))
    done = 0
    for state, spent in spans:
        left = min(round(done * cells / total), cells - 1)
        wide = max(1, round((done + spent) * cells / total) - left)
        bar = look.empty * left + look.full * wide + look.empty * max(0, cells - left - wide)
        yield row(f"  {state:<15} ", (bar[:cells], "warn"), (f" {spent:>6} ms", "dim"))
        done += spent
    yield row((f"  {'in all':<15} {'':<{cells}} {total:>6} ms", "dim"))
