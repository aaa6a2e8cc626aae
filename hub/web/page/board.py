"""The board: which session needs somebody, how long the quota lasts, what the last handoff did.

Owns: the order of sessions for people, and which accounts are worth a bar.
Must not: compute anything that the API has not said.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from hub.api.base import Nothing
from hub.api.history import HistoryEntry
from hub.api.providers import ProviderStatus
from hub.api.quota import Entry
from hub.api.sessions import Session, Sessions
from hub.web.page.ask import Ask, together
from hub.web.page.view import View
from hub.web.page.walks import walks

ENDED = frozenset({"completed", "failed", "stopped"})
GROUPS = ("Needs you", "Works", "Waits", "Done")
SHOWN = 20
"""Sessions that have ended."""
_HANDOFFS = 60
"""Records of the timeline: the last handoffs."""


def group(session: Session) -> int:
    """Its place in `GROUPS`."""
    if session.needs != "none":
        return 0
    if session.session_state in ENDED:
        return 3
    return 2 if session.wait_until or session.position else 1


def grouped(sessions: list[Session]) -> list[tuple[str, list[Session]]]:
    """By need, the newest first, without the groups that are empty."""
    newest = sessions[::-1]
    found = [(name, [one for one in newest if group(one) == place]) for place, name in enumerate(GROUPS)]
    return [(name, members[:SHOWN] if name == GROUPS[-1] else members) for name, members in found if members]


async def show(ask: Ask, _: Nothing) -> dict[str, Any]:
    """What the board's template is filled with."""
    found = await together(
        listed=partial(ask, Sessions, "/api/sessions"),
        wallet=partial(ask.part, list[Entry], "/api/quota/wallet"),
        providers=partial(ask.part, list[ProviderStatus], "/api/providers"),
        history=partial(ask.part, list[HistoryEntry], "/api/history", event="handoff", limit=_HANDOFFS),
    )
    made = walks(found["history"] or ())
    return {
        "groups": grouped(found["listed"].sessions),
        "concurrent": found["listed"].concurrent,
        "total": len(found["listed"].sessions),
        "wallet": told(found["wallet"]),
        "providers": found["providers"],
        "last": made[-1] if made else None,
    }


def told(wallet: Any) -> Any:
    """The accounts of which anything is known; of those that never worked nothing is worth a bar."""
    if not wallet:
        return wallet
    return [entry for entry in wallet if entry.windows or entry.tokens_today]


VIEW = View(title="Board", show=show)
