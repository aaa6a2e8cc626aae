"""Reading the event log into the graph.

Owns: how far the log was read, and the fold's memory between two events; both stand with the facts they led to.
Must not: decide what an event means (`hub.domain.graph_activity` does).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import msgspec
import trio

from hub.domain.event import Record
from hub.domain.graph_activity import ActivityFold, Pending
from hub.errors import Code, HubError
from hub.io.graph.facts import absorb, note, set_note
from hub.io.graph.store import GraphStore
from hub.messages import EventsHead, Subscribe, Subscription, Unsubscribe
from supervisors import Ref

_TIMEOUT = 30.0
_PAGE = 1000
"""Records that go into one transaction, at most."""
_CURSOR = "cursor"
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
    _token: int | None = None

    async def follow(self, store: GraphStore) -> None:
        """Until the log goes down, or this reader is too slow for it; then it is called again.

        Raises:
            HubError: The database cannot be written; nothing of what was lost counts as read.
            ActorDied, trio.TooSlowError: The log is not there.
        """
        head = await self.events.call(EventsHead(), timeout=_TIMEOUT)
        cursor = int(await trio.to_thread.run_sync(store.read, note, _CURSOR) or 0)
        raw = await trio.to_thread.run_sync(store.read, note, _PENDING)
        pending = msgspec.json.decode(raw, type=Pending) if raw else Pending()
        if cursor > head:  # the log was put aside, and begins anew
            cursor, pending = 0, Pending()
            await trio.to_thread.run_sync(store.write, set_note, _CURSOR, "0")
        self.cursor = cursor
        fold = ActivityFold(self.worktree_of, pending)
        found: Subscription = await self.events.call(Subscribe(cursor), timeout=_TIMEOUT)
        self._token = found.token
        with found.channel:
            async for records in found.channel:
                page = _more(found.channel, list(records))
                await trio.to_thread.run_sync(self._absorb, store, fold, page)
                for record in page:
                    self.heard(record)

    def leave(self) -> None:
        """Ends the subscription."""
        if self._token is not None:
            self.events.try_cast(Unsubscribe(self._token))

    def _absorb(self, store: GraphStore, fold: ActivityFold, page: Sequence[Record]) -> None:
        """In a worker thread. The fold is not used again when this raises."""
        before = self.cursor
        parts = [(str(record.meta.get("at", "")), fold.feed(record)) for record in page]
        cursor = page[-1].id
        memory = msgspec.json.encode(fold.pending).decode()

        def take(db: sqlite3.Connection) -> None:
            if int(note(db, _CURSOR) or 0) != before:
                raise HubError(Code.STATE_CORRUPT, "The knowledge graph was made anew meanwhile.")
            absorb(db, parts, [(_CURSOR, str(cursor)), (_PENDING, memory)])

        store.write(take)
        self.cursor = cursor


def _more(channel: trio.MemoryReceiveChannel[Sequence[Record]], page: list[Record]) -> list[Record]:
    """What is there already goes into the same transaction."""
    while len(page) < _PAGE:
        try:
            page.extend(channel.receive_nowait())
        except (trio.WouldBlock, trio.EndOfChannel):
            break
    return page
