"""Trust: what this project would run, send or open, and whether you have agreed.

Owns: the groups it is shown in.
Must not: take anybody's word; only a terminal can (`hub trust`).
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from hub.api.base import Nothing
from hub.api.trust import Trusted
from hub.domain.trust.settings import Does
from hub.web.page.ask import Ask
from hub.web.page.view import View

_GROUPS = (
    (Does.RUNS, "It runs programs, with your rights"),
    (Does.SENDS, "It sends your work, or a key of yours, elsewhere"),
    (Does.OPENS, "It takes down a guard, or uses a login"),
)


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    found = await ask(Trusted, "/api/trust")
    groups = [(title, [item for item in found.items if item.does is does]) for does, title in _GROUPS]
    return {"standing": found, "groups": [(title, items) for title, items in groups if items]}


VIEW = View(title="Trust", show=show)
