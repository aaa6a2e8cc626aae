"""Files of code as rows: their modules, symbols and chunks, and the full-text index over the chunks.

Owns: what is kept of a file, that all of it changes together, and how much code is kept at all.
Must not: read the files, or know how they are found.

Each function takes the connection first: see `hub.io.graph.store`.
"""

from __future__ import annotations

import hashlib
import sqlite3
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from hub.domain.graph.terms import spaced
from hub.domain.graph.vocabulary import Part, Symbol, code_part, module_id
from hub.io.graph.facts import put, set_note

MAX_CHUNKS = 250_000
"""Chunks that are kept, of all files: some 450 MB of code."""
LINKED = "linked"
"""The note of what the `imports` edges hold for (`links`); "" = the files have changed since."""
_BITS = 12
_ROOM = 1 << _BITS
"""Chunks of one file, at most."""
_CHUNK = "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, 0)"
_TEXT = "INSERT INTO chunks_text (rowid, body, path, defines) VALUES (?, ?, ?, ?)"
_Row = tuple[int, str, str, str, int, int, str, str, str]
_NO_TEXT = "INSERT INTO chunks_text (chunks_text, rowid, body, path, defines) VALUES ('delete', ?, ?, ?, ?)"


class Chunk(Protocol):
    """Some lines of a file (`hub.domain.code.Chunk`)."""

    @property
    def start_line(self) -> int:
        """From 1."""

    @property
    def end_line(self) -> int:
        """Included."""

    @property
    def body(self) -> str:
        """The lines."""


class CodeFile(Protocol):
    """A file that was scanned (`hub.io.code_scan.Scanned`)."""

    @property
    def path(self) -> str:
        """Relative to the project, with slashes."""

    @property
    def size(self) -> int:
        """Bytes."""

    @property
    def mtime_ns(self) -> int:
        """When it was changed last."""

    @property
    def language(self) -> str | None:
        """None = none that is known."""

    @property
    def mark(self) -> str | None:
        """`generated`, `vendored` or None."""

    @property
    def symbols(self) -> Sequence[Symbol]:
        """At its top level, in the order of their lines."""

    @property
    def imports(self) -> Sequence[str]:
        """The names it imports, each once."""

    @property
    def chunks(self) -> Sequence[Chunk]:
        """All of its lines, in order."""


def known(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Size and time of every file that is in, by path."""
    return {path: (size, mtime) for path, size, mtime in db.execute("SELECT path, size, mtime_ns FROM files")}


def take(db: sqlite3.Connection, changed: Sequence[CodeFile], gone: Sequence[str], at: str) -> None:
    """Puts changed files in the place of what was known of them, and takes out those that are gone."""
    for path in gone:
        _forget(db, path)
    parts: list[Part] = []
    chunks: list[_Row] = []
    imports: list[tuple[int, str]] = []
    for file in changed:
        number = _forget(db, file.path)
        row = (number, file.path, file.size, file.mtime_ns, file.mark or "")
        number = db.execute("INSERT INTO files VALUES (?, ?, ?, ?, ?)", row).lastrowid or 0
        parts.append(code_part(file.path, file.language, file.mark, file.symbols))
        chunks += _chunks(file, number)
        imports += ((number, name) for name in file.imports)
    nodes = tuple(node for part in parts for node in part.nodes)
    put(db, Part(nodes, tuple(edge for part in parts for edge in part.edges)), at)
    db.executemany("INSERT INTO imports VALUES (?, ?)", imports)
    set_note(db, LINKED, "")
    db.executemany(_CHUNK, chunks)
    db.executemany(_TEXT, (_indexed(row[0], row[2], row[6], row[7]) for row in chunks))


def is_full(db: sqlite3.Connection, limit: int = MAX_CHUNKS) -> bool:
    """Whether no more code is taken."""
    return bool(db.execute("SELECT count(*) >= ? FROM chunks", (limit,)).fetchone()[0])


def _chunks(file: CodeFile, number: int) -> Iterator[_Row]:
    lines_of = [symbol.line for symbol in file.symbols]
    for place, chunk in enumerate(file.chunks[:_ROOM]):
        first, last = bisect_left(lines_of, chunk.start_line), bisect_right(lines_of, chunk.end_line)
        inside = (symbol.name for symbol in file.symbols[first:last])
        digest = hashlib.sha256(chunk.body.encode("utf-8", "replace")).hexdigest()
        name = f"{file.path}:{chunk.start_line}-{chunk.end_line}"
        lines = (chunk.start_line, chunk.end_line)
        yield (
            number << _BITS | place,
            name,
            file.path,
            file.language or "",
            *lines,
            chunk.body,
            " ".join(inside),
            digest,
        )


def _indexed(number: int, path: str, body: str, defines: str) -> tuple[int, str, str, str]:
    """What the full-text index is told of a chunk: on the way in and, word for word, on the way out.

    So a change of this is a new version of the database: `hub.io.graph.schema.WITHOUT_CODE`.
    """
    return number, spaced(body), _spaced_path(path), spaced(defines)


@lru_cache(maxsize=1)
def _spaced_path(path: str) -> str:
    """All chunks of a file come one after the other."""
    return spaced(path)


def _forget(db: sqlite3.Connection, path: str) -> int | None:
    """Takes out all that is known of a file; answers the number it had."""
    row = db.execute("SELECT number FROM files WHERE path = ?", (path,)).fetchone()
    if row is None:
        return None
    number = int(row[0])
    range_ = (number << _BITS, (number << _BITS) + _ROOM - 1)
    found = db.execute(
        "SELECT number, path, body, defines FROM chunks WHERE number BETWEEN ? AND ?", range_
    ).fetchall()
    db.executemany(_NO_TEXT, (_indexed(*chunk) for chunk in found))
    db.execute("DELETE FROM chunks WHERE number BETWEEN ? AND ?", range_)
    module = module_id(path)
    defined = "SELECT to_id FROM edges WHERE from_id = ? AND edge_type = 'defines'"
    db.execute(f"DELETE FROM nodes WHERE id IN ({defined})", (module,))  # noqa: S608  # constants only
    db.execute("DELETE FROM edges WHERE from_id = ?", (module,))
    db.execute("DELETE FROM nodes WHERE id = ?", (module,))
    db.execute("DELETE FROM files WHERE number = ?", (number,))
    return number
