"""The knowledge actor: the one who has `graph.db` open.

Owns: when the database is opened, when the code is indexed, and the answers about the graph.
Must not: keep anything of its own that is not in the database: all of it can be made again.

Nothing of this is needed to run agents. So nobody waits for it: the daemon answers before the database is open, and a
database that cannot be used keeps no session from its work.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar, assert_never

import attrs
import trio

from hub.actors.common.outbox import Outbox
from hub.actors.common.secrets import Secrets
from hub.actors.knowledge.follower import CURSOR, Follower
from hub.actors.knowledge.indexer import RULES, Indexer
from hub.api.graph import Chunk, Graph, Scanning, ScanProgress
from hub.domain.event import Record, Tag
from hub.domain.graph.drawn import DRAWN_FROM, drawn
from hub.domain.intent.fold import Intent
from hub.domain.redaction.lines import shown
from hub.domain.text.safe import clean
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.graph.facts import GraphCounts, counts, detail, note, of_session
from hub.io.graph.search import search
from hub.io.graph.store import GraphStore
from hub.io.project.places import Places
from hub.messages.events import EventsInbox
from hub.messages.knowledge import (
    DrawIntent,
    GetGraph,
    GetGraphDetail,
    GetGraphNodes,
    IndexCode,
    KnowledgeInbox,
    Retrieve,
)
from supervisors import Actor, Answer, Exit, Ref

T = TypeVar("T")
_SAY_TIMEOUT = 10.0
_OPEN_PATIENCE = 5.0
"""Seconds that a question waits for the database to be opened."""
_AGAIN = 30.0
"""Seconds after which a disk that failed is tried again."""
_SOON = 1.0
_DRAW_PATIENCE = 1.0
"""Seconds after which nobody waits any longer for an intent."""


class Knowledge(Actor[KnowledgeInbox]):
    """Answers about the graph, follows the log, and has the code indexed.

    Args:
        places: Where the project and its `.hub` are.
        events: The event log; whatever is in it was redacted.
        clock: Epoch seconds.
        secrets: Kept out of the index, and of what is answered from it.
    """

    answers = (HubError,)

    def __init__(
        self, places: Places, events: Ref[EventsInbox], clock: Callable[[], float], secrets: Secrets
    ) -> None:
        self._places = places
        self._outbox = Outbox(events, clock, patience=_SAY_TIMEOUT)
        self._since = iso(clock())
        self._store: GraphStore | None = None
        self._tried = trio.Event()
        """Set once the database was opened, or could not be: nobody waits for the next try."""
        self._trouble: HubError | None = None
        self._counts = GraphCounts(0, 0, 0, 0)
        self._secrets = secrets
        self._indexer = Indexer(places.root, clock, secrets, self._say)
        self._counted: tuple[int, int] | None = None
        """What the counts are of: the log's last event, and the files that a scan had taken in."""
        self._following = trio.CancelScope()
        self._work: trio.Nursery | None = None
        self._follower = Follower(events, lambda session: str(places.worktree(session)), self._heard)

    async def started(self) -> None:
        """Ready at once; the database is opened behind everybody's back."""
        self.ctx.nursery.start_soon(self._live)

    async def stopped(self, exit: Exit) -> None:
        """Leave the log; the database is closed behind a batch under way, and nobody is told of the closing."""
        self._follower.leave()
        if self._work is not None:
            self._work.cancel_scope.cancel(reason="the actor stops")

    async def handle(self, message: KnowledgeInbox) -> Answer:
        """Answer from the database."""
        match message:
            case GetGraphNodes():
                await self._recount()
                return message.answer(self._counts.nodes)
            case GetGraph():
                return message.answer(await self._summary())
            case GetGraphDetail(limit=limit, node_type=node_type, session_id=session_id):
                return message.answer(await self._read(lambda db: detail(db, limit, node_type, session_id)))
            case Retrieve(question=question, limit=limit):
                return message.answer(await self._read(lambda db: self._retrieved(db, question, limit)))
            case DrawIntent():
                return self.answer_later(message, self._draw(message))
            case IndexCode():
                await self._open_store()
                self._index(eager=True)
                return message.answer(Scanning(**attrs.asdict(await self._summary(), recurse=False)))
            case _:
                assert_never(message)

    async def _live(self) -> None:
        """Open the database, and follow the log; whatever the disk does, try again. What it opens, it closes."""
        try:
            async with trio.open_nursery() as self._work:
                while True:
                    try:
                        await self._open()
                        await self._follow()
                    except HubError as error:
                        self._trouble = error
                        self._tried.set()
                        await self._say(error.detail, Tag.ERROR)
                        await trio.sleep(_SOON if error.code is Code.STATE_CORRUPT else _AGAIN)
        finally:
            if self._store is not None:
                with trio.CancelScope(shield=True):
                    await trio.to_thread.run_sync(self._store.close)

    async def _open(self) -> None:
        if self._store is None:
            self._store = await trio.to_thread.run_sync(GraphStore.open, self._places.graph_db)
        self._trouble = None
        if self._store.damage is not None:
            await self._say(self._store.damage.detail, Tag.ERROR)
            self._store.damage = None
        await self._indexer.remember(self._store)
        self._counted = None
        self._tried.set()

    async def _follow(self) -> None:
        """Until the database is no longer the one that was followed into."""
        store = await self._open_store()
        with trio.CancelScope() as self._following:
            await self._follower.follow(store)

    def _heard(self, record: Record) -> None:
        """A session that begins will ask about the code; one of an earlier daemon's has done so."""
        begins = "taskId" in record.meta and "type" not in record.meta
        if begins and record.meta.get("at", "") >= self._since:
            self._index()

    def _index(self, *, eager: bool = False) -> None:
        if self._store is not None and self._work is not None and self._indexer.ask(eager=eager):
            self._work.start_soon(self._run_index, self._store)

    async def _run_index(self, store: GraphStore) -> None:
        await self._indexer.run(store)
        self._counted = None
        self._attend(store)

    def _attend(self, store: GraphStore) -> None:
        """A database that was put aside took what was read of the log with it: it is read again from its beginning."""
        if store.damage is not None:
            self._following.cancel()

    async def _open_store(self) -> GraphStore:
        if self._store is None:
            with trio.move_on_after(_OPEN_PATIENCE):
                await self._tried.wait()
        if self._store is None:
            raise self._trouble or HubError(Code.UNAVAILABLE, "The knowledge graph is just being opened.")
        return self._store

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        store = await self._open_store()
        try:
            return await trio.to_thread.run_sync(store.read, work)
        finally:
            self._attend(store)

    def _retrieved(self, db: sqlite3.Connection, question: str, limit: int) -> list[Chunk]:
        """Code that was indexed by today's rules is looked at again only where there is in it what no reader sees."""
        found = search(db, self._places.root, question, limit)
        rules = self._secrets.rules()
        hidden = note(db, RULES) == rules.name
        kept = {chunk.id for chunk in found if hidden and clean(chunk.body) is chunk.body}
        looked = [
            text
            for chunk in found
            for text in ((chunk.path,) if chunk.id in kept else (chunk.path, chunk.body))
        ]
        told = iter(shown(looked, rules.hide))
        return [_shown(it, next(told), it.body if it.id in kept else next(told)) for it in found]

    async def _draw(self, message: DrawIntent) -> Intent | None:
        """Beside the inbox: other questions need not wait until the log is caught up with."""
        with trio.move_on_after(_DRAW_PATIENCE):
            await self._open_store()
            await self._follower.reach(message.upto)
            return await self._read(lambda db: _drawn(db, message))
        return None

    async def _summary(self) -> Graph:
        await self._open_store()
        await self._recount()
        indexer = self._indexer
        return Graph(
            **attrs.asdict(self._counts),
            state=indexer.state,
            scanned_at=indexer.scanned_at or None,
            truncated=indexer.truncated,
            event_id=self._follower.cursor,
            scan=ScanProgress(files=indexer.files, bytes=indexer.bytes, error=indexer.error),
        )

    async def _recount(self) -> None:
        """Counting takes a while where there is much, so it is done once for each change."""
        now = (self._follower.cursor, self._indexer.files)
        if self._store is not None and now != self._counted:
            self._counts = await self._read(counts)
            self._counted = now

    async def _say(self, text: str, tag: Tag = Tag.SYSTEM) -> None:
        await self._outbox.publish(tag, text, {"part": "graph"})


def _shown(chunk: Chunk, path: str, body: str) -> Chunk:
    """The chunk under the path it is shown under, which is in its name too."""
    if (path, body) == (chunk.path, chunk.body):
        return chunk
    return attrs.evolve(chunk, id=f"{path}:{chunk.start_line}-{chunk.end_line}", path=path, body=body)


def _drawn(db: sqlite3.Connection, message: DrawIntent) -> Intent | None:
    """None also of a database that was made anew meanwhile, and is not that far again."""
    if int(note(db, CURSOR) or 0) < message.upto:
        return None
    return drawn(of_session(db, message.session_id, DRAWN_FROM), message.session_id)
