"""Cost: what each session has cost, and what each agent has.

Owns: the sums over the sessions that are shown.
Must not: price a token.
Tests: tests/hub/web/page/test_cost.py
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

import attrs

from hub.api.base import Nothing
from hub.api.session import Cost
from hub.api.sessions import Session, Sessions
from hub.domain.event import Tag
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

SHOWN = 30


@attrs.frozen
class Sum:
    """What one agent's sessions have cost."""

    provider: str
    sessions: int
    usd: float | None
    tokens: int
    share: float


async def show(ask: Ask, _: Nothing) -> dict[str, Any]:
    """What the template is filled with."""
    listed: Sessions = await ask(Sessions, "/api/sessions")
    newest = [one for one in listed.sessions if one.started_at][::-1][:SHOWN]
    costs = await together(
        **{
            one.session_id: partial(ask.part, Cost, "/api/session/cost", sessionId=one.session_id)
            for one in newest
        }
    )
    rows = [(one, costs[one.session_id]) for one in newest]
    known = [cost.session_usd for _, cost in rows if cost and cost.session_usd is not None]
    return {
        "rows": rows,
        "sums": sums(rows),
        "total": sum(known) if known else None,
        "more": len(listed.sessions) - len(newest),
    }


def sums(rows: Sequence[tuple[Session, Any]]) -> list[Sum]:
    """By agent, the most tokens first; a session that was handed over counts for the agent that has it."""
    by_agent: dict[str, list[Cost]] = defaultdict(list)
    for _, cost in rows:
        if cost:
            by_agent[cost.provider].append(cost)
    tokens = {name: sum(one.tokens_in + one.tokens_out for one in costs) for name, costs in by_agent.items()}
    most = max(tokens.values(), default=0) or 1
    found = []
    for name, costs in by_agent.items():
        usd = [one.session_usd for one in costs if one.session_usd is not None]
        found.append(Sum(name, len(costs), sum(usd) if usd else None, tokens[name], tokens[name] / most))
    return sorted(found, key=lambda one: -one.tokens)


VIEW = View(title="Cost", show=show, tags=frozenset({Tag.QUOTA, Tag.HANDOFF, Tag.SYSTEM}))
