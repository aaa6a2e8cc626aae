"""How much of the labelled facts was kept, and how much of what is told is a fact.

Owns: when an item is a fact, and the counts by agent, way and class.
Must not: read a recording's files, or round what it counts.

Recall counts each fact once for each moment at which it holds: one that is found late, or lost, is missing at each of
those. Precision counts each item that is told once for each moment: one that no label allows, or that was true only
before, is wrong. A fact of a class is found only in that class.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import attrs

from hub.evals.labels import Class, LabelledFact, Way
from hub.evals.lifting import LiftedItem, over_events, over_store
from hub.evals.recording import Recording


@attrs.define
class Tally:
    """Counts over moments; they add up."""

    facts: int = 0
    found: int = 0
    items: int = 0
    right: int = 0

    @property
    def recall(self) -> float | None:
        """Found of all facts; None where there was nothing to find."""
        return self.found / self.facts if self.facts else None

    @property
    def precision(self) -> float | None:
        """Facts of all that is told; None where nothing is told."""
        return self.right / self.items if self.items else None

    def add(self, other: Tally) -> None:
        """Both together."""
        self.facts += other.facts
        self.found += other.found
        self.items += other.items
        self.right += other.right


@attrs.frozen
class MeasuredFault:
    """A fact that was missed, or an item that is none, with the moments at which it was."""

    kind: Class
    text: str
    moments: tuple[int, ...]


@attrs.frozen
class Measured:
    """One recording on one way."""

    provider: str
    recording: str
    way: Way
    cuts: int
    tallies: dict[Class, Tally]
    missed: tuple[MeasuredFault, ...]
    wrong: tuple[MeasuredFault, ...]


def measure(recording: Recording) -> Iterable[Measured]:
    """The recording on each way it was recorded for."""
    if recording.stream:
        yield compare(recording, Way.CONTRACT, list(over_events(recording)))
    if recording.files:
        yield compare(recording, Way.STORE, list(over_store(recording)))


def compare(recording: Recording, way: Way, told: Sequence[Sequence[LiftedItem]]) -> Measured:
    """The labels against what was told at each moment, the first being moment 1."""
    tallies = {kind: Tally() for kind in Class}
    missed: dict[tuple[Class, str], list[int]] = {}
    wrong: dict[tuple[Class, str], list[int]] = {}
    for moment, items in enumerate(told, 1):
        facts = [fact for fact in recording.facts if fact.holds(moment, way)]
        for fact in facts:
            tallies[fact.kind].facts += 1
            if any(fits(fact, item) for item in items):
                tallies[fact.kind].found += 1
            else:
                missed.setdefault((fact.kind, _told(fact.words[0], fact.exit_code)), []).append(moment)
        for item in items:
            tallies[item.kind].items += 1
            if any(allows(fact, item) for fact in facts):
                tallies[item.kind].right += 1
            else:
                wrong.setdefault((item.kind, _told(item.text, item.exit_code)), []).append(moment)
    return Measured(
        recording.provider, recording.name, way, len(told), tallies, _faults(missed), _faults(wrong)
    )


def fits(fact: LabelledFact, item: LiftedItem) -> bool:
    """Whether the item tells the fact: it has its words and, of a command, its exit status."""
    if item.kind is not fact.kind or not any(_has(item.text, words) for words in fact.words):
        return False
    if fact.exit_code is None or item.exit_code == fact.exit_code:
        return True
    return item.exit_code is None and bool(re.search(rf"\bexit status {fact.exit_code}\b", item.text))


def allows(fact: LabelledFact, item: LiftedItem) -> bool:
    """Whether the item is true by the fact: one that does not tell the exit status tells too little, and nothing false."""
    return fits(fact, item) or (
        item.exit_code is None
        and "exit status" not in item.text
        and fits(attrs.evolve(fact, exit_code=None), item)
    )


def _has(text: str, words: str) -> bool:
    """Whole words only: a command `ls` is not in `false`."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def _told(text: str, code: int | None) -> str:
    return text if code is None else f"{text} -> {code}"


def _faults(found: dict[tuple[Class, str], list[int]]) -> tuple[MeasuredFault, ...]:
    return tuple(MeasuredFault(kind, text, tuple(moments)) for (kind, text), moments in found.items())
