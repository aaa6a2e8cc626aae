"""What sessions have cost, by day and agent.

Owns: what this takes and answers, and the sums that every face makes of it.
Must not: know a route.
Tests: tests/hub/api/test_costs.py, tests/hub/actors/test_outcomes.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated

import attrs


@attrs.frozen(kw_only=True)
class Spent:
    """What one agent has used in one session, of what it began on one day."""

    day: Annotated[str, "`YYYY-MM-DD`, UTC: when the agent was started."]
    session_id: str
    provider: str
    usd: Annotated[float | None, "What is known of it; null: nothing of it has a price."]
    priced: Annotated[bool, "Whether every token has a price."]
    tokens_in: int
    tokens_out: int
    ended: Annotated[bool, "Whether its session is over."]


@attrs.frozen(kw_only=True)
class Costs:
    """The oldest first."""

    spent: list[Spent]


@attrs.frozen
class CostSum:
    """What some of it comes to together."""

    name: str
    usd: float | None
    """What is known of it; None = nothing of it has a price."""
    whole: bool
    """Whether every token has a price."""
    tokens_in: int
    tokens_out: int
    sessions: int

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out


def summed(spent: Iterable[Spent], name: Callable[[Spent], str]) -> list[CostSum]:
    """By a name, in the order of their first; what has no price adds to the tokens alone."""
    parts: dict[str, list[Spent]] = {}
    for one in spent:
        parts.setdefault(name(one), []).append(one)
    return [_sum(key, group) for key, group in parts.items()]


def _sum(name: str, group: list[Spent]) -> CostSum:
    known = [one.usd for one in group if one.usd is not None]
    return CostSum(
        name,
        sum(known) if known else None,
        all(one.priced for one in group),
        sum(one.tokens_in for one in group),
        sum(one.tokens_out for one in group),
        len({one.session_id for one in group}),
    )
