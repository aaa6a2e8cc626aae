"""Files of code in the database: their modules, symbols and chunks, and the full-text indexes over the chunks.

Owns: that all of a file changes together, and how much code is kept at all.
Must not: read the files, know how they are found, or make their rows (`rows` does).

Each function takes the connection first: see `hub.io.graph.store`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from hub.domain.graph.vocabulary import module_id
from hub.io.graph.bulk import insert
from hub.io.graph.facts import put_rows, set_note
from hub.io.graph.rows import BITS, ROOM, TableRows, words

MAX_CHUNKS = 250_000
"""Chunks that are kept, of all files: some 450 MB of code."""
LINKED = "linked"
"""The note of what the `imports` edges hold for (`links`); "" = the files have changed since."""
_FILES = "INSERT INTO files {}"
_IMPORTS = "INSERT INTO imports {}"
_CHUNKS = "INSERT INTO chunks {}"
_TEXT = "INSERT INTO chunks_text (rowid, body, path, defines) {}"
_NAMES = "INSERT INTO chunks_names (rowid, path, defines) {}"
_NO_TEXT = "INSERT INTO chunks_text (chunks_text, rowid, body, path, defines) VALUES ('delete', ?, ?, ?, ?)"
_NO_NAMES = "INSERT INTO chunks_names (chunks_names, rowid, path, defines) VALUES ('delete', ?, ?, ?)"
_NUMBERS = "SELECT path, number FROM files WHERE path IN (SELECT value FROM json_each(?))"


def known(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Size and time of every file that is in, by path."""
    return {path: (size, mtime) for path, size, mtime in db.execute("SELECT path, size, mtime_ns FROM files")}


def unused(db: sqlite3.Connection) -> int:
    """A number from which on all are free, and will be while nobody else takes files."""
    return int(db.execute("SELECT coalesce(max(number), 0) + 1 FROM files").fetchone()[0])


def take(db: sqlite3.Connection, changed: TableRows, gone: Sequence[str]) -> None:
    """Puts changed files in the place of what was known of them, and takes out those that are gone."""
    for path, number in db.execute(_NUMBERS, (json.dumps([*changed.paths, *gone]),)).fetchall():
        _forget(db, path, number)
    # First what SQLite is longest at: meanwhile another thread may end its work, and the rest need not wait for it.
    insert(db, _TEXT, 4, changed.words, indexed=True)
    insert(db, _CHUNKS, 11, changed.chunks)
    insert(db, _FILES, 5, changed.files)
    put_rows(db, changed.nodes, changed.edges)
    insert(db, _IMPORTS, 2, changed.imports)
    set_note(db, LINKED, "")
    insert(db, _NAMES, 3, changed.names, indexed=True)


def is_full(db: sqlite3.Connection, limit: int = MAX_CHUNKS) -> bool:
    """Whether no more code is taken."""
    return bool(db.execute("SELECT count(*) >= ? FROM chunks", (limit,)).fetchone()[0])


def _forget(db: sqlite3.Connection, path: str, number: int) -> None:
    """Takes out all that is known of a file."""
    range_ = (number << BITS, (number << BITS) + ROOM - 1)
    found = db.execute(
        "SELECT number, path, body, defines FROM chunks WHERE number BETWEEN ? AND ?", range_
    ).fetchall()
    told = [words(*chunk) for chunk in found]
    db.executemany(_NO_TEXT, told)
    db.executemany(_NO_NAMES, ((number, path, defines) for number, _, path, defines in told))
    db.execute("DELETE FROM chunks WHERE number BETWEEN ? AND ?", range_)
    module = module_id(path)
    defined = "SELECT to_id FROM edges WHERE from_id = ? AND edge_type = 'defines'"
    db.execute(f"DELETE FROM nodes WHERE id IN ({defined})", (module,))  # noqa: S608  # constants only
    db.execute("DELETE FROM edges WHERE from_id = ?", (module,))
    db.execute("DELETE FROM nodes WHERE id = ?", (module,))
    db.execute("DELETE FROM files WHERE number = ?", (number,))
