"""The event log: an id for ever, then every subscriber, then the disk and the audit log.

Owns: `events.db`, the end of it in memory, and which events are on the audit log.
Must not: change an event, or keep anything for a subscriber: each reads on from a place of its own.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
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
    PAGE,
    EventAppend,
    EventsHead,
    EventsInbox,
    EventsOfDispatch,
    EventsOnRecord,
    EventsSince,
    Subscribe,
)
from supervisors import Actor, ActorDied, Answer, Exit, Ref

_BEHIND = 16_384
"""Records a subscriber may be behind, once it has been up to date, before it counts as too slow."""
_LIST = 100
"""When so many wait to be told they are, although more are about to come."""
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


@attrs.define(eq=False)
class Reader:
    """A subscription: what its reader has not taken stays in the log."""

    _log: EventLog
    _after: int
    _up_to_date: bool
    """It has once been: nobody is too slow for the past."""
    lagged: bool = False

    def taken(self, limit: int = PAGE) -> list[Record]:
        """As `Subscription`."""
        found = self._log.after(self._after, limit)
        if found:
            self._after = found[-1].id
        else:
            self._up_to_date = True
        return found

    async def receive(self, limit: int = PAGE) -> list[Record]:
        """As `Subscription`."""
        await trio.lowlevel.checkpoint()  # whoever lags does not keep the others waiting
        while not self._lags():
            if found := self.taken(limit):
                return found
            if self._log.over:
                break
            await self._log.news.wait()
        raise trio.EndOfChannel

    def _lags(self) -> bool:
        self.lagged = self._up_to_date and self._log.published - self._after > _BEHIND
        return self.lagged


class EventLog(Actor[EventsInbox]):
    """Appends, publishes and replays."""

    answers = (HubError,)

    def __init__(
        self, places: Places, audit: Ref[AuditAppend | AuditLastEvent], clock: Callable[[], float]
    ) -> None:
        self._places = places
        self._clock = clock
        self._audit = audit
        self.news = trio.Event()
        """Set, and another one, when something was published."""
        self.over = False
        """Nothing more comes, and what is no longer in memory is not there."""
        self.published = 0
        """The newest event that may be read."""
        self._recent: list[Record] = []
        """The newest of these, without a gap."""
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
        self.published = self._store.last_id
        self.ctx.nursery.start_soon(self._keep_audited)

    async def stopped(self, exit: Exit) -> None:
        """End every subscription, and close the database."""
        self._tell()
        self.over = True
        self.news.set()
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
                    return message.answer(self.after(since, limit, session_id))
                return message.answer(self._store.since(since, limit, session_id, until, newest=newest))
            case EventsOfDispatch(dispatch_id=dispatch_id, tag=tag, limit=limit):
                return message.answer(self._store.for_dispatch(dispatch_id, tag, limit))
            case EventsHead():
                return message.answer(self._store.last_id)
            case EventsOnRecord():
                return self.answer_later(message, self._on_record(self._store.last_id))
            case Subscribe(since=since):
                after = self.published if since is None else since
                return message.answer(Reader(self, after, up_to_date=since is None))
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
            self.published = fresh[-1].id
            self._recent = [*self._recent, *fresh][-_RECENT:]
            self.news.set()
            self.news = trio.Event()

    async def _sync(self) -> None:
        async with self._syncing:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(self._store.sync)

    def after(self, after: int, limit: int, session_id: str = "") -> list[Record]:
        """What comes after; from memory where that reaches back far enough, as it does but for a start or a flood.

        A reader is shown none behind what was published: that comes by itself.
        """
        recent = self._recent
        if not recent or after + 1 < recent[0].id:
            return [] if self.over else self._store.since(after, limit, session_id, self.published)
        begins = bisect_right(recent, after, key=_id)
        if not session_id:
            return recent[begins : begins + limit]
        found = (r for r in recent[begins:] if r.meta.get("sessionId") == session_id)
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
            news = self.news
            try:
                if cursor < 0:
                    cursor = self._offered(await self._audit.call(AuditLastEvent(), timeout=_AUDIT_TIMEOUT))
                while page := self.after(cursor, _AUDIT_PAGE):
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
