"""Reading the event log into the graph.

Owns: how far the log was read, and the fold's memory between two events; both stand with the facts they led to.
Must not: decide what an event means (`hub.domain.graph.activity` does).
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence

import attrs
import msgspec
import trio

from hub.actors.common.follower import LogFollower, Records
from hub.domain.event import Record
from hub.domain.graph.activity import ActivityFold, Pending
from hub.domain.graph.vocabulary import GraphPart
from hub.errors import Code, HubError
from hub.io.graph.facts import absorb, note, set_note
from hub.io.graph.store import GraphStore
from hub.messages.events import EventsInbox
from supervisors import Ref

_PAGE = 1000
"""Records that go into one transaction, at most."""
_LINGER = 0.5
"""Seconds to wait for what follows: an agent writes a thousand lines a second, and a transaction for each would take as
much of the daemon as telling them does."""
_BREATH = 0.02
"""Seconds in which what comes is folded together: by itself each line of an agent costs twice as much, in the very moment
in which those who watch are told of it."""
_TURN = 32
"""Records after which everybody else has a turn, a millisecond's work, in however many lists they came."""
CURSOR = "cursor"
"""The note of the last event that is in the graph."""
_PENDING = "sessions"


class Follower:
    """Reads on from where the database says it was."""

    def __init__(
        self, events: Ref[EventsInbox], worktree_of: Callable[[str], str], heard: Callable[[Record], None]
    ) -> None:
        self.cursor = 0
        """The id of the last event that is in the graph."""
        self._log = LogFollower(events, self._place)
        self._worktree_of = worktree_of
        self._heard = heard
        """Is given each event, once it is in."""
        self._wanted = 0
        """Somebody waits for the graph to have this event."""
        self._lingering = trio.CancelScope()
        self.leave = self._log.leave

    async def follow(self, store: GraphStore) -> None:
        """Into this database, for ever.

        Raises:
            HubError: It cannot be written; nothing of what was lost counts as read.
        """
        self._store = store
        await self._log.follow(self._read)

    async def _place(self, head: int) -> int:
        cursor = int(await trio.to_thread.run_sync(self._store.read, note, CURSOR) or 0)
        raw = await trio.to_thread.run_sync(self._store.read, note, _PENDING)
        pending = msgspec.json.decode(raw, type=tuple[Pending, ...]) if raw else ()
        if cursor > head:  # the log was put aside, and begins anew
            cursor, pending = 0, ()
            await trio.to_thread.run_sync(self._store.write, set_note, CURSOR, "0")
        self._fold = ActivityFold(self._worktree_of, pending)
        self.cursor = cursor
        return cursor

    async def _read(self, channel: Records) -> None:
        async for records in channel:
            page = _Page(self._fold)
            await page.take(records)
            await self._gather(page, channel)
            await self._absorb(page)
            for record in page.records:
                self._heard(record)

    async def reach(self, number: int) -> None:
        """Until the graph has the event of that id: what has come by now is not held back any longer."""
        self._wanted = max(self._wanted, number)
        self._lingering.cancel(reason="somebody waits")
        await self._log.reach(number)

    async def _gather(self, page: _Page, channel: Records) -> None:
        """What follows goes into the same transaction: for a while, or what is there by now where somebody waits."""
        with trio.move_on_after(_LINGER) as self._lingering, contextlib.suppress(trio.EndOfChannel):
            while self._wanted <= self.cursor and not page.full:
                await trio.sleep(_BREATH)
                await page.take(await channel.receive())
                with contextlib.suppress(trio.WouldBlock):
                    while not page.full:
                        await page.take(channel.receive_nowait())
        with contextlib.suppress(trio.EndOfChannel, trio.WouldBlock):
            while self._wanted > self.cursor and not page.full:
                await page.take(channel.receive_nowait())

    async def _absorb(self, page: _Page) -> None:
        """The page's fold is not used again when this raises."""
        before, cursor = self.cursor, page.records[-1].id
        pending = page.fold.pending
        memory = msgspec.json.encode(pending).decode()
        parts = [*page.parts, (_at(page.records[-1]), page.fold.outline())]

        def take(db: sqlite3.Connection) -> None:
            if int(note(db, CURSOR) or 0) != before:
                raise HubError(Code.STATE_CORRUPT, "The knowledge graph was made anew meanwhile.")
            notes = [(CURSOR, str(cursor)), (_PENDING, memory)]
            absorb(db, parts, notes, sessions=[one.session_id for one in pending])

        await trio.to_thread.run_sync(self._store.write, take)
        self.cursor = cursor
        self._log.moved(cursor)


@attrs.define
class _Page:
    """What goes into one transaction.

    Each record is folded as it comes: half a second's at once would keep everybody else waiting.
    """

    fold: ActivityFold
    records: list[Record] = attrs.field(factory=list)
    parts: list[tuple[str, GraphPart]] = attrs.field(factory=list)

    @property
    def full(self) -> bool:
        """Whether there is no more room."""
        return len(self.records) >= _PAGE

    async def take(self, records: Sequence[Record]) -> None:
        """All of them, even where a wait is over meanwhile: what is left out would never come again."""
        for record in records:
            self.records.append(record)
            self.parts.append((_at(record), self.fold.feed(record)))
            if len(self.records) % _TURN == 0:
                await trio.lowlevel.cancel_shielded_checkpoint()


def _at(record: Record) -> str:
    return record.meta.get("at", "")
