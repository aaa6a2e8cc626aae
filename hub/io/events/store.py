"""The event log on disk.

Owns: `events.db`: ids from 1, each one more than the last, for ever; the order; what a replay has seen before.
Must not: push events to anyone, redact them, or be used from two threads at once.

Durability: WAL with `synchronous=NORMAL`. When `append` returns, the events survive the death of every process;
when `sync` returns, they survive a power cut. What an agent's synced spool would bring back need not wait for the
disk; a user's own action must. Ids are reserved ahead, so that after a power cut none is given a second time.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import attrs
import msgspec

from hub.domain.event import Record, Tag
from hub.domain.meta import EventMeta
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.atomic import coded_errors, is_still
from hub.io.files.database import is_corrupt, own_file, raise_coded, set_aside, transaction
from hub.io.files.sealed import read_sealed, write_sealed
from hub.io.files.sealed_db import (
    ForeignDatabaseError,
    claim,
    closed_whole,
    reading,
    without_foreign_log,
)
from hub.io.runner.proc import boot_id

_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    tag TEXT NOT NULL,
    msg TEXT NOT NULL,
    meta TEXT NOT NULL,
    session TEXT NOT NULL,
    dispatch TEXT NOT NULL,
    place INTEGER NOT NULL,
    part INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS events_once ON events (dispatch, place, part) WHERE dispatch <> '' AND place >= 0;
CREATE INDEX IF NOT EXISTS events_session ON events (session, id);
"""
_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA wal_autocheckpoint=0",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA busy_timeout=2000",
    "PRAGMA journal_size_limit=16777216",
)
_CHECKPOINT = 8 * 1024 * 1024
"""Bytes of the WAL after which `sync` moves them into the database."""
_RESERVE = 10_000
_RESERVED = "events.reserved"
_ROW = "id, at_ms, tag, msg, meta"
_INSERT = """
INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (dispatch, place, part) WHERE dispatch <> '' AND place >= 0 DO NOTHING
"""
_ONCE = "dispatch = ? AND place = ? AND part = ? AND dispatch <> '' AND place >= 0"
_SEEN = f"SELECT {_ROW} FROM events WHERE {_ONCE}"  # noqa: S608  # constants only
_ANEW = "A daemon keeps it aside and goes on in a new one: hub daemon"

_encode = msgspec.json.encode
_decode = msgspec.json.decode


@attrs.frozen
class NewEvent:
    """An event on its way into the log."""

    tag: str
    msg: str
    meta: EventMeta
    """JSON values; `sessionId` also puts it among the session's events."""
    at_ms: int
    """When it happened, milliseconds since the epoch."""
    dispatch_id: str = ""
    """The dispatch whose stream it came from; "" = it came from hub."""
    offset: int = -1
    """The byte offset of its line in the spool; with a dispatch id, `index` and this it enters the log once."""
    index: int = 0
    """Its place among the events of that line."""


class EventStore:
    """The one writer of a project's event log.

    Attributes:
        damage: Set when a damaged database was put aside: what to tell the user. The log went on in a new one.
    """

    def __init__(self, path: Path) -> None:
        self.damage: HubError | None = None
        self._path = path
        self._db: sqlite3.Connection | None = None
        self._opened: os.stat_result | None = None
        self._wal = -1
        self._last = 0
        self._reserved = 0

    @classmethod
    def open(cls, path: Path) -> EventStore:
        """Opens the log, 0600; makes it when it is not there.

        A damaged database is kept as `events.db.corrupt-<ts>`; ids go on above all that it may have held.

        Raises:
            HubError: NO_PERMISSION, NO_SPACE, READ_ONLY.
        """
        store = cls(path)
        try:
            try:
                store._connect()
            except sqlite3.DatabaseError as error:
                if not is_corrupt(error):
                    raise_coded(path, error)
                store._start_anew(error)
        except BaseException:
            store._let_go()
            raise
        return store

    @classmethod
    @contextlib.contextmanager
    def look(cls, path: Path) -> Iterator[EventStore]:
        """Opens the log for reading alone; nothing is mended or made beside it. No daemon may have it open.

        Raises:
            HubError: NOT_SEALED, STATE_CORRUPT.
        """
        store = cls(path)
        with store._reading(), reading(path) as store._db:
            yield store

    def tell_damage(self, at_ms: int) -> None:
        """Begin the new log with what became of the damaged one, where one was put aside."""
        if self.damage is not None:
            code = str(self.damage.code)
            self.append([NewEvent(str(Tag.ERROR), self.damage.detail, {"code": code}, at_ms)])

    @property
    def last_id(self) -> int:
        """The newest record's id; 0 for an empty log."""
        return self._last

    def append(self, events: Sequence[NewEvent]) -> list[Record]:
        """Appends events, in order, in one transaction, and waits for no disk.

        An event with a dispatch id and an offset that were seen before is not added: its record of then is
        returned in its place, and is known by its id, which is not above what `last_id` was before the call.

        Raises:
            HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; nothing was added, no id was used up.
        """
        try:
            return self._append(events)
        except sqlite3.DatabaseError as error:
            if not is_corrupt(error):
                raise_coded(self._path, error)
            self._start_anew(error)
            return self._append(events)

    def sync(self) -> None:
        """Makes all that was appended before this call durable. May be called in another thread, one at a time.

        Raises:
            OSError: It may not be tried again: the kernel has thrown the pages away and would report success.
        """
        wal = self._wal
        if wal < 0:
            raise HubError(Code.UNAVAILABLE, "The event log is closed.")
        failpoints.hit("events.sync")
        os.fdatasync(wal)
        if os.fstat(wal).st_size > _CHECKPOINT:
            # On a connection of its own: appending goes on meanwhile.
            with contextlib.closing(sqlite3.connect(self._path, isolation_level=None)) as keeper:
                keeper.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def since(
        self,
        after: int,
        limit: int = 1000,
        session_id: str = "",
        until: int | None = None,
        *,
        newest: bool = False,
    ) -> list[Record]:
        """Records newer than the id `after`, and up to `until`, of a session or of all: at most `limit`, oldest first."""
        bounds: dict[str, object] = {"id > ?": after}
        bounds |= {"session = ?": session_id} if session_id else {}
        bounds |= {"id <= ?": until} if until is not None else {}
        where, order = " AND ".join(bounds), "DESC" if newest else "ASC"
        sql = f"SELECT {_ROW} FROM events WHERE {where} ORDER BY id {order} LIMIT ?"  # noqa: S608  # constants only
        return self._query(sql, *bounds.values(), limit)[:: -1 if newest else 1]

    def for_dispatch(self, dispatch_id: str, tag: str, limit: int) -> list[Record]:
        """The newest records of a dispatch's stream with this tag, oldest first."""
        newest = self._query(
            f"SELECT {_ROW} FROM events WHERE dispatch = ? AND dispatch <> '' AND place >= 0 AND tag = ?"  # noqa: S608  # constants only
            " ORDER BY place DESC, part DESC LIMIT ?",
            dispatch_id,
            tag,
            limit,
        )
        return newest[::-1]

    def close(self) -> None:
        """Makes everything durable and closes the database. A second call does nothing."""
        opened = self._opened
        if self._wal >= 0:
            with contextlib.suppress(
                OSError, HubError
            ):  # else the next start on another boot leaves a gap in the ids
                os.fdatasync(self._wal)
                if opened is not None and is_still(self._path, opened):
                    self._note_reserved(self._last)
        self._let_go()
        if opened is not None:
            closed_whole(self._path, opened)

    def _let_go(self) -> None:
        db, self._db, self._opened = self._db, None, None
        wal, self._wal = self._wal, -1
        if wal >= 0:
            os.close(wal)
        if db is not None:
            db.close()

    def _open_db(self) -> sqlite3.Connection:
        if self._db is None:
            raise HubError(Code.UNAVAILABLE, "The event log is closed.")
        return self._db

    def _connect(self, floor: int = 0) -> None:
        own_file(self._path)
        aside = without_foreign_log(self._path)
        if aside is not None:
            self.damage = HubError(
                Code.NOT_SEALED,
                f"A log beside the event log was not hub's: nothing in it was believed. It was kept as {aside.name}.",
            )
        self._db = db = sqlite3.connect(self._path, isolation_level=None)
        self._opened = self._path.lstat()
        claim(db, self._path)
        for pragma in _PRAGMAS:
            db.execute(pragma).fetchall()
        db.executescript(_SCHEMA)
        found = db.execute("SELECT max(id) FROM events").fetchone()[0] or 0
        self._wal = os.open(f"{self._path}-wal", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._reserved = 0
        self._last = max(int(found), floor, _lost_id(self._path))
        self._reserve(0)

    def _append(self, events: Sequence[NewEvent]) -> list[Record]:
        db = self._open_db()
        with coded_errors(self._path):  # what is planted here is told as SQLite's own errors are
            failpoints.hit("events.append")
        self._reserve(len(events))
        last = self._last
        records: list[Record] = []
        with transaction(db):
            for event in events:
                records.append(_inserted(db, last + 1, event) or _seen(db, event))
                last = max(last, records[-1].id)
        self._last = last
        return records

    def _reserve(self, count: int) -> None:
        """Notes beside the database, now and then, an id that it stays below until the machine starts anew.

        A damaged database may not tell its own, and one that lost its last moments at a power cut tells too little.
        """
        if self._last + count > self._reserved:
            self._note_reserved(self._last + count + _RESERVE)

    def _note_reserved(self, number: int) -> None:
        write_sealed(self._path.with_name(_RESERVED), b"%d %s\n" % (number, boot_id().encode()))
        self._reserved = number

    def _query(self, sql: str, *values: object) -> list[Record]:
        with self._reading():
            return [_record(*row) for row in self._open_db().execute(sql, values)]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if is_corrupt(error):
                code = Code.NOT_SEALED if isinstance(error, ForeignDatabaseError) else Code.STATE_CORRUPT
                raise HubError(code, f"{self._path} cannot be read: {error}.", hint=_ANEW) from error
            raise_coded(self._path, error)

    def _start_anew(self, error: sqlite3.DatabaseError) -> None:
        """Puts the damaged database aside and goes on in a new one, above every id it still tells."""
        foreign = isinstance(error, ForeignDatabaseError)
        told = 0 if foreign else _highest_id(self._db)
        floor = max(self._last, told) or _reserved_id(self._path)[0]
        self._let_go()
        aside = set_aside(self._path)
        self._connect(floor)
        self.damage = HubError(
            Code.NOT_SEALED if foreign else Code.STATE_CORRUPT,
            f"The event log {'is not believed' if foreign else 'was damaged'} ({error}); it was"
            f" kept as {aside.name}, and goes on at {floor + 1}.",
            hint="Earlier events are in that file; the audit log and the snapshots are not touched.",
        )


def _inserted(db: sqlite3.Connection, number: int, event: NewEvent) -> Record | None:
    """The event's record; none where the log has it already."""
    meta = _encode(event.meta).decode()
    session = event.meta.get("sessionId", "")
    row = (number, event.at_ms, str(event.tag), event.msg, meta)
    added = db.execute(_INSERT, (*row, str(session), event.dispatch_id, event.offset, event.index))
    return _record(*row) if added.rowcount else None


def _seen(db: sqlite3.Connection, event: NewEvent) -> Record:
    return _record(*db.execute(_SEEN, (event.dispatch_id, event.offset, event.index)).fetchone())


def _record(number: int, at_ms: int, tag: str, msg: str, meta: str) -> Record:
    full = f"{_second(at_ms // 1000)}.{at_ms % 1000:03}Z"
    found: EventMeta = _decode(meta)
    found["at"] = full
    return Record(number, full[11:23], tag, msg, found)


@lru_cache(maxsize=16)
def _second(at: int) -> str:
    """Many records are of one second, and this is half of what one costs."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def _highest_id(db: sqlite3.Connection | None) -> int:
    """The highest id a damaged database still tells: by its edge, else by all rows up to the damage."""
    if db is None:
        return 0
    highest = 0
    for sql in (
        "SELECT max(id) FROM events",
        "SELECT id FROM events NOT INDEXED ORDER BY id DESC",
        "SELECT id FROM events",
    ):
        with contextlib.suppress(sqlite3.Error):
            for (number,) in db.execute(sql):
                highest = max(highest, number or 0)
    return highest


def _reserved_id(path: Path) -> tuple[int, str]:
    """What was reserved when the database could still be read, and on which boot; 0 when nothing was."""
    with contextlib.suppress(OSError, HubError, ValueError):
        number, _, boot = read_sealed(path.with_name(_RESERVED), 256).decode("ascii").strip().partition(" ")
        return int(number), boot
    return 0, ""


def _lost_id(path: Path) -> int:
    """An id that may have been told before the machine went down without a word; 0 where that was not so."""
    number, boot = _reserved_id(path)
    return number if boot != boot_id() else 0
