"""What sessions have cost, by day and agent.

Owns: what this takes and answers.
Must not: know a route.
Tests: tests/hub/actors/test_outcomes.py
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.meta import Meta


@attrs.frozen(kw_only=True)
class Spent:
    """What one agent has used in one session, of what it began on one day."""

    day: Annotated[str, Meta(description="`YYYY-MM-DD`, UTC: when the agent was started.")]
    session_id: str
    provider: str
    usd: Annotated[float | None, Meta(description="What is known of it; null: nothing of it has a price.")]
    priced: Annotated[bool, Meta(description="Whether every token has a price.")]
    tokens_in: int
    tokens_out: int
    ended: Annotated[bool, Meta(description="Whether its session is over.")]


@attrs.frozen(kw_only=True)
class Costs:
    """The oldest first."""

    spent: list[Spent]
