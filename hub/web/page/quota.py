"""The quota wallet: what each account has left, how fast it goes, when the wall comes, and who burned it.

Owns: who is counted as having burned what.
Must not: forecast; the wallet's own figures are drawn.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable
from functools import partial

import attrs

from hub.api.base import Nothing
from hub.api.events import EventRecord
from hub.api.quota import Entry
from hub.api.sessions import Sessions
from hub.domain.event import Tag
from hub.web.page.ask import Ask, together
from hub.web.page.board import told
from hub.web.page.burn import burn
from hub.web.page.view import View

_EVENTS = 2000


@attrs.frozen
class SessionSpent:
    """Tokens of one session with one account and model, as far as the newest events tell."""

    session_id: str
    account: str
    model: str
    tokens: int
    share: float


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    found = await together(
        wallet=partial(ask, list[Entry], "/api/quota/wallet"),
        events=partial(ask.part, list[EventRecord], "/api/events", newest=1, limit=_EVENTS),
        listed=partial(ask.part, Sessions, "/api/sessions"),
    )
    events = [event for event in found["events"] or () if event.tag == Tag.QUOTA]
    entries, now = told(found["wallet"]), time.time()
    return {
        "entries": [(entry, [(one, *burn(one, now)) for one in entry.windows]) for entry in entries],
        "silent": [entry for entry in found["wallet"] if entry not in entries],
        "spent": spent(events),
        "titles": {one.session_id: one.title for one in found["listed"].sessions} if found["listed"] else {},
    }


def spent(events: Iterable[EventRecord]) -> list[SessionSpent]:
    """Who burned it, the most first. A run that tells its sum anew each time is counted by its last."""
    sums: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for event in events:
        meta = event.meta
        tokens = sum(value for name in ("tokensIn", "tokensOut") if isinstance(value := meta.get(name), int))
        if not tokens:
            continue
        who = f"{meta.get('provider')}/{meta.get('account', 'default')}"
        key = (str(meta.get("sessionId", "")), who, str(meta.get("model", "")))
        place = str(meta.get("dispatchId", "")) if meta.get("cumulative") else str(event.id)
        sums[key][place] = tokens
    totals = {key: sum(parts.values()) for key, parts in sums.items()}
    most = max(totals.values(), default=1)
    found = [SessionSpent(*key, tokens, tokens / most) for key, tokens in totals.items()]
    return sorted(found, key=lambda one: -one.tokens)


VIEW = View(title="Quota", show=show, tags=frozenset({Tag.QUOTA, Tag.HANDOFF, Tag.ERROR}))
