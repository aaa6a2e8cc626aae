"""Files of code in the database: their modules, symbols and chunks, and the full-text indexes over the chunks.

Owns: that all of a file changes together, the numbers of files and chunks, and how much code is kept at all.
Must not: read the files, or know how they are found.

Each function takes the connection first: see `hub.io.graph.store`.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from hub.domain.graph.terms import spaced
from hub.domain.graph.vocabulary import code_part, module_id
from hub.io.graph.code_scan import Scanned
from hub.io.graph.facts import put, set_note

MAX_CHUNKS = 250_000
"""Chunks that are kept, of all files: some 450 MB of code."""
BITS = 12
ROOM = 1 << BITS
"""Chunks of one file, at most: a chunk's number is its file's number and its place in the file."""
LINKED = "linked"
"""The note of what the `imports` edges hold for (`links`); "" = the files have changed since."""
_FREE = "SELECT coalesce(max(number), 0) + 1 FROM files"
_FILE = "INSERT INTO files VALUES (?, ?, ?, ?, ?)"
_IMPORT = "INSERT INTO imports VALUES (?, ?)"
_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)"
_TEXT = "INSERT INTO chunks_text (rowid, body, path, defines) VALUES (?, ?, ?, ?)"
_NAMES = "INSERT INTO chunks_names (rowid, path, defines) VALUES (?, ?, ?)"
_NO_TEXT = "INSERT INTO chunks_text (chunks_text, rowid, body, path, defines) VALUES ('delete', ?, ?, ?, ?)"
_NO_NAMES = "INSERT INTO chunks_names (chunks_names, rowid, path, defines) VALUES ('delete', ?, ?, ?)"
_NUMBERS = "SELECT path, number FROM files WHERE path IN (SELECT value FROM json_each(?))"


def known(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Size and time of every file that is in, by path."""
    return {path: (size, mtime) for path, size, mtime in db.execute("SELECT path, size, mtime_ns FROM files")}


def take(db: sqlite3.Connection, changed: Sequence[Scanned], gone: Sequence[str], at: str) -> None:
    """Puts changed files in the place of what was known of them, and takes out those that are gone.

    Args:
        db: The database.
        changed: As they were read.
        gone: Paths.
        at: The time that nodes of the changed ones get.
    """
    paths = [*(file.path for file in changed), *gone]
    for path, number in db.execute(_NUMBERS, (json.dumps(paths),)).fetchall():
        _forget(db, path, number)
    for number, file in enumerate(changed, db.execute(_FREE).fetchone()[0]):
        db.execute(_FILE, (number, file.path, file.size, file.mtime_ns, file.mark or ""))
        db.executemany(_IMPORT, ((number, name) for name in file.imports))
        put(db, code_part(file.path, file.language, file.mark, file.symbols), at)
        _put_chunks(db, file, number)
    set_note(db, LINKED, "")


def _put_chunks(db: sqlite3.Connection, file: Scanned, number: int) -> None:
    made = list(_chunks(file, number))
    told = [_words(place, file.path, body, defines) for place, *_, body, defines, _ in made]
    db.executemany(_CHUNK, made)
    db.executemany(_TEXT, told)
    db.executemany(_NAMES, ((place, path, defines) for place, _, path, defines in told))


def _chunks(file: Scanned, number: int) -> Iterator[tuple[int, str, str, str, int, int, str, str, str]]:
    lines_of = [symbol.line for symbol in file.symbols]
    names = [symbol.name for symbol in file.symbols]
    for place, chunk in enumerate(file.chunks[:ROOM], number << BITS):
        start, end, body = chunk.start_line, chunk.end_line, chunk.body
        defines = " ".join(names[bisect_left(lines_of, start) : bisect_right(lines_of, end)])
        digest = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()
        name, language = f"{file.path}:{start}-{end}", file.language or ""
        yield place, name, file.path, language, start, end, body, defines, digest


def _words(number: int, path: str, body: str, defines: str) -> tuple[int, str, str, str]:
    """What the full-text indexes are told of a chunk: its number, its body, its path, what it defines.

    On the way in and, word for word, on the way out. So a change of this is a new version of the database:
    `hub.io.graph.schema.VERSION`.
    """
    return number, spaced(body), spaced(path), spaced(defines)


def is_full(db: sqlite3.Connection, limit: int = MAX_CHUNKS) -> bool:
    """Whether no more code is taken."""
    return bool(db.execute("SELECT count(*) >= ? FROM chunks", (limit,)).fetchone()[0])


def _forget(db: sqlite3.Connection, path: str, number: int) -> None:
    """Takes out all that is known of a file."""
    range_ = (number << BITS, (number << BITS) + ROOM - 1)
    found = db.execute(
        "SELECT number, path, body, defines FROM chunks WHERE number BETWEEN ? AND ?", range_
    ).fetchall()
    told = [_words(*chunk) for chunk in found]
    db.executemany(_NO_TEXT, told)
    db.executemany(_NO_NAMES, ((number, path, defines) for number, _, path, defines in told))
    db.execute("DELETE FROM chunks WHERE number BETWEEN ? AND ?", range_)
    module = module_id(path)
    defined = "SELECT to_id FROM edges WHERE from_id = ? AND edge_type = 'defines'"
    db.execute(f"DELETE FROM nodes WHERE id IN ({defined})", (module,))  # noqa: S608  # constants only
    db.execute("DELETE FROM edges WHERE from_id = ?", (module,))
    db.execute("DELETE FROM nodes WHERE id = ?", (module,))
    db.execute("DELETE FROM files WHERE number = ?", (number,))
