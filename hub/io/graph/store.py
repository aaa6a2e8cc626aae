"""`graph.db` as one thing that is written by one and read beside it.

Owns: the two connections, one transaction at a time, and what happens to a database that is damaged.
Must not: know what a row means (`facts`, `files` and `search` do), or be opened by two daemons.

Every method may be called in any thread. Who writes does not hold up who reads.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from hub.errors import Code, HubError
from hub.io.files.database import raise_coded, set_aside, transaction
from hub.io.files.sealed_db import closed_whole, without_foreign_log
from hub.io.graph.schema import TROUBLE, connect, is_unusable

P = ParamSpec("P")
T = TypeVar("T")


class GraphStore:
    """The database.

    Attributes:
        damage: Set when a damaged database was put aside: what to tell the user. What is in it now begins anew.
    """

    def __init__(self, path: Path) -> None:
        self.damage: HubError | None = None
        self._path = path
        self._writing = threading.Lock()
        self._reading = threading.Lock()
        self._opened: os.stat_result | None = None
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None

    @classmethod
    def open(cls, path: Path) -> GraphStore:
        """Opens the database, 0600; makes it when it is not there, and anew when it is damaged.

        Raises:
            HubError: NO_PERMISSION, NO_SPACE, READ_ONLY, DISK_FAILED.
        """
        store = cls(path)
        try:
            try:
                store._connect()
            except sqlite3.DatabaseError as error:
                store._recover(error, store._writer)
        except BaseException:
            store._let_go()
            raise
        return store

    def write(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Does the work in one transaction: all of it, or nothing.

        Raises:
            HubError: STATE_CORRUPT: the database was put aside, and is empty now. Else NO_SPACE, READ_ONLY,
                NO_PERMISSION, DISK_FAILED, or UNAVAILABLE once it is closed.
        """
        with self._writing:
            db = _opened(self._writer)
            try:
                with transaction(db):
                    return work(db, *args, **kwargs)
            except sqlite3.DatabaseError as error:
                with self._reading:
                    raise self._recover(error, db) from error

    def read(
        self, work: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Does the work on what was committed last; it must not write.

        Raises:
            HubError: As `write`.
        """
        try:
            with self._reading:
                db = _opened(self._reader)
                return work(db, *args, **kwargs)
        except sqlite3.DatabaseError as error:
            with self._writing, self._reading:
                raise self._recover(error, db) from error

    def close(self) -> None:
        """Closes the database. A second call does nothing."""
        with self._writing, self._reading:
            opened = self._opened
            self._let_go()
            if opened is not None:
                closed_whole(self._path, opened)

    def _connect(self) -> None:
        without_foreign_log(self._path)  # all in it can be made again: whoever is told has nothing to do
        self._writer = connect(self._path)
        self._opened = self._path.lstat()
        self._reader = connect(self._path)
        self._reader.execute("PRAGMA query_only=ON")

    def _let_go(self) -> None:
        for db in (self._reader, self._writer):
            if db is not None:
                db.close()
        self._reader = self._writer = self._opened = None

    def _recover(self, error: sqlite3.DatabaseError, failed: sqlite3.Connection | None) -> HubError:
        """Puts an unusable database aside and begins a new one; answers what to tell. Any other error is raised.

        Of those whose connections failed on one database, the first does so: the others find a new one in its place.
        """
        if not is_unusable(error):
            raise_coded(self._path, error, TROUBLE)
        if failed not in (self._writer, self._reader):
            _opened(self._writer)
            return HubError(Code.STATE_CORRUPT, "The knowledge graph was made anew meanwhile.")
        self._let_go()
        aside = set_aside(self._path)
        self._connect()
        self.damage = HubError(
            Code.STATE_CORRUPT,
            f"The knowledge graph cannot be used ({error}); it was kept as {aside.name}, and is made anew.",
            hint="Nothing is lost: it comes from the code and the event log. Index the code again: hub graph scan",
        )
        return self.damage


def _opened(db: sqlite3.Connection | None) -> sqlite3.Connection:
    if db is None:
        raise HubError(Code.UNAVAILABLE, "The knowledge graph is closed.")
    return db
