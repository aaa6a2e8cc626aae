"""Cost: what each day, each agent and each session has cost.

Owns: by what it is summed up, and which come first.
Must not: price a token.
Tests: tests/hub/api/test_costs.py, tests/hub/web/page/test_pages.py
"""

from __future__ import annotations

from hub.api.base import Nothing
from hub.api.costs import Costs, summed
from hub.api.sessions import Sessions
from hub.domain.event import Tag
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

SHOWN = 100
"""Days, and sessions."""


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        costs = each(lambda: ask(Costs, "/api/costs"))
        sessions = each(lambda: ask.part(Sessions, "/api/sessions"))
    spent, listed = costs.answer.spent, sessions.answer
    return {
        "agents": sorted(summed(spent, lambda one: one.provider), key=lambda one: -one.tokens),
        "days": sorted(summed(spent, lambda one: one.day), key=lambda one: one.name, reverse=True)[:SHOWN],
        "each": summed(spent, lambda one: one.session_id)[::-1][:SHOWN],
        "titles": {one.session_id: one.title for one in listed.sessions} if listed else {},
        "total": next((one.usd for one in summed(spent, lambda _: "")), None),
    }


VIEW = View(title="Cost", show=show, tags=frozenset({Tag.QUOTA, Tag.HANDOFF, Tag.SYSTEM}))
