"""The supervision tree as it is at this moment; what was restarted flashes.

Owns: which parts of a node are shown.
Must not: know an actor.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

from hub.api.base import Nothing
from hub.api.observability import TreeNode
from hub.web.page.ask import Ask
from hub.web.page.view import ALL, View

_SECONDS = 2


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    return {"root": await ask(TreeNode, "/api/system/tree")}


VIEW = View(title="Tree", show=show, tags=ALL, every=_SECONDS)
