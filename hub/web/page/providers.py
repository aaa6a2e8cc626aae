"""Providers and circuits: who could work, who cannot and why, and what is tried again when.

Owns: which answers make one row; what is not installed comes last.
Must not: know any one provider, or show a key.
Tests: tests/hub/web/page/test_pages.py
"""

from __future__ import annotations

from hub.api.base import Nothing
from hub.api.observability import Breaker
from hub.api.profiles import Profile, ProfileOutcome
from hub.api.providers import ProviderConfig, ProviderStatus
from hub.web.page.ask import Ask, together
from hub.web.page.view import View


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        status = each(lambda: ask(list[ProviderStatus], "/api/providers"))
        configured = each(lambda: ask.part(list[ProviderConfig], "/api/config/providers"))
        breakers = each(lambda: ask.part(list[Breaker], "/api/circuit"))
        profiles = each(lambda: ask.part(list[Profile], "/api/profiles"))
        outcomes = each(lambda: ask.part(list[ProfileOutcome], "/api/outcomes"))
    by_name = {one.name: one for one in configured.answer or ()}
    rows = [(one, by_name.get(one.name)) for one in status.answer]
    missing = [row for row in rows if row[1] and not row[1].install.installed]
    return {
        "configured": configured.answer,
        "breakers": breakers.answer,
        "profiles": profiles.answer,
        "outcomes": outcomes.answer,
        "rows": [*(row for row in rows if row not in missing), *missing],
    }


VIEW = View(title="Providers", show=show)
