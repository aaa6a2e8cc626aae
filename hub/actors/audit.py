"""The audit writer: the one owner of `audit.jsonl` and `audit.head`.

Owns: the order of the chain (append order is chain order) and the keys of what was appended before.
Must not: send to anybody, or decide what is worth a record.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, assert_never

import trio

from hub.api import observability as api
from hub.errors import Code, HubError
from hub.io.audit.journal import MAX_GROUP, AuditDraft, AuditJournal
from hub.io.audit.timeline import Timeline
from hub.io.project.places import Places
from hub.messages.audit import (
    AuditAppend,
    AuditEntry,
    AuditHistory,
    AuditInbox,
    AuditIntact,
    AuditLastEvent,
    GetAuditHead,
)
from supervisors import Actor, Answer, Exit

_REMEMBERED = 10_000
"""How many keys are kept: far more than any sender repeats. An agent's events need none: their ids rise."""
_LOOKED_AT = 500_000
"""How many of the newest records are looked at for keys after a restart: a flood of an agent's events in between must
not make the log forget what hub itself has told.
"""
_SLICE = 16
"""Records that are hashed in one turn: about a fifth of a millisecond."""
_BREATH = 0.002
"""Seconds between two turns where nobody waits behind the group."""
_SPREAD = 0.03
"""Seconds that these may be in all."""


class AuditWriter(Actor[AuditInbox]):
    """Appends records to the chain, each key once."""

    answers = (HubError,)

    def __init__(
        self, places: Places, key: bytes, failed: Callable[[HubError], None] = lambda _: None
    ) -> None:
        """`failed` is told when the disk failed: nothing may be done any more that would have to be on record."""
        self._failed = failed
        self._places = places
        self._key = key
        self._keys: OrderedDict[str, None] = OrderedDict()
        self._last_event = 0

    async def started(self) -> None:
        """Open the log and learn what it holds; a broken log is opened for reading, and every append says so."""
        self._journal = AuditJournal.open(self._places, self._key)
        self._timeline = Timeline(self._journal)
        for record in self._timeline.newest(_LOOKED_AT):
            self._remember(record.data)

    async def stopped(self, exit: Exit) -> None:
        """Close the files."""
        if hasattr(self, "_journal"):
            self._journal.close()

    async def handle(self, message: AuditInbox) -> Answer:
        """Append, or tell."""
        match message:
            case AuditAppend(entries=entries):
                return message.answer(await self._append([e for e in entries if self._is_new(e)]))
            case AuditIntact():
                whole = self._journal.broken is None and await trio.to_thread.run_sync(self._journal.intact)
                return message.answer(whole)
            case AuditLastEvent():
                return message.answer(self._last_event)
            case AuditHistory(limit, before, event, session_id, handoffs):
                page = partial(self._timeline.page, limit, before, event, session_id, handoffs=handoffs)
                # In a thread: a long log takes its time to be searched, and to be judged anew.
                await trio.to_thread.run_sync(self._journal.recheck)
                return message.answer(await trio.to_thread.run_sync(page))
            case GetAuditHead(seq=seq):
                await trio.to_thread.run_sync(self._journal.recheck)
                return message.answer(self._head(seq))
            case _:
                assert_never(message)

    def _is_new(self, entry: AuditEntry) -> bool:
        event_id = entry.data.get("eventId")
        if isinstance(event_id, int):
            return event_id > self._last_event
        return not entry.key or entry.key not in self._keys

    async def _append(self, entries: list[AuditEntry]) -> api.AuditHead:
        """Durable when it returns; the inbox waits, so one at a time."""
        for start in range(0, len(entries), MAX_GROUP):
            group = entries[start : start + MAX_GROUP]
            draft = await self._drafted(group)
            try:
                await trio.to_thread.run_sync(self._journal.commit, draft)
            except HubError as error:
                if error.code is Code.DISK_FAILED:
                    self._failed(error)
                raise
            for record in draft.records:
                self._remember(record.data)
        return self._head()

    async def _drafted(self, entries: list[AuditEntry]) -> AuditDraft:
        """Hashed here, a few between two turns of everybody else, and no faster than somebody needs it.

        A thread that hashes takes the interpreter from the event loop at each of its system calls, and gives it back
        half a millisecond later. A tenth of a second's events of an agent at once, on the other hand, are two
        milliseconds in which each line of it comes later to those who watch.
        """
        draft = self._journal.draft()
        breath = min(_BREATH, _SPREAD * _SLICE / len(entries)) if entries else 0.0
        for number, entry in enumerate(entries, 1):
            draft.add(entry.event, entry.recorded)
            if number % _SLICE == 0:
                await trio.sleep(0 if self.ctx.waiting else breath)
        return draft

    def _head(self, seq: int = -1) -> api.AuditHead:
        if self._journal.broken is not None:
            raise self._journal.broken
        head = self._journal.head(seq)
        return api.AuditHead(seq=head.seq, hash=head.hash, bytes=head.size)

    def _remember(self, data: Any) -> None:
        event_id = data.get("eventId")
        if isinstance(event_id, int):
            self._last_event = max(self._last_event, event_id)
        elif key := data.get("key"):
            self._keys[key] = None
            while len(self._keys) > _REMEMBERED:
                self._keys.popitem(last=False)
