"""Which modules import which: the edges that hang on what other files there are.

Owns: that these edges say of every file what its imports mean now.
Must not: read a file, or know how a language finds its modules (`hub.domain.code.resolve` does).

A name may mean another file as soon as one comes or goes, so all of them are looked at again after a change of the files.
Only what differs is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import msgspec

from hub.domain.code import language_of
from hub.domain.code.resolve import project
from hub.domain.graph.vocabulary import OUTSIDE, EdgeType, GraphPart, import_part, module_id
from hub.io.graph.facts import note, put, set_note
from hub.io.graph.files import LINKED

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
