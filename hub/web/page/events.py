"""The event log, newest first, of all sessions.

Owns: the filter by tag, over the part that is shown.
Must not: keep events; each look asks for them anew.
Tests: tests/hub/web/page/test_pages.py, tests/hub/web/page/test_browsed.py
"""

from __future__ import annotations

import attrs

from hub.api.events import EventRecord
from hub.api.meta import EventId
from hub.domain.event import Tag
from hub.web.page.ask import Ask
from hub.web.page.view import ALL, View

SHOWN = 300
_LOOKED_AT = 2000


@attrs.frozen(kw_only=True)
class EventsPageQuery:
    """Which events."""

    tag: Tag | None = None
    until: EventId | None = None


async def show(ask: Ask, given: EventsPageQuery) -> dict[str, object]:
    """What the template is filled with."""
    before = {} if given.until is None else {"until": given.until}
    limit = SHOWN if given.tag is None else _LOOKED_AT
    found = await ask(list[EventRecord], "/api/events", newest=1, limit=limit, **before)
    shown = [event for event in found if given.tag in (None, event.tag)][-SHOWN:]
    more = len(found) == limit
    return {
        "stream": shown[::-1],
        "tag": given.tag,
        "all_tags": list(Tag),
        "until": given.until,
        "earlier": (shown[0].id if len(shown) == SHOWN else found[0].id) - 1 if more and found else None,
    }


VIEW = View(title="Events", show=show, given=EventsPageQuery, tags=ALL)
