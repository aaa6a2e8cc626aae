"""A fact of a handoff, and all facts of a log.

Owns: the nine facets with their weights, how a fact is worded, and what supports a claim.
Must not: read a log (`hub.domain.fidelity.gold` does), or look at a contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import attrs

from hub.domain.intent.fold import MAX_SNIPPET

MAX_REFERENCES = 8
"""More mentions than this make a fact no heavier."""


class Facet(StrEnum):
    """The nine classes of facts."""

    OBJECTIVE = "objective"
    VERIFICATION = "verification"
    ARTIFACTS = "artifacts"
    DECISIONS = "decisions"
    REPOSITORY = "repository"
    COMMANDS = "commands"
    FAILED_ATTEMPTS = "failed_attempts"
    NEXT = "next"
    HARNESS = "harness"


WEIGHTS: Mapping[Facet, int] = {
    Facet.OBJECTIVE: 20,
    Facet.VERIFICATION: 15,
    Facet.ARTIFACTS: 12,
    Facet.DECISIONS: 12,
    Facet.REPOSITORY: 10,
    Facet.COMMANDS: 10,
    Facet.FAILED_ATTEMPTS: 8,
    Facet.NEXT: 8,
    Facet.HARNESS: 5,
}
"""In per cent."""

Key = tuple[Facet, str]


@attrs.frozen
class Fact:
    """What is known of one fact. One that is told again is another value."""

    sources: tuple[int, ...]
    """Every event that tells it."""
    rank: int
    """Place of the newest event that tells it among all events, from 1; 0 for what was known before the first."""
    references: int = 1
    gold: bool = True
    """Whether a contract must have it. What is true but not needed supports a claim and is never missed."""

    def again(self, source: int, rank: int, *, gold: bool = True) -> Fact:
        """The same, told once more."""
        return Fact((*self.sources, source), rank, self.references + 1, self.gold or gold)


@attrs.frozen
class Facts:
    """All facts of a log."""

    by_key: Mapping[Key, Fact]
    events: int

    def weight(self, key: Key) -> int:
        """Recency times references, as a whole number: the newest event counts twice the oldest."""
        fact = self.by_key[key]
        return (self.events + 1 + fact.rank) * min(fact.references, MAX_REFERENCES)

    def gold(self, facet: Facet) -> list[Key]:
        """What a contract must have of the facet."""
        return [key for key, fact in self.by_key.items() if key[0] is facet and fact.gold]

    def supports(self, key: Key, source: int | None) -> bool:
        """Whether the log tells it, and tells it there; a `source` of None asks for no place."""
        fact = self.by_key.get(key)
        return fact is not None and (source is None or source in fact.sources)


def norm(text: str) -> str:
    """Two texts that differ in case and white space only are the same."""
    return " ".join(text.casefold().split())


def status(command: str, exit_code: int | None) -> str:
    """A command with its exit status, as one fact."""
    return f"{norm(command)} -> {'unknown' if exit_code is None else exit_code}"


def code(path: str, excerpt: str) -> str:
    """A piece of code at its place, as one fact."""
    return f"code {path} {norm(excerpt[:MAX_SNIPPET])}"
