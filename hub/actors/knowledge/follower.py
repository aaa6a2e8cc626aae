"""Reading the event log into the graph.

Owns: how far the log was read, and the fold's memory between two events; both stand with the facts they led to.
Must not: decide what an event means (`hub.domain.graph.activity` does).
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import msgspec
import trio

from hub.domain.event import Record
from hub.domain.graph.activity import ActivityFold, Pending
from hub.domain.graph.vocabulary import Part
from hub.errors import Code, HubError
from hub.io.graph.facts import absorb, note, set_note
from hub.io.graph.store import GraphStore
from hub.messages import EventsHead, Subscribe, Subscription, Unsubscribe
from supervisors import Ref

_TIMEOUT = 30.0
_PAGE = 1000
"""Records that go into one transaction, at most."""
_LINGER = 0.5
"""Seconds to wait for what follows: an agent writes a thousand lines a second, and a transaction for each would take as
much of the daemon as telling them does."""
_BREATH = 0.02
"""Seconds in which what comes is folded together: by itself each line of an agent costs twice as much, in the very moment
in which those who watch are told of it."""
_AT_ONCE = 16
"""Lists that are folded in one turn, at most: a millisecond's work."""
CURSOR = "cursor"
"""The note of the last event that is in the graph."""
_PENDING = "pending"


@attrs.define
class Follower:
    """Reads on from where the database says it was.

    Attributes:
        cursor: The id of the last event that is in the graph.
    """

    events: Ref[Any]
    worktree_of: Callable[[str], str]
    heard: Callable[[Record], None]
    """Is given each event, once it is in."""
    cursor: int = 0
    _wanted: int = 0
    """Somebody waits for the graph to have this event."""
    _lingering: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _moved: trio.Event = attrs.field(factory=trio.Event)
    _token: int | None = None

    async def follow(self, store: GraphStore) -> None:
        """Until the log goes down, or this reader is too slow for it; then it is called again.

        Raises:
            HubError: The database cannot be written; nothing of what was lost counts as read.
            ActorDied, trio.TooSlowError: The log is not there.
        """
        head = await self.events.call(EventsHead(), timeout=_TIMEOUT)
        cursor = int(await trio.to_thread.run_sync(store.read, note, CURSOR) or 0)
        raw = await trio.to_thread.run_sync(store.read, note, _PENDING)
        pending = msgspec.json.decode(raw, type=Pending) if raw else Pending()
        if cursor > head:  # the log was put aside, and begins anew
            cursor, pending = 0, Pending()
            await trio.to_thread.run_sync(store.write, set_note, CURSOR, "0")
        self._move(cursor)
        fold = ActivityFold(self.worktree_of, pending)
        found: Subscription = await self.events.call(Subscribe(cursor), timeout=_TIMEOUT)
        self._token = found.token
        with found.channel:
            async for records in found.channel:
                page = _Page(fold)
                page.take(records)
                await self._gather(page, found.channel)
                await self._absorb(store, page)
                for record in page.records:
                    self.heard(record)

    async def reach(self, number: int) -> None:
        """Until the graph has the event of that id: what has come by now is not held back any longer."""
        self._wanted = max(self._wanted, number)
        self._lingering.cancel(reason="somebody waits")
        while self.cursor < number:
            await self._moved.wait()

    def leave(self) -> None:
        """Ends the subscription."""
        if self._token is not None:
            self.events.try_cast(Unsubscribe(self._token))

    async def _gather(self, page: _Page, channel: trio.MemoryReceiveChannel[Sequence[Record]]) -> None:
        """What follows goes into the same transaction: for a while, or what is there by now where somebody waits."""
        with trio.move_on_after(_LINGER) as self._lingering, contextlib.suppress(trio.EndOfChannel):
            while self._wanted <= self.cursor and not page.full:
                await trio.sleep(_BREATH)
                page.take(await channel.receive())
                with contextlib.suppress(trio.WouldBlock):
                    for _ in range(_AT_ONCE):
                        page.take(channel.receive_nowait())
        with contextlib.suppress(trio.EndOfChannel, trio.WouldBlock):
            while self._wanted > self.cursor and not page.full:
                page.take(channel.receive_nowait())

    def _move(self, cursor: int) -> None:
        self.cursor = cursor
        self._moved.set()
        self._moved = trio.Event()

    async def _absorb(self, store: GraphStore, page: _Page) -> None:
        """The page's fold is not used again when this raises."""
        before, cursor = self.cursor, page.records[-1].id
        pending = page.fold.pending
        memory = msgspec.json.encode(pending).decode()
        parts = [*page.parts, (_at(page.records[-1]), page.fold.outline())]

        def take(db: sqlite3.Connection) -> None:
            if int(note(db, CURSOR) or 0) != before:
                raise HubError(Code.STATE_CORRUPT, "The knowledge graph was made anew meanwhile.")
            notes = [(CURSOR, str(cursor)), (_PENDING, memory)]
            absorb(db, parts, notes, session_id=pending.session_id)

        await trio.to_thread.run_sync(store.write, take)
        self._move(cursor)


@attrs.define
class _Page:
    """What goes into one transaction.

    Each record is folded as it comes: half a second's at once would keep everybody else waiting.
    """

    fold: ActivityFold
    records: list[Record] = attrs.field(factory=list)
    parts: list[tuple[str, Part]] = attrs.field(factory=list)

    @property
    def full(self) -> bool:
        """Whether there is no more room."""
        return len(self.records) >= _PAGE

    def take(self, records: Sequence[Record]) -> None:
        self.records += records
        self.parts += [(_at(record), self.fold.feed(record)) for record in records]


def _at(record: Record) -> str:
    return str(record.meta.get("at", ""))
