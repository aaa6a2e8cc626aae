"""Approvals: everything that waits for a person's word, with its whole context.

Owns: nothing but the question; the oldest is first, as the API answers.
Must not: decide whether a request may still be answered.
Tests: tests/hub/web/page/test_pages.py
"""

from __future__ import annotations

from hub.api.approvals import Approval
from hub.api.base import Nothing
from hub.web.page.ask import Ask
from hub.web.page.view import View


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    return {"approvals": await ask(list[Approval], "/api/approvals")}


VIEW = View(title="Approvals", show=show)
