"""`GET /api/events`: the event log, polled.

Owns: the routes, and what is done besides one call.
Must not: follow the log live; `stream` does.
"""

from __future__ import annotations

from hub.api.events import EventRecord, EventsQuery
from hub.errors import Code
from hub.messages.events import EventsSince
from hub.web.codec import encode
from hub.web.context import Context
from hub.web.route import get


async def events(context: Context, query: EventsQuery) -> bytes:
    """As the streams have them."""
    session_id = await context.session_meant(query.session_id)
    order = EventsSince(query.since, query.limit, session_id, query.until, newest=bool(query.newest))
    return encode([record.to_json() for record in await context.call(order)])


ROUTES = (
    get(
        "/api/events",
        "Events newer than an id, oldest first: of all sessions or of one.",
        events,
        answer=list[EventRecord],
        codes=frozenset({Code.WHICH_SESSION}),
    ),
)
