"""The event log.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.meta import MAX_SAFE_INTEGER, EventId, Meta
from hub.domain.event import Tag
from hub.domain.meta import EventMeta


@attrs.frozen(kw_only=True)
class EventsQuery:
    """Which part of the log."""

    since: EventId = 0
    limit: Annotated[int, Meta(ge=1, le=10_000)] = 1000
    session_id: Annotated[
        str,
        Meta(
            pattern="^[a-z0-9-]{0,64}$(?!\\n)",
            description='Only events of this session, by its id or the beginning of it; "" = all.',
        ),
    ] = ""
    until: (
        Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER, description="The greatest id; left out: any.")] | None
    ) = None
    newest: Annotated[
        int, Meta(ge=0, le=1, description="1: of more than `limit` the newest, still oldest first.")
    ] = 0


@attrs.frozen(kw_only=True)
class EventRecord:
    """One record of the event log."""

    id: EventId
    ts: Annotated[str, "Time of day, UTC, `HH:MM:SS.mmm`."]
    tag: Tag
    msg: str
    meta: EventMeta = attrs.field(factory=EventMeta)
