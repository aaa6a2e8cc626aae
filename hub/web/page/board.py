"""The board: which session needs somebody, how long the quota lasts, what the last handoff did.

Owns: the order of sessions for people, and which accounts are worth a bar.
Must not: compute anything that the API has not said.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from hub.api.approvals import Approval
from hub.api.base import Nothing
from hub.api.events import EventRecord
from hub.api.history import HistoryEntry, walks
from hub.api.quota import Entry
from hub.api.sessions import Session, Sessions
from hub.domain.standing import GROUPS, OVER
from hub.web.page.ask import Ask, together
from hub.web.page.view import View

SHOWN = 20
"""Sessions that have ended."""
_BACK = 50
"""Events among which a question is looked for."""
_HANDOFFS = 60
"""Records of the timeline: the last handoffs."""


def grouped(sessions: list[Session]) -> list[tuple[str, list[Session]]]:
    """By need, the newest first, without the groups that are empty."""
    newest = sessions[::-1]
    found: list[list[Session]] = [[] for _ in GROUPS]
    for one in newest:
        found[one.group].append(one)
    found[OVER] = found[OVER][:SHOWN]
    return [(name, members) for name, members in zip(GROUPS, found, strict=True) if members]


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the board's template is filled with."""
    found = await together(
        listed=partial(ask, Sessions, "/api/sessions"),
        wallet=partial(ask.part, list[Entry], "/api/quota/wallet"),
        history=partial(ask.part, list[HistoryEntry], "/api/history", event="handoff", limit=_HANDOFFS),
        approvals=partial(ask.part, list[Approval], "/api/approvals"),
    )
    sessions = found["listed"].sessions
    questions = await together(
        **{one.session_id: partial(question, ask, one.session_id) for one in sessions if one.needs == "input"}
    )
    wanted = {one.session_id: one.action for one in reversed(found["approvals"] or ())}
    made = walks(found["history"] or ())
    return {
        "groups": grouped(sessions),
        "asked": {**wanted, **questions},
        "concurrent": found["listed"].concurrent,
        "wallet": told(found["wallet"]),
        "last": made[-1] if made else None,
    }


async def question(ask: Ask, session_id: str) -> str:
    """What its agent asks; "" where that is too long ago."""
    events = await ask.part(list[EventRecord], "/api/events", sessionId=session_id, newest=1, limit=_BACK)
    asked = [event.msg for event in events or () if event.meta.get("needsInput")]
    return asked[-1] if asked else ""


def told(wallet: Any) -> Any:
    """The accounts of which anything is known; of those that never worked nothing is worth a bar."""
    if not wallet:
        return wallet
    return [entry for entry in wallet if entry.windows or entry.tokens_today]


VIEW = View(title="Board", show=show)
