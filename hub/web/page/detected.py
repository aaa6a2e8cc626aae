"""Agents that hub did not start: those that run on this machine, and the sessions they left.

Owns: their order: those of this project first, then those that run.
Must not: look for agents, or decide what may be adopted.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.detect import MAX_HOURS, Detected
from hub.api.meta import Meta
from hub.api.providers import ProviderStatus
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

_SHOWN = 100
"""Sessions that were left: a day of subagents leaves thousands, and each is a card with a form of its own."""


@attrs.frozen(kw_only=True)
class DetectedPageQuery:
    """How far to look back."""

    hours: Annotated[int, Meta(ge=0, le=MAX_HOURS)] = 24


async def show(ask: Ask, given: DetectedPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        detected = each(lambda: ask(list[Detected], "/api/detect", sinceHours=given.hours))
        providers = each(lambda: ask.part(list[ProviderStatus], "/api/providers"))
    ordered = sorted(detected.answer, key=lambda one: (not one.adoptable, not one.running, -one.last_active))
    left = [one.id for one in ordered if not one.running and not one.alarm]
    beyond = set(left[_SHOWN:])
    return {
        "detected": [one for one in ordered if one.id not in beyond],
        "more": len(beyond),
        "providers": providers.answer or (),
        "hours": given.hours,
    }


VIEW = View(title="Detected", show=show, given=DetectedPageQuery, tags=frozenset())
