"""The event log on disk.

Owns: `events.db`: ids from 1, each one more than the last, for ever; the order; what a replay has seen before.
Must not: push events to anyone, redact them, or be used from two threads at once.

Durability: WAL with `synchronous=FULL`. A batch is one transaction and one fsync; when `append` returns, it
survives a power cut. `NORMAL` is ten times faster for single events and loses the last ones at a power cut,
which an agent's replayed spool could bring back, but a user's own actions could not.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import attrs
import msgspec

from hub.domain.event import Record
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.atomic import coded_errors, read_bounded, write_atomic

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
    "PRAGMA synchronous=FULL",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA busy_timeout=2000",
    "PRAGMA journal_size_limit=16777216",
)
_RESERVE = 10_000
_RESERVED = "events.reserved"
_ROW = "id, at_ms, tag, msg, meta"
_INSERT = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_ONCE = "dispatch = ? AND place = ? AND part = ? AND dispatch <> '' AND place >= 0"
_SEEN = f"SELECT {_ROW} FROM events WHERE {_ONCE}"  # noqa: S608  # constants only
_CODES = {
    sqlite3.SQLITE_FULL: (Code.NO_SPACE, "the disk is full"),
    sqlite3.SQLITE_READONLY: (Code.READ_ONLY, "it cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (Code.NO_PERMISSION, "it cannot be opened"),
    sqlite3.SQLITE_PERM: (Code.NO_PERMISSION, "the system does not allow it"),
}
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)

T = TypeVar("T")

_encode = msgspec.json.encode
_decode = msgspec.json.decode


@attrs.frozen
class NewEvent:
    """An event on its way into the log."""

    tag: str
    msg: str
    meta: Mapping[str, Any]
    """JSON values; `sessionId` also puts it among the session's events."""
    at_ms: int
    """When it happened, milliseconds since the epoch."""
    dispatch_id: str = ""
    """The dispatch whose stream it came from; "" = it came from hub."""
    offset: int = -1
    """The byte offset of its line in the spool; with a dispatch id, `index` and this it enters the log once."""
    index: int = 0
    """Its place among the events of that line."""


@attrs.frozen
class Staged:
    """Events that are in the open transaction."""

    events: Sequence[NewEvent]
    records: list[Record]
    last_id: int


class EventStore:
    """The one writer of a project's event log.

    Attributes:
        damage: Set when a damaged database was put aside: what to tell the user. The log went on in a new one.
    """

    def __init__(self, path: Path) -> None:
        self.damage: HubError | None = None
        self._path = path
        self._db: sqlite3.Connection | None = None
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
            store._connect()
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                store.close()
                raise _coded(path, error) from error
            store._start_anew(error)
        return store

    @property
    def last_id(self) -> int:
        """The newest record's id; 0 for an empty log."""
        return self._last

    def append(self, events: Sequence[NewEvent]) -> list[Record]:
        """Appends events, in order, in one transaction; when it returns they are durable.

        An event with a dispatch id and an offset that were seen before is not added: its record of then is
        returned in its place, and is known by its id, which is not above what `last_id` was before the call.

        Raises:
            HubError: NO_SPACE, READ_ONLY, NO_PERMISSION; nothing was added, no id was used up.
        """
        return self.commit(self.stage(events))

    def stage(self, events: Sequence[NewEvent]) -> Staged:
        """The first half of `append`, which waits for no disk. `commit` must follow before any other call.

        Raises:
            HubError: As `append`.
        """
        return self._mended(lambda: self._stage(events))

    def commit(self, staged: Staged) -> list[Record]:
        """The second half, which waits for the disk; it may be called in another thread than `stage` was.

        Raises:
            HubError: As `append`.
        """
        return self._mended(
            lambda: self._commit(staged), again=lambda: self._commit(self._stage(staged.events))
        )

    def _mended(self, act: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """What `act` gives; where it shows damage, what `again` gives in a new database."""
        try:
            return act()
        except sqlite3.DatabaseError as error:
            if not _is_corrupt(error):
                raise _coded(self._path, error) from error
            self._start_anew(error)
            return (again or act)()

    def since(self, after: int, limit: int = 1000) -> list[Record]:
        """Records newer than the id `after`, oldest first, at most `limit`."""
        return self._query(f"SELECT {_ROW} FROM events WHERE id > ? ORDER BY id LIMIT ?", after, limit)  # noqa: S608  # constants only

    def latest(self, limit: int) -> list[Record]:
        """The newest records, oldest first."""
        return self._query(f"SELECT {_ROW} FROM events ORDER BY id DESC LIMIT ?", limit)[::-1]  # noqa: S608  # constants only

    def for_session(self, session_id: str, after: int = 0, limit: int = 100_000) -> list[Record]:
        """A session's records newer than the id `after`, oldest first."""
        return self._query(
            f"SELECT {_ROW} FROM events WHERE session = ? AND id > ? ORDER BY id LIMIT ?",  # noqa: S608  # constants only
            session_id,
            after,
            limit,
        )

    def last_offset(self, dispatch_id: str) -> int:
        """The highest spool offset seen of a dispatch; -1 when none was."""
        sql = "SELECT max(place) FROM events WHERE dispatch = ? AND dispatch <> '' AND place >= 0"
        with self._reading():
            found = self._open_db().execute(sql, (dispatch_id,)).fetchone()[0]
        return -1 if found is None else int(found)

    def close(self) -> None:
        """Closes the database. A second call does nothing."""
        db, self._db = self._db, None
        if db is not None:
            db.close()

    def _open_db(self) -> sqlite3.Connection:
        if self._db is None:
            raise HubError(Code.UNAVAILABLE, "The event log is closed.")
        return self._db

    def _connect(self, floor: int = 0) -> None:
        with coded_errors(self._path):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            fd = os.open(self._path, flags, 0o600)
            os.fchmod(fd, 0o600)
            os.close(fd)
        self._db = db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            db.execute(pragma).fetchall()
        db.executescript(_SCHEMA)
        found = db.execute("SELECT max(id) FROM events").fetchone()[0] or 0
        self._last = max(int(found), floor)
        self._reserve(0)

    def _stage(self, events: Sequence[NewEvent]) -> Staged:
        db = self._open_db()
        failpoints.hit("events.append")
        self._reserve(len(events))
        last = self._last
        records: list[Record] = []
        with _rolled_back_on_error(db):
            db.execute("BEGIN IMMEDIATE")
            for event in events:
                seen = _seen(db, event)
                if seen is None:
                    last += 1
                    seen = _insert(db, last, event)
                records.append(seen)
        return Staged(events, records, last)

    def _commit(self, staged: Staged) -> list[Record]:
        db = self._open_db()
        with _rolled_back_on_error(db):
            db.execute("COMMIT")
        self._last = staged.last_id
        return staged.records

    def _reserve(self, count: int) -> None:
        """Notes beside the database, now and then, an id that it stays below: a damaged one may not tell its own."""
        if self._last + count > self._reserved:
            self._reserved = self._last + count + _RESERVE
            write_atomic(self._path.with_name(_RESERVED), b"%d\n" % self._reserved)

    def _query(self, sql: str, *values: Any) -> list[Record]:
        with self._reading():
            return [_record(*row) for row in self._open_db().execute(sql, values)]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if _is_corrupt(error):
                raise HubError(Code.STATE_CORRUPT, f"{self._path} is damaged: {error}.") from error
            raise _coded(self._path, error) from error

    def _start_anew(self, error: sqlite3.DatabaseError) -> None:
        """Puts the damaged database aside and goes on in a new one, above every id it still tells."""
        floor = max(self._last, _highest_id(self._db)) or _reserved_id(self._path)
        self.close()
        aside = f"{self._path}.corrupt-{time.time_ns() // 1_000_000}"
        with coded_errors(self._path):
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{self._path}{suffix}").rename(f"{aside}{suffix}")
        self._connect(floor)
        self.damage = HubError(
            Code.STATE_CORRUPT,
            f"The event log was damaged ({error}); it was kept as {Path(aside).name}, and goes on at {floor + 1}.",
            hint="Earlier events are in that file; the audit log and the snapshots are not touched.",
        )


def _seen(db: sqlite3.Connection, event: NewEvent) -> Record | None:
    if not event.dispatch_id or event.offset < 0:
        return None
    row = db.execute(_SEEN, (event.dispatch_id, event.offset, event.index)).fetchone()
    return None if row is None else _record(*row)


def _insert(db: sqlite3.Connection, number: int, event: NewEvent) -> Record:
    meta = _encode(dict(event.meta)).decode()
    session = event.meta.get("sessionId", "")
    row = (number, event.at_ms, str(event.tag), event.msg, meta)
    db.execute(_INSERT, (*row, str(session), event.dispatch_id, event.offset, event.index))
    return _record(*row)


def _record(number: int, at_ms: int, tag: str, msg: str, meta: str) -> Record:
    at = datetime.fromtimestamp(at_ms // 1000, UTC).replace(microsecond=at_ms % 1000 * 1000)
    full = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return Record(number, full[11:23], tag, msg, {**_decode(meta), "at": full})


@contextlib.contextmanager
def _rolled_back_on_error(db: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


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


def _reserved_id(path: Path) -> int:
    """What was reserved when the database could still be read; 0 when nothing was."""
    with contextlib.suppress(OSError, HubError, ValueError):
        return int(read_bounded(path.with_name(_RESERVED), 32))
    return 0


def _is_corrupt(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT


def _coded(path: Path, error: sqlite3.Error) -> Exception:
    """The coded form of a disk error; the error itself when it is none of a user's."""
    code = _CODES.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
    if code is None:
        return error
    return HubError(code[0], f"Cannot write {path}: {code[1]}.")
