"""Reading the event log into the graph.

Owns: how far the log was read, and the fold's memory between two events; both stand with the facts they led to.
Must not: decide what an event means (`hub.domain.graph.activity` does).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence

import msgspec
import trio

from hub.actors.common.follower import LogFollower
from hub.domain.event import Record
from hub.domain.graph.activity import ActivityFold, Pending
from hub.errors import Code, HubError
from hub.io.graph.facts import absorb, note, set_note
from hub.io.graph.store import GraphStore
from hub.messages.events import EventsInbox
from supervisors import Ref

_BREATH = 0.1
"""Seconds in which what comes goes into one transaction: an agent writes a thousand lines a second, and one for each would
take as much of the daemon as telling them does."""
_TURN = 32
"""Records after which everybody else has a turn, a millisecond's work."""
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
        self._log = LogFollower(events, self._place, _BREATH)
        self._worktree_of = worktree_of
        self._heard = heard
        """Is given each event, once it is in."""
        self.leave, self.reach = self._log.leave, self._log.reach

    async def follow(self, store: GraphStore) -> None:
        """Into this database, for ever.

        Raises:
            HubError: It cannot be written; nothing of what was lost counts as read.
        """
        self._store = store
        await self._log.follow(self._take)

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

    async def _take(self, records: Sequence[Record]) -> None:
        """One transaction. The fold is not used again when this is cut off or raises."""
        fold, parts = self._fold, []
        for number, record in enumerate(records, 1):
            parts.append((_at(record), fold.feed(record)))
            if number % _TURN == 0:
                await trio.lowlevel.checkpoint()
        parts.append((_at(records[-1]), fold.outline()))
        before, cursor, pending = self.cursor, records[-1].id, fold.pending
        memory = msgspec.json.encode(pending).decode()

        def take(db: sqlite3.Connection) -> None:
            if int(note(db, CURSOR) or 0) != before:
                raise HubError(Code.STATE_CORRUPT, "The knowledge graph was made anew meanwhile.")
            notes = [(CURSOR, str(cursor)), (_PENDING, memory)]
            absorb(db, parts, notes, sessions=[one.session_id for one in pending])

        await trio.to_thread.run_sync(self._store.write, take)
        self.cursor = cursor
        for record in records:
            self._heard(record)


def _at(record: Record) -> str:
    return record.meta.get("at", "")
