"""`GET /api/events`: the event log, polled.

Owns: its query and the shape of a record.
Must not: follow the log live; `stream` does.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hub.domain.event import Tag
from hub.domain.jsonvalue import JsonArray
from hub.messages import EventsSince
from hub.web.context import Context
from hub.web.route import get
from hub.web.schema import Answer, EventId, Query


class EventsQuery(Query, frozen=True, kw_only=True):
    """Which part of the log."""

    since: EventId = 0
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1000


class EventRecord(Answer, frozen=True, kw_only=True):
    """One record of the event log."""

    id: EventId
    ts: Annotated[str, Meta(description="Time of day, UTC, `HH:MM:SS.mmm`.")]
    tag: Tag
    msg: str
    meta: dict[str, Any] = msgspec.field(default_factory=dict)


async def events(context: Context, query: EventsQuery) -> JsonArray:
    """As the streams have them."""
    return [record.to_json() for record in await context.call(EventsSince(query.since, query.limit))]


ROUTES = (
    get(
        "/api/events",
        "Events newer than an id, oldest first.",
        events,
        answer=list[EventRecord],
        query=EventsQuery,
    ),
)
