"""What SQLite's errors mean to a user.

Owns: which errors say that a database is damaged or not hub's, and which are the disk's.
Must not: open a database.
Tests: tests/hub/io/events/test_store.py
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import NoReturn

from hub.errors import Code, HubError
from hub.io.files.sealed_db import ForeignDatabaseError

_CODES = {
    sqlite3.SQLITE_FULL: (Code.NO_SPACE, "the disk is full"),
    sqlite3.SQLITE_READONLY: (Code.READ_ONLY, "it cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (Code.NO_PERMISSION, "it cannot be opened"),
    sqlite3.SQLITE_PERM: (Code.NO_PERMISSION, "the system does not allow it"),
}
_BESIDE = 64 * 1024
"""Bytes: the index of a WAL, in its smallest form, and a page or two."""
_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_corrupt(error: sqlite3.Error) -> bool:
    """Whether the database itself is the trouble: damaged, or not one that hub made there."""
    return isinstance(error, ForeignDatabaseError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _CORRUPT


def raise_coded(path: Path, error: sqlite3.Error) -> NoReturn:
    """Raises the coded form of a disk error; the error itself when it is none of a user's."""
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if kind == sqlite3.SQLITE_IOERR and _full(path):
        kind = sqlite3.SQLITE_FULL
    code = _CODES.get(kind)
    if code is None:
        raise error
    raise HubError(code[0], f"Cannot write {path}: {code[1]}.") from error


def _full(path: Path) -> bool:
    """Whether the disk has no room for what SQLite keeps beside a database: it calls that an I/O error."""
    with contextlib.suppress(OSError):
        disk = os.statvfs(path.parent)
        return disk.f_bavail * disk.f_frsize < _BESIDE
    return False
