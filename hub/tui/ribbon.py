"""The handoffs of a session: from whom to whom, why, each state with its time, the score, and who was passed by.

Owns: the reading of events as handoffs, and their lines.
Must not: know what a state means; it draws the moves it finds.
Tests: tests/hub/tui/test_words.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise

import attrs

from hub.domain.jsonvalue import JsonObject
from hub.domain.text.figures import agent_of, lowered
from hub.tui.look import Look
from hub.tui.rows import Row, row, wrapped
from hub.tui.words import for_people, time_of

_HOME = "RUNNING"
_CELLS = 30


@attrs.define
class Ride:
    """One handoff."""

    number: str
    giver: str = ""
    receiver: str = ""
    reason: str = ""
    score: str = ""
    lacks: list[str] = attrs.field(factory=list)
    """Why the score is not 100."""
    passed: list[str] = attrs.field(factory=list)
    """Who else was asked for, and why it was none of them."""
    moves: list[tuple[str, datetime]] = attrs.field(factory=list)
    """Each state that was come to, and when."""
    began: str = ""
    over: bool = False


class Ribbon:
    """All handoffs of a session."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.rides: dict[str, Ride] = {}
        self.passed: dict[str, str] = {}
        """Words about who was passed by at the start -> when."""
        self._taken: list[JsonObject] = []
        """The records of handoffs, which are few."""

    def take(self, records: Iterable[JsonObject]) -> None:
        """What happened next."""
        for record in records:
            meta = record.get("meta", {})
            if record["tag"] == "handoff" and meta.get("handoffId"):
                self._move(self.rides.setdefault(meta["handoffId"], Ride(meta["handoffId"])), record, meta)
            elif meta.get("leftOut"):
                self.passed[str(record["msg"])] = time_of(record)
            else:
                continue
            self._taken.append(record)

    def take_before(self, records: Iterable[JsonObject]) -> None:
        """What happened before all that was taken."""
        taken = self._taken
        self._begin()
        self.take(records)
        self.take(taken)

    def _move(self, ride: Ride, record: JsonObject, meta: JsonObject) -> None:
        if "to" in meta and meta.get("at"):
            ride.moves.append((meta["to"], datetime.fromisoformat(meta["at"])))
            if meta.get("from") == _HOME:
                ride.giver, ride.reason, ride.began = agent_of(meta), meta.get("reason", ""), time_of(record)
            if meta["to"] == _HOME:
                ride.receiver, ride.over = agent_of(meta), True
                ride.score = "pending"
        if meta.get("passedBy"):
            ride.passed = [f"{agent_of(one)}: {one['reason']}" for one in meta["passedBy"]]
        if isinstance(meta.get("hfs"), int | float):
            ride.score = f"{meta['hfs']:g} of 100"
            ride.lacks = lowered(meta.get("missing", []), meta.get("unsupported", []))

    def rows(self, width: int, look: Look) -> Iterator[Row]:
        """The newest handoff first."""
        for ride in reversed(list(self.rides.values())):
            yield from _drawn(ride, width, look)
            yield row("")
        if self.passed:
            yield row(("Passed by at the start", "head"))
            for words, at in self.passed.items():
                first, *rest = wrapped(for_people(words), width - 10)
                yield row((f"{at} ", "dim"), first)
                yield from (row(" " * 9 + line) for line in rest)
        if not self.rides:
            yield row(("no handoff yet; at the quota wall one comes by itself, h hands over now", "dim"))


def _drawn(ride: Ride, width: int, look: Look) -> Iterator[Row]:
    line, arrow = look.line * 2, look.arrow
    to = ride.receiver or ("not over yet" if not ride.over else "?")
    score = f"   hfs {ride.score}" if ride.score else ""
    yield row(
        (ride.giver or "?", "bold"),
        (f" {line}{arrow} ", "warn"),
        (to, "bold"),
        (score, "good"),
        key=ride.number,
    )
    yield row((f"{ride.began}  ", "dim"), for_people(ride.reason))
    if len(ride.moves) > 1:
        yield from _states(ride, min(_CELLS, max(8, width - 32)), look)
    for words in ride.passed:
        first, *rest = wrapped(for_people(words), width - 14)
        yield row(("  passed by: ", "dim"), first)
        yield from (row(" " * 13 + line) for line in rest)
    for words in ride.lacks:
        first, *rest = wrapped(for_people(words), width - 4)
        yield row("  ", (first, "warn"))
        yield from (row("    " + line) for line in rest)


def _states(ride: Ride, cells: int, look: Look) -> Iterator[Row]:
    """A bar for each state, where it lies in the whole."""
    spans = [(state, _ms(at, after)) for (state, at), (_, after) in pairwise(ride.moves)]
    total = max(1, sum(spent for _, spent in spans))
    done = 0
    for state, spent in spans:
        left = min(round(done * cells / total), cells - 1)
        wide = max(1, round((done + spent) * cells / total) - left)
        bar = look.empty * left + look.full * wide + look.empty * max(0, cells - left - wide)
        yield row(f"  {state:<15} ", (bar[:cells], "warn"), (f" {spent:>6} ms", "dim"))
        done += spent
    yield row((f"  {'in all':<15} {'':<{cells}} {total:>6} ms", "dim"))


def _ms(start: datetime, end: datetime) -> int:
    return round((end - start).total_seconds() * 1000)
