"""What hub's own databases have in common, whatever is in them.

Owns: the file of one, a transaction, what SQLite's errors mean to a user, and putting a database aside.
Must not: open a connection, or know whose a database is (`sealed_db` does).
Tests: tests/hub/io/events/test_store.py, tests/hub/io/graph/test_store.py
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

from hub.errors import Code, HubError
from hub.io.files.atomic import coded_errors
from hub.io.files.sealed_db import ForeignDatabaseError, insist_no_journal

_CODES: Mapping[int, tuple[Code, str]] = {
    sqlite3.SQLITE_FULL: (Code.NO_SPACE, "the disk is full"),
    sqlite3.SQLITE_READONLY: (Code.READ_ONLY, "it cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (Code.NO_PERMISSION, "it cannot be opened"),
    sqlite3.SQLITE_PERM: (Code.NO_PERMISSION, "the system does not allow it"),
}
_BESIDE = 64 * 1024
"""Bytes: the index of a WAL, in its smallest form, and a page or two."""
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def own_file(path: Path) -> None:
    """Before a database is opened: its file, 0600, made when it is not there.

    Raises:
        HubError: NO_PERMISSION, NO_SPACE, READ_ONLY.
        ForeignDatabaseError: A rollback journal lies beside it.
    """
    try:
        with coded_errors(path):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            os.fchmod(fd, 0o600)
            os.close(fd)
    except OSError as error:
        raise HubError(Code.NO_PERMISSION, f"Cannot use {path}: {error.strerror}.") from error
    insist_no_journal(path)


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All of it, or nothing."""
    try:
        db.execute("BEGIN IMMEDIATE")
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def set_aside(path: Path) -> Path:
    """Renames a database that cannot be used, with all that lies beside it; answers its new name.

    Raises:
        HubError: NO_PERMISSION, NO_SPACE, READ_ONLY.
    """
    aside = path.with_name(f"{path.name}.corrupt-{time.time_ns() // 1_000_000}")
    with coded_errors(path):
        for suffix in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{path}{suffix}").rename(f"{aside}{suffix}")
    return aside


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the database itself is the trouble: damaged, or not one that hub made there."""
    return isinstance(error, ForeignDatabaseError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT


def raise_coded(
    path: Path, error: sqlite3.Error, others: Mapping[int, tuple[Code, str]] | None = None
) -> NoReturn:
    """Raises the coded form of a disk error; the error itself when it is none of a user's.

    Args:
        path: The database.
        error: What SQLite says.
        others: What more of its numbers mean here.
    """
    number = getattr(error, "sqlite_errorcode", 0)
    if number & 0xFF == sqlite3.SQLITE_IOERR and _full(path):
        number = sqlite3.SQLITE_FULL
    codes = {**_CODES, **(others or {})}
    code = codes.get(number) or codes.get(number & 0xFF)
    if code is None:
        raise error
    raise HubError(code[0], f"Cannot use {path}: {code[1]}.") from error


def _full(path: Path) -> bool:
    """Whether the disk has no room for what SQLite keeps beside a database: it calls that an I/O error."""
    with contextlib.suppress(OSError):
        disk = os.statvfs(path.parent)
        return disk.f_bavail * disk.f_frsize < _BESIDE
    return False
