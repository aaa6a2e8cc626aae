"""What the event log is asked and given.

Owns: those message types, all frozen values.
Must not: hold behaviour, or anything that is not plain data but the channel of a subscription, which is how events
reach a client.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import trio

from hub.domain.event import Record
from hub.io.events.store import NewEvent
from supervisors import Call, Cast


@attrs.frozen
class EventAppend(Call[list[int]]):
    """Append in order, durably, then publish. Answers the ids, in order.

    An event of a dispatch with an offset that is in the log already is skipped, so a replay may repeat itself.
    """

    events: Sequence[NewEvent]
    spooled: bool = False
    """A durable spool would bring them back after a power cut: they are published without waiting for the disk."""


@attrs.frozen
class EventsSince(Call[list[Record]]):
    """Answers the records with a greater id, oldest first, at most `limit`: the oldest of them, or the newest."""

    since: int
    limit: int = 1000
    session_id: str = ""
    """Only those of this session; "" = all."""
    until: int | None = None
    """The greatest id."""
    newest: bool = False


@attrs.frozen
class EventsOfDispatch(Call[list[Record]]):
    """Answers the newest records with this tag that the stream of one dispatch has told, oldest first, at most `limit`."""

    dispatch_id: str
    tag: str
    limit: int = 1000


@attrs.frozen
class EventsHead(Call[int]):
    """Answers the highest event id; 0 when there is none."""


@attrs.frozen
class EventsOnRecord(Call[None]):
    """Answers None once the audit log has every agent's event of this moment, or soon where it takes none."""


@attrs.frozen
class Subscribe(Call["Subscription"]):
    """Answers a `Subscription` that starts after `since`, or live where it is None."""

    since: int | None = None


@attrs.frozen
class Unsubscribe(Cast):
    """Ends a subscription."""

    token: int


@attrs.frozen
class Subscription:
    """A live view of the log: lists of records, in order, with no gap and no double.

    The channel ends when the reader is too slow (`lagged` is then set by the log) or the log goes down. Where it began with
    `since`, what the reader had not caught up with by then is not in the channel: it comes to a subscription after the last
    record that was taken.
    """

    token: int
    channel: trio.MemoryReceiveChannel[Sequence[Record]]
    lagged: trio.Event


EventsInbox = (
    EventAppend | EventsHead | EventsOfDispatch | EventsOnRecord | EventsSince | Subscribe | Unsubscribe
)
