"""Databases below `.hub` that hub believes: each bears the mark of this machine and this place.

Owns: the one table in which a database bears it, the first look into a file that anybody may have put there, and whose the
log beside it is.
Must not: know what else is in a database, or put one aside.

The first look runs nothing that the file brings: no view, no trigger, no function of its schema, for half a second at most.
Tests: tests/hub/io/events/test_store.py, tests/hub/io/files/test_sealed.py
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from hub.io.files.atomic import coded_errors, is_still, remove
from hub.io.files.sealed import bears, mark, put_aside

_PATIENCE = 0.5
_STEPS = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""
_LONGEST = 1 << 20
_CLOSED = ".closed"
"""The end of the name of an empty file: it is there while the database is closed and whole."""


class ForeignDatabaseError(sqlite3.DatabaseError):
    """Hub did not make this database at this place."""

    def __init__(self) -> None:
        super().__init__("hub did not make it for this project, at this place and on this machine")


def insist_no_journal(path: Path) -> None:
    """Before a database is opened: hub's have no rollback journal, and SQLite would act upon what one says.

    Raises:
        ForeignDatabaseError: There is one.
    """
    if os.path.lexists(f"{path}-journal"):
        raise ForeignDatabaseError


def closed_whole(path: Path, opened: os.stat_result) -> None:
    """After the last connection is closed: leave word that no log of hub's own lies beside the database.

    Not where the path has become another file, which the next daemon may have open.
    """
    if is_still(path, opened) and not _size(f"{path}-wal"):
        with contextlib.suppress(OSError):  # then a log is believed, as after a kill
            os.close(
                os.open(f"{path}{_CLOSED}", os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            )


def without_foreign_log(path: Path) -> Path | None:
    """Before a database is opened: put a log aside that somebody has laid beside one that was closed whole.

    SQLite would take what it says for the database's own, the mark or not. Whoever unpacks files over a project can add
    some, but cannot take away the word that there was none.

    Returns:
        Where the log is kept; None where there was none.

    Raises:
        HubError: NO_PERMISSION, NO_SPACE, READ_ONLY.
    """
    told, log = Path(f"{path}{_CLOSED}"), Path(f"{path}-wal")
    if not os.path.lexists(told):
        return None
    with coded_errors(path):
        aside = put_aside(log) if _size(str(log)) else None
        remove(told)  # durably: else it is there again after a power cut, beside a log of hub's own
    return aside


def claim(db: sqlite3.Connection, path: Path) -> None:
    """Marks a database that is empty as made here, and refuses one that others have made.

    Raises:
        ForeignDatabaseError: It does not bear the mark.
        sqlite3.DatabaseError: It is damaged, or cannot be used.
    """
    if _is_empty(db, path):
        db.execute("BEGIN IMMEDIATE")
        db.execute("CREATE TABLE hub_seal (code TEXT NOT NULL)")
        db.execute("INSERT INTO hub_seal VALUES (?)", (mark(path),))
        db.execute("COMMIT")


@contextlib.contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes no file, and makes none beside the database; nobody may have it open.

    What its last user left in the WAL is read from a copy of both.

    Raises:
        ForeignDatabaseError, sqlite3.DatabaseError: As `claim`; an empty one is fine.
    """
    insist_no_journal(path)
    with contextlib.ExitStack() as stack:
        name, how = path, "mode=ro&immutable=1"
        if _size(f"{path}-wal") and not os.path.lexists(f"{path}{_CLOSED}"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hub-look-")))
            name, how = folder / path.name, "mode=rw"
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{path}{suffix}", f"{name}{suffix}", follow_symlinks=False)
        uri = f"file:{quote(os.fspath(name))}?{how}"
        db = stack.enter_context(contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None)))
        _is_empty(db, path)
        db.execute("PRAGMA query_only=ON")
        yield db


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _is_empty(db: sqlite3.Connection, path: Path) -> bool:
    """Whether nothing was ever made in it; False of one that bears the mark."""
    db.execute("PRAGMA trusted_schema=OFF")
    longest = db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    until = time.monotonic() + _PATIENCE
    db.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        kinds = dict(db.execute("SELECT name, type FROM sqlite_master").fetchall())
        if not kinds:
            return True
        if kinds.get("hub_seal") != "table":
            raise ForeignDatabaseError
        codes = db.execute("SELECT code FROM hub_seal LIMIT 2").fetchall()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            raise ForeignDatabaseError from error
        raise
    finally:
        db.set_progress_handler(None, 0)
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    if len(codes) != 1 or not isinstance(codes[0][0], str) or not bears(path, codes[0][0]):
        raise ForeignDatabaseError
    return False
