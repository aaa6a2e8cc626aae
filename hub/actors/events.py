"""The event log: an id for ever, then every subscriber, then the disk and the audit log.

Owns: `events.db`, the subscriptions, and which events are on the audit log.
Must not: change an event, or wait for a subscriber.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import assert_never

import attrs
import trio

from hub.actors.common.condition import Condition
from hub.domain.event import EventType, Record
from hub.domain.text.safe import clip
from hub.errors import HubError
from hub.io.events.store import EventStore, NewEvent
from hub.io.project.places import Places
from hub.messages.audit import AuditAppend, AuditEntry, AuditLastEvent
from hub.messages.events import (
    EventAppend,
    EventsHead,
    EventsInbox,
    EventsOfDispatch,
    EventsOnRecord,
    EventsSince,
    Subscribe,
    Subscription,
    Unsubscribe,
)
from supervisors import Actor, ActorDied, Answer, Exit, Ref

_QUEUE = 1024
"""Lists of records a subscriber may be behind before it counts as too slow."""
_LIST = 100
"""Records of a list at most; when so many wait to be told they are, although more are about to come."""
_AHEAD = 1
"""Lists that are in memory for a reader of the past, besides the one that waits for room: if it takes nothing, it costs two
hundred records, for the rest stays in the log until it takes them."""
_RECENT = 1024
"""Records that are kept: nearly all that is read of a log is its end, by those who keep up with it."""
_AUDIT_PAGE = 500
_AUDIT_TIMEOUT = 30.0
_AUDIT_LINGER = 0.1
"""Seconds from one group to the next of agents' events for the audit log: each group is a sync of the disk that the events
themselves need. Nobody waits for these records; what is not there yet is taken up from the log at the next start."""
_AUDIT_PATIENCE = 2.0
"""Seconds that whoever wants them there waits where the audit log takes nothing."""
_SUMMARY = 200
_id = attrgetter("id")
_UNAUDITED = frozenset({str(EventType.THINKING), str(EventType.USAGE), str(EventType.RETRY)})


@attrs.define
class _Reader:
    """A subscription.

    Attributes:
        send: To its channel.
        rereads: What does not fit into its channel is read to it from the log.
        live: It is given what is published; else `_replay` reads to it.
        after: Where that has come to; infinite until it first was up to date, for nobody is too slow for the past.
        lagged: Set when it was dropped as too slow.
    """

    send: trio.MemorySendChannel[Sequence[Record]]
    rereads: bool
    live: bool
    after: float = math.inf
    lagged: trio.Event = attrs.field(factory=trio.Event)


class EventLog(Actor[EventsInbox]):
    """Appends, publishes and replays."""

    answers = (HubError,)

    def __init__(
        self, places: Places, audit: Ref[AuditAppend | AuditLastEvent], clock: Callable[[], float]
    ) -> None:
        self._places = places
        self._clock = clock
        self._audit = audit
        self._readers: dict[int, _Reader] = {}
        self._tokens = itertools.count(1)
        self._news = trio.Event()
        self._published = 0
        """The newest event that the readers were told of. A replay is shown none behind it: that comes by itself."""
        self._recent: deque[Record] = deque(maxlen=_RECENT)
        """The newest of these, without a gap."""
        self._begins: deque[int] = deque(maxlen=_QUEUE)
        """The first record of each of the lists that were published last."""
        self._untold: list[Record] = []
        """Appended, and not published: what is said at once by several agents is told at once."""
        self._syncing = trio.Lock()
        self._audited = -1
        """The last event that the audit log has been offered."""
        self._moved = Condition()
        self._hurry = trio.Event()

    async def started(self) -> None:
        """Open the log; tell of a damaged one that was put aside."""
        self._store = EventStore.open(self._places.events_db)
        self._store.tell_damage(int(self._clock() * 1000))
        self._published = self._store.last_id
        self.ctx.nursery.start_soon(self._keep_audited)

    async def stopped(self, exit: Exit) -> None:
        """End every subscription, and close the database."""
        for token in [token for token, reader in self._readers.items() if reader.rereads]:
            self._drop(token)  # it comes back with `since`: no task can be started any more that reads to it
        self._tell()
        for token in list(self._readers):
            self._drop(token)
        if hasattr(self, "_store"):
            self._store.close()

    async def handle(self, message: EventsInbox) -> Answer:
        """Append, replay, subscribe; then tell the readers, unless more is waiting to be appended."""
        if not isinstance(message, EventAppend):
            self._tell()
        try:
            return await self._handled(message)
        finally:
            if not self.ctx.waiting or len(self._untold) >= _LIST:
                self._tell()

    async def _handled(self, message: EventsInbox) -> Answer:
        match message:
            case EventAppend(events=events, spooled=spooled):
                return message.answer(await self._append(events, spooled=spooled))
            case EventsSince(since=since, limit=limit, session_id=session_id, until=until, newest=newest):
                if until is None and not newest:
                    return message.answer(self._after(since, limit, session_id))
                return message.answer(self._store.since(since, limit, session_id, until, newest=newest))
            case EventsOfDispatch(dispatch_id=dispatch_id, tag=tag, limit=limit):
                return message.answer(self._store.for_dispatch(dispatch_id, tag, limit))
            case EventsHead():
                return message.answer(self._store.last_id)
            case EventsOnRecord():
                return self.answer_later(message, self._on_record(self._store.last_id))
            case Subscribe(since=since):
                return message.answer(self._subscribe(since))
            case Unsubscribe(token=token):
                self._drop(token)
                return message.handled()
            case _:
                assert_never(message)

    async def _append(self, events: Sequence[NewEvent], *, spooled: bool) -> list[int]:
        """Kept, then published.

        What an agent's spool would bring back after a power cut is not held up by the disk; what only hub knows is
        durable before anybody sees it.
        """
        before = self._store.last_id
        records = self._store.append(events)
        if not spooled:
            self._tell()
            await self._sync()
        self._untold += [r for r in records if r.id > before]
        return [r.id for r in records]

    def _tell(self) -> None:
        fresh, self._untold = self._untold, []
        if fresh:
            self._published = fresh[-1].id
            self._recent += fresh
            for begins in range(0, len(fresh), _LIST):
                self._publish(fresh[begins : begins + _LIST])
            self._news.set()
            self._news = trio.Event()

    async def _sync(self) -> None:
        async with self._syncing:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._store.sync)

    def _publish(self, records: Sequence[Record]) -> None:
        self._begins.append(records[0].id)
        for token, reader in list(self._readers.items()):
            try:
                if reader.live:
                    reader.send.send_nowait(records)
                elif reader.after + 1 < self._begins[0]:
                    self._lag(token, reader)
            except trio.BrokenResourceError:
                self._drop(token)
            except trio.WouldBlock:
                if not reader.rereads:
                    self._lag(token, reader)
                    continue
                reader.live, reader.after = False, records[0].id - 1
                self.ctx.nursery.start_soon(self._replay, token, reader, records[0].id - 1)

    def _subscribe(self, since: int | None) -> Subscription:
        """What is to come waits in the channels, and is the same for all; what was read of the past is each reader's own."""
        token = next(self._tokens)
        live = since is None
        send, channel = trio.open_memory_channel[Sequence[Record]](_QUEUE if live else _AHEAD)
        reader = self._readers[token] = _Reader(send, rereads=not live, live=live)
        if since is not None:
            self.ctx.nursery.start_soon(self._replay, token, reader, since)
        return Subscription(token, channel, reader.lagged)

    async def _replay(self, token: int, reader: _Reader, after: int) -> None:
        """Read the log to a reader as fast as it takes it; it is live where nothing newer is left.

        Between the look that finds nothing and the mark that it is live nothing can be published: no gap, no double.
        """
        try:
            while page := self._after(after, _LIST):
                await reader.send.send(page)
                after = page[-1].id
                if reader.after < math.inf:
                    reader.after = after
        except (trio.BrokenResourceError, trio.ClosedResourceError, HubError):
            self._drop(
                token
            )  # it has gone, or was dropped, or that part of the file is damaged: the others are served on
        else:
            reader.live = True

    def _lag(self, token: int, reader: _Reader) -> None:
        reader.lagged.set()
        self._drop(token)

    def _drop(self, token: int) -> None:
        reader = self._readers.pop(token, None)
        if reader is not None:
            reader.send.close()

    def _after(self, after: int, limit: int, session_id: str = "") -> list[Record]:
        """What comes after; from memory where that reaches back far enough, as it does but for a start or a flood."""
        recent = self._recent
        if not recent or after + 1 < recent[0].id:
            return self._store.since(after, limit, session_id, self._published)
        begins = bisect_right(recent, after, key=_id)  # who keeps up asks for the last few of them
        found = (
            r for r in itertools.islice(recent, begins, None) if session_id in ("", r.meta.get("sessionId"))
        )
        return list(itertools.islice(found, limit))

    async def _on_record(self, head: int) -> None:
        """Returns when the audit log has been offered all up to `head`; the next group does not linger."""
        with trio.move_on_after(_AUDIT_PATIENCE):
            while self._audited < head:
                self._hurry.set()
                await self._moved.wait()

    def _offered(self, event_id: int) -> int:
        self._audited = event_id
        self._moved.notify_all()
        return event_id

    async def _keep_audited(self) -> None:
        """Put the agents' events on the audit log, in order and each once, whatever dies in between."""
        cursor = -1
        while True:
            news = self._news
            try:
                if cursor < 0:
                    cursor = self._offered(await self._audit.call(AuditLastEvent(), timeout=_AUDIT_TIMEOUT))
                while page := self._after(cursor, _AUDIT_PAGE):
                    again = trio.current_time() + _AUDIT_LINGER
                    # The audit log never tells of an event that a power cut could take back.
                    await self._sync()
                    entries = [_entry(r) for r in page if _is_audited(r)]
                    if entries:
                        await self._audit.call(AuditAppend(entries), timeout=_AUDIT_TIMEOUT)
                    cursor = self._offered(page[-1].id)
                    with trio.move_on_at(again):
                        await self._hurry.wait()
                    self._hurry = trio.Event()
            except (ActorDied, trio.TooSlowError):
                await self._audit.wait_alive(math.inf)
                cursor = -1
                continue
            except HubError:
                # A log that was tampered with, or a full disk: the audit writer says so to those who ask; the
                # events themselves are safe here, and are taken up from the cursor when it works again.
                with trio.move_on_after(_AUDIT_TIMEOUT):
                    await news.wait()
                continue
            await news.wait()


def _is_audited(record: Record) -> bool:
    meta = record.meta
    return "type" in meta and not meta.get("delta") and meta["type"] not in _UNAUDITED


def _entry(record: Record) -> AuditEntry:
    meta = record.meta
    data = {
        "sessionId": meta.get("sessionId", ""),
        "provider": meta.get("provider", ""),
        "tag": record.tag,
        "summary": clip(record.msg, _SUMMARY),
        "eventId": record.id,
    }
    return AuditEntry("agent_event", data)
