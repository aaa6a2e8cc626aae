"""The tables of `graph.db`.

Owns: tables, indexes, pragmas, and telling damage from other trouble.
Must not: read or write a row.

All of it can be made again from the code and the event log. So nothing waits for the disk (`synchronous=NORMAL`); an older
hub's tables give way to new ones; and a database that is damaged, or was written by a newer hub, is put aside instead of
repaired.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from hub.errors import Code
from hub.io.files.database import is_corrupt, own_file
from hub.io.files.sealed_db import claim

VERSION = 6
"""Of the tables, and of how text is cut into words (`hub.domain.graph.terms.spaced`): a full-text index without a copy
forgets a chunk only by the very words it was told."""
_TABLES = """
DROP TABLE IF EXISTS nodes;
DROP TABLE IF EXISTS edges;
DROP TABLE IF EXISTS files;
DROP TABLE IF EXISTS imports;
DROP TABLE IF EXISTS chunks;
DROP TABLE IF EXISTS chunks_text;
DROP TABLE IF EXISTS chunks_names;
DROP TABLE IF EXISTS notes;
CREATE TABLE nodes (
    id TEXT PRIMARY KEY,
    node_type TEXT NOT NULL,
    payload TEXT NOT NULL,
    session_id TEXT NOT NULL,
    weight REAL NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
CREATE INDEX nodes_recent ON nodes (updated_at);
CREATE INDEX nodes_told ON nodes (updated_at) WHERE session_id <> '';
CREATE INDEX nodes_of_session ON nodes (session_id, node_type) WHERE session_id <> '';
CREATE TABLE edges (
    from_id TEXT NOT NULL,
    edge_type TEXT NOT NULL,
    to_id TEXT NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (from_id, edge_type, to_id)
) WITHOUT ROWID;
CREATE INDEX edges_back ON edges (to_id) WHERE edge_type <> 'defines';
CREATE TABLE files (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    mark TEXT NOT NULL
);
CREATE TABLE imports (
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (number, name)
) WITHOUT ROWID;
CREATE TRIGGER files_gone AFTER DELETE ON files BEGIN DELETE FROM imports WHERE number = old.number; END;
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL,
    lang TEXT NOT NULL,
    startLine INTEGER NOT NULL,
    endLine INTEGER NOT NULL,
    body TEXT NOT NULL,
    defines TEXT NOT NULL,
    sha TEXT NOT NULL,
    embedding BLOB,
    dim INTEGER NOT NULL
);
CREATE VIRTUAL TABLE chunks_text USING fts5 (
    body, path, defines, content='', tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO chunks_text (chunks_text, rank) VALUES ('hashsize', 4194304), ('automerge', 32), ('crisismerge', 32);
CREATE VIRTUAL TABLE chunks_names USING fts5 (
    path, defines, content='', tokenize='porter unicode61 remove_diacritics 2'
);
INSERT INTO chunks_names (chunks_names, rank) VALUES ('automerge', 32), ('crisismerge', 32);
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
"""What was there is an older hub's. A chunk's number is its file's number and its place in the file, so a file's chunks
are one range. `imports` has what each file imports by the names it uses: which files they are is found out anew when files
come or go. The full-text index keeps no copy of what it indexes: `chunks` has it. `chunks_names` has what defines a word or
is named by it, once more by itself: where thousands of chunks hold a word, all of what is told of them would have to be
read to find these. An edge `defines` needs no way back, for a symbol's id names its module; a session's intent is drawn
from its nodes while a handoff waits. So many pieces of an index are merged at once, each of some 2 MB of code: with 16 all
but a little project's were written twice while it was built."""

_PRAGMAS = (
    "PRAGMA page_size=8192",  # of a new database; a chunk is some 2 kB, and on pages of 4 kB half of each is left empty
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=NORMAL",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA busy_timeout=5000",
    "PRAGMA cache_size=-4096",
    "PRAGMA wal_autocheckpoint=4000",  # pages: a page that several batches change goes into the database once
    "PRAGMA journal_size_limit=16777216",
)
TROUBLE = {
    sqlite3.SQLITE_IOERR_SHMSIZE: (Code.NO_SPACE, "the disk is full"),
    sqlite3.SQLITE_IOERR: (Code.DISK_FAILED, "the disk failed"),
    sqlite3.SQLITE_BUSY: (Code.UNAVAILABLE, "another program has it open"),
}
"""What SQLite's errors mean here beside those of `raise_coded`."""


class NewerDatabaseError(sqlite3.DatabaseError):
    """The database was written by a newer hub."""


def connect(path: Path) -> sqlite3.Connection:
    """Opens the database, 0600; makes it when it is not there, and anew when an older hub did.

    The connection may be used by one thread after the other, by one at a time.

    Raises:
        sqlite3.DatabaseError: It is damaged, newer, or cannot be used: see `is_unusable` and `raise_coded`.
        HubError: NO_PERMISSION, NO_SPACE, READ_ONLY.
    """
    own_file(path)
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        claim(db, path)
        for pragma in _PRAGMAS:
            db.execute(pragma).fetchall()
        _insist_tables(db)
    except BaseException:
        db.close()
        raise
    return db


def _insist_tables(db: sqlite3.Connection) -> None:
    """Tables of the present version; new ones are made whole or not at all."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise NewerDatabaseError(f"it is of version {version}, and this hub knows version {VERSION}")
    if version < VERSION:
        db.executescript(f"BEGIN IMMEDIATE; {_TABLES}; PRAGMA user_version = {VERSION}; COMMIT;")


def is_unusable(error: sqlite3.Error) -> bool:
    """Whether the database itself is the trouble, so that only a new one helps."""
    return isinstance(error, NewerDatabaseError) or is_corrupt(error)
