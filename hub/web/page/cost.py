"""Cost: what each day, each agent and each session has cost.

Owns: the sums over what the API tells by day, agent and session.
Must not: price a token.
Tests: tests/hub/web/page/test_cost.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial

import attrs

from hub.api.base import Nothing
from hub.api.costs import Costs, Spent
from hub.api.sessions import Sessions
from hub.domain.event import Tag
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

SHOWN = 100
"""Days, and sessions."""


@attrs.frozen
class CostSum:
    """What one day, agent or session has cost."""

    name: str
    usd: float | None
    tokens: int
    share: float


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    found = await together(
        costs=partial(ask, Costs, "/api/costs"), listed=partial(ask.part, Sessions, "/api/sessions")
    )
    spent: list[Spent] = found["costs"].spent
    listed = found["listed"]
    return {
        "agents": sorted(sums(spent, lambda one: one.provider), key=lambda one: -one.tokens),
        "days": sorted(sums(spent, lambda one: one.day), key=lambda one: one.name, reverse=True)[:SHOWN],
        "each": sums(spent, lambda one: one.session_id)[::-1][:SHOWN],
        "titles": {one.session_id: one.title for one in listed.sessions} if listed else {},
        "total": total(spent),
    }


def sums(spent: Iterable[Spent], name: Callable[[Spent], str]) -> list[CostSum]:
    """By a name, in the order of their first; what has no price adds to the tokens alone."""
    parts: dict[str, list[Spent]] = defaultdict(list)
    for one in spent:
        parts[name(one)].append(one)
    tokens = {key: sum(one.tokens_in + one.tokens_out for one in group) for key, group in parts.items()}
    most = max(tokens.values(), default=0) or 1
    return [CostSum(key, total(group), tokens[key], tokens[key] / most) for key, group in parts.items()]


def total(spent: Iterable[Spent]) -> float | None:
    """What is known of it; None where nothing has a price."""
    known = [one.usd for one in spent if one.usd is not None]
    return sum(known) if known else None


VIEW = View(title="Cost", show=show, tags=frozenset({Tag.QUOTA, Tag.HANDOFF, Tag.SYSTEM}))
