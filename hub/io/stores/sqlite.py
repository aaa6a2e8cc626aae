"""A SQLite database of another program, read without disturbing it.

Owns: how it is opened, what is switched off, and the time and memory a query may take.
Must not: write to it or beside it, wait for a lock, or hold one that its owner waits for.

The choice between three ways of opening (design/decisions/0026): beside a live log (`-wal` and `-shm`) `mode=ro`, which
sees all that is committed and, in WAL mode, stops no writer; without a log `immutable`, which takes no lock and makes no
file, and what was read counts only if the file did not change meanwhile; beside a log that a dead program left, a copy
of both, since SQLite would have to recover it in place.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import attrs

from hub.domain.detection.intel import Limits, Unreadable

_PRAGMAS = (
    "PRAGMA trusted_schema=OFF",
    "PRAGMA query_only=ON",
    "PRAGMA cell_size_check=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA mmap_size=0",
)
_MAX_VALUE = 64 * 1024 * 1024
_MAX_COPY = 256 * 1024 * 1024
_STEPS = 1000
"""Instructions of SQLite's machine between two looks at the clock."""
_ROWS = 256
_OWN_JSON = re.compile(r"unsafe use of json_?\w*\(\)$")
"""What SQLite 3.38 to 3.40 says of its own JSON functions in an index, as Kilo has, where the schema is not trusted."""


@attrs.frozen
class ReadOnlyDatabase:
    """An open database that nothing can be written to."""

    _db: sqlite3.Connection
    _name: str
    _limits: Limits
    _until: float

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; empty when there is no such table.

        Raises:
            Unreadable: It is no database, or the time is up.
        """
        real = (
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql NOT LIKE 'CREATE VIRTUAL%'"
        )
        if not self._rows(real, (table,)):
            return frozenset()
        return frozenset(row[0] for row in self._rows("SELECT name FROM pragma_table_info(?)", (table,)))

    def select(
        self, table: str, columns: Sequence[str], tail: str = "", parameters: Sequence[object] = ()
    ) -> list[tuple[object, ...]]:
        """Rows of one table, in the order of the columns; NULL for a column it does not have.

        Raises:
            Unreadable: There is no such table (a view is none), the file is damaged, or the time or memory is up.
        """
        known = self.columns(table)
        if not known:
            raise Unreadable(f"{self._name} has no table {table}: the format may have changed.")
        wanted = ", ".join(f'"{name}"' if name in known else "NULL" for name in columns)
        return self._rows(f'SELECT {wanted} FROM "{table}" {tail}', parameters)  # noqa: S608  # our own names

    def _rows(self, query: str, parameters: Sequence[object]) -> list[tuple[Any, ...]]:
        found: list[tuple[object, ...]] = []
        room = self._limits.most
        try:
            rows = self._db.execute(query, parameters)
            while some := rows.fetchmany(_ROWS):
                found += some
                room -= sum(len(value) for row in some for value in row if isinstance(value, (str, bytes)))
                if room < 0:
                    raise Unreadable(f"{self._name} has too much to read.")
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            if time.monotonic() > self._until:
                raise Unreadable(f"{self._name} took too long to read.") from error
            raise Unreadable(f"{self._name} cannot be read: {error}.") from error
        return found


@contextlib.contextmanager
def opened(fd: int, path: str, limits: Limits) -> Iterator[ReadOnlyDatabase]:
    """The database in this file.

    Args:
        fd: The file, opened and checked; what is read must be this one.
        path: Its name, through no link.
        limits: Time and memory.

    Raises:
        Unreadable: It cannot be opened, or it changed while it was read.
    """
    logged, live = _size(f"{path}-wal") > 0, os.path.lexists(f"{path}-shm")
    with contextlib.ExitStack() as stack:
        if logged and not live:
            name, how = stack.enter_context(_copied(fd, path)), "mode=ro"
        else:
            name, how = path, "mode=ro" if logged else "mode=ro&immutable=1"
        before = _state(path, fd)
        yield stack.enter_context(_connected(name, how, path, limits))
        if not logged and _state(path, fd) != before:
            raise Unreadable(f"{path} was written while it was read.")


@contextlib.contextmanager
def _connected(name: str, how: str, path: str, limits: Limits) -> Iterator[ReadOnlyDatabase]:
    until = time.monotonic() + limits.seconds
    try:
        db = sqlite3.connect(f"file:{quote(name)}?{how}", uri=True, timeout=0, isolation_level=None)
    except sqlite3.Error as error:
        raise Unreadable(f"{path} cannot be read: {error}.") from error
    try:
        db.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        db.text_factory = _text
        try:
            for pragma in _PRAGMAS:
                db.execute(pragma)
            _load_schema(db)
        except sqlite3.Error as error:
            raise Unreadable(f"{path} cannot be read: {error}.") from error
        yield ReadOnlyDatabase(db, path, limits, until)
    finally:
        db.close()


def _load_schema(db: sqlite3.Connection) -> None:
    """Trust a schema that does no more than call SQLite's own JSON functions. Other troubles are the first query's."""
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        if _OWN_JSON.search(str(error)):
            # Nobody has added a function to this connection, and extensions cannot be loaded by it.
            db.execute("PRAGMA trusted_schema=ON")


@contextlib.contextmanager
def _copied(fd: int, path: str) -> Iterator[str]:
    """A copy of the database and its log, in a folder of its own."""
    log = f"{path}-wal"
    if os.fstat(fd).st_size + _size(log) > _MAX_COPY:
        raise Unreadable(f"{path} was left open by its program and is too large to be copied.")
    with tempfile.TemporaryDirectory(prefix="hub-store-") as folder:
        name = f"{folder}/store.db"
        try:
            source = os.open(log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(os.dup(fd), "rb") as data, os.fdopen(source, "rb") as wal:
                for part, to in ((data, name), (wal, f"{name}-wal")):
                    with Path(to).open("wb") as out:
                        shutil.copyfileobj(part, out)
        except OSError as error:
            raise Unreadable(f"{path} cannot be copied: {os.strerror(error.errno or 0)}.") from error
        yield name


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _state(path: str, fd: int) -> tuple[int, ...]:
    """What differs when somebody wrote to the file, put another in its place, or began to write."""
    opened = os.fstat(fd)
    try:
        named = os.lstat(path)
    except OSError as error:
        raise Unreadable(f"{path} is gone.") from error
    if (named.st_dev, named.st_ino) != (opened.st_dev, opened.st_ino):
        raise Unreadable(f"{path} was replaced while it was read.")
    begun = os.path.lexists(f"{path}-journal") or _size(f"{path}-wal") > 0
    return (opened.st_size, opened.st_mtime_ns, begun)
