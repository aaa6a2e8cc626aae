"""What has changed in a project's code, read and taken into the database a batch at a time.

Owns: how much goes into one transaction, that imports are followed when all files are in, and that nothing new is taken
once the database is full.
Must not: know when it is done, or how fast.

A name may mean another file as soon as one comes or goes, so all imports are looked at again after a change of the files,
and what differs is written.

Blocking; for a worker thread. Imported when code is read for the first time: with it come seven languages' patterns.
Tests: tests/hub/io/graph/test_links.py
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import msgspec

from hub.domain.code.resolve import project
from hub.domain.code.table import language_of
from hub.domain.graph.vocabulary import OUTSIDE, EdgeType, GraphPart, import_part, module_id
from hub.io.graph.code_scan import Gone, Scanned, go_modules, scan
from hub.io.graph.facts import note, put, set_note
from hub.io.graph.files import LINKED, is_full, known, take
from hub.io.graph.store import GraphStore

_NAMES = "SELECT name FROM imports WHERE number = ?"
_BEFORE = "SELECT to_id FROM edges WHERE from_id = ? AND edge_type = ?"
_UNLINK = "DELETE FROM edges WHERE from_id = ? AND edge_type = ? AND to_id = ?"
_OUTSIDE = "SELECT id FROM nodes WHERE id >= ? AND id < ?"


def is_linked(db: sqlite3.Connection, go_modules: Mapping[str, str]) -> bool:
    """Whether the edges hold for the files as they are."""
    return note(db, LINKED) == _mark(go_modules)


def link(db: sqlite3.Connection, go_modules: Mapping[str, str], at: str) -> None:
    """Brings the edges up to date.

    Args:
        db: The database.
        go_modules: The name of each folder that is a Go module.
        at: The time that new nodes get.
    """
    files = db.execute("SELECT number, path FROM files").fetchall()
    there = project((path for _, path in files), go_modules)
    known = {row[0] for row in db.execute(_OUTSIDE, (OUTSIDE, OUTSIDE[:-1] + chr(ord(OUTSIDE[-1]) + 1)))}
    named: set[str] = set()
    for number, path in files:
        names = [row[0] for row in db.execute(_NAMES, (number,))]
        wanted = import_part(path, language_of(path) or "", names, there)
        ids = (module_id(path), EdgeType.IMPORTS.value)
        before = {row[0] for row in db.execute(_BEFORE, ids)}
        gone = before - {edge.to_id for edge in wanted.edges}
        db.executemany(_UNLINK, ((*ids, target) for target in gone))
        nodes = tuple(node for node in wanted.nodes if node.id not in known and node.id not in named)
        put(db, GraphPart(nodes, tuple(edge for edge in wanted.edges if edge.to_id not in before)), at)
        named |= {node.id for node in wanted.nodes}
    db.executemany("DELETE FROM nodes WHERE id = ?", ((number,) for number in known - named))
    set_note(db, LINKED, _mark(go_modules))


def _mark(go_modules: Mapping[str, str]) -> str:
    return msgspec.json.encode(dict(sorted(go_modules.items()))).decode("utf-8", "replace")


BATCH = 2 << 20
"""Bytes of code that go into one transaction: about a tenth of a second."""
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and bytes that are no UTF-8."""
_NEVER = (-1, -1)
"""A size and time that no file has."""
_GONE = 2000
"""Files that are taken out in one transaction, at most."""


@attrs.frozen
class Batch:
    """What goes into one transaction."""

    changed: list[Scanned]
    gone: list[str]
    is_last: bool


class Intake:
    """One reading of the project. What was taken is in, whatever becomes of the rest.

    Args:
        store: The database.
        root: The project's folder.
        paths: Its files, relative.
        scrub: Hides what is secret in a file's text and leaves lines where they are.
        at: The time the nodes get.
        anew: Whether what has not changed is read again too.

    Attributes:
        files: New or changed files that were taken in.
        bytes: Of those files.
        full: No file is taken any more that is not in already.
    """

    def __init__(
        self,
        store: GraphStore,
        root: Path,
        paths: Sequence[bytes],
        scrub: Callable[[str], str],
        at: str,
        *,
        anew: bool = False,
    ) -> None:
        self.files = self.bytes = 0
        self.full = store.read(is_full)
        self._store = store
        self._at = at
        self._before = store.read(known)
        wanted = (path for path in paths if not self.full or os.fsdecode(path) in self._before)
        self._go_modules = go_modules(root, paths)
        same = dict.fromkeys(self._before, _NEVER) if anew else self._before
        self._found = scan(root, same, wanted, scrub)

    def batch(self) -> bool:
        """Take in the next few files; whether there may be more.

        Raises:
            HubError: As `GraphStore.write`; this reading is over then.
            OSError: The project's folder is gone.
        """
        batch = _next(self._found)
        changed = batch.changed
        if self.full:
            changed = [file for file in changed if file.path in self._before]
        if changed or batch.gone:
            self._store.write(take, changed, batch.gone, self._at)
            self.full = self._store.read(is_full)
        self.files += len(changed)
        self.bytes += sum(file.size for file in changed)
        if batch.is_last and not self._store.read(is_linked, self._go_modules):
            self._store.write(link, self._go_modules, self._at)
        return not batch.is_last


def _next(found: Iterator[Scanned | Gone]) -> Batch:
    """So much of what was found as goes into one transaction; the last batch may be empty."""
    changed: list[Scanned] = []
    gone: list[str] = []
    size = 0
    for entry in found:
        if isinstance(entry, Gone):
            gone.append(entry.path)
        elif _storable(entry.path):
            changed.append(entry)
            size += entry.size
        if size >= BATCH or len(gone) >= _GONE:
            return Batch(changed, gone, is_last=False)
    return Batch(changed, gone, is_last=True)


def _storable(path: str) -> bool:
    """A database's text is UTF-8; a file whose name is not, or is no line of text, can be neither named nor asked for."""
    return _UNSTORABLE.search(path) is None
