"""Nodes and edges as rows.

Owns: how parts of the graph are put in and taken out, how many nodes are kept of agents' doings, and the views on both.
Must not: decide what is a node, or touch code's chunks (`files` does).

Each function takes the connection first: see `hub.io.graph.store`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import attrs
import msgspec

from hub.api.graph import Detail, GraphEdge, GraphNode
from hub.domain.graph.vocabulary import GraphPart

MAX_TOLD = 20_000
"""Nodes of agents' doings that are kept; the oldest give way, a tenth at a time."""
_UPSERT = """
INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
    payload = json_patch(payload, excluded.payload),
    weight = weight + excluded.weight,
    session_id = excluded.session_id,
    updated_at = excluded.updated_at
"""
_LINK = """
INSERT INTO edges VALUES (?, ?, ?, ?) ON CONFLICT (from_id, edge_type, to_id) DO UPDATE SET weight = weight + excluded.weight
"""
_OLDEST = """
SELECT id FROM nodes WHERE session_id <> ''
    AND (session_id NOT IN (SELECT value FROM json_each(?1)) OR node_type = 'tool_use')
ORDER BY updated_at, rowid LIMIT ?2
"""
_OF_SESSION = """
SELECT node_type, payload FROM nodes WHERE session_id = ?1 AND session_id <> ''
    AND node_type IN (SELECT value FROM json_each(?2))
"""
_TOLD = "SELECT count(*) FROM nodes WHERE session_id <> ''"
_COUNTS = """
SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM edges),
    (SELECT count(*) FROM files), (SELECT count(*) FROM chunks)
"""
_NODE = ("id", "node_type", "payload", "session_id", "weight", "created_at", "updated_at")
_EDGE = ("from_id", "to_id", "edge_type", "weight")
_encode = msgspec.json.encode
_decode = msgspec.json.decode


@attrs.frozen
class GraphCounts:
    """How much there is."""

    nodes: int
    edges: int
    files: int
    chunks: int


def absorb(
    db: sqlite3.Connection,
    parts: Iterable[tuple[str, GraphPart]],
    notes: Iterable[tuple[str, str]],
    keep: int = MAX_TOLD,
    sessions: Sequence[str] = (),
) -> None:
    """Puts parts in, each with its time, and notes beside them: how far the log was read stands or falls with it.

    Args:
        db: The database.
        parts: Each with its time.
        notes: Values and their names.
        keep: Nodes of agents' doings, at most; but of the sessions under way only tool calls give way.
        sessions: Those sessions.
    """
    for at, part in parts:
        if part.gone:
            _remove(db, part.gone)
        if part.nodes or part.edges:
            put(db, part, at)
    for name, value in notes:
        set_note(db, name, value)
    told = db.execute(_TOLD).fetchone()[0]
    if told > keep:
        oldest = db.execute(_OLDEST, (_encode(sessions).decode(), told - keep + keep // 10)).fetchall()
        _remove(db, [row[0] for row in oldest])


def put(db: sqlite3.Connection, part: GraphPart, at: str) -> None:
    """Puts one part's nodes and edges in."""
    nodes = (
        (n.id, n.type.value, _encode(n.payload).decode(), n.session_id, n.weight, at, at) for n in part.nodes
    )
    db.executemany(_UPSERT, nodes)
    db.executemany(_LINK, ((e.from_id, e.type.value, e.to_id, e.weight) for e in part.edges))


def _remove(db: sqlite3.Connection, ids: Sequence[str]) -> None:
    for statement in (
        "DELETE FROM edges WHERE from_id = ?",
        "DELETE FROM edges WHERE to_id = ? AND edge_type <> 'defines'",
        "DELETE FROM nodes WHERE id = ?",
    ):
        db.executemany(statement, ((number,) for number in ids))


def set_note(db: sqlite3.Connection, name: str, value: str) -> None:
    """Remembers a value under a name."""
    db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, value))


def note(db: sqlite3.Connection, name: str) -> str:
    """What was remembered under the name; "" when nothing was."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row else ""


def counts(db: sqlite3.Connection) -> GraphCounts:
    """How many rows each table has."""
    return GraphCounts(*db.execute(_COUNTS).fetchone())


def detail(db: sqlite3.Connection, limit: int, node_type: str = "", session_id: str = "") -> Detail:
    """The nodes that changed last, newest first, and the edges between them.

    Args:
        db: The database.
        limit: Of nodes; there may be four times as many edges.
        node_type: Only nodes of this type; "" = of all.
        session_id: Only nodes of this session; "" = of all and of none.
    """
    rows = db.execute(
        "SELECT id, node_type, payload, session_id, weight, created_at, updated_at FROM nodes "
        "WHERE (?1 = '' OR node_type = ?1) AND (?2 = '' OR session_id = ?2) ORDER BY updated_at DESC, rowid DESC LIMIT ?3",
        (node_type, session_id, limit),
    ).fetchall()
    names = _encode([row[0] for row in rows]).decode()
    edges = db.execute(
        "SELECT from_id, to_id, edge_type, weight FROM edges WHERE from_id IN (SELECT value FROM json_each(?1)) "
        "AND to_id IN (SELECT value FROM json_each(?1)) LIMIT ?2",
        (names, 4 * limit),
    ).fetchall()
    return Detail(
        nodes=[_node(row) for row in rows],
        edges=[GraphEdge(**dict(zip(_EDGE, row, strict=True))) for row in edges],
    )


def of_session(
    db: sqlite3.Connection, session_id: str, types: Iterable[str]
) -> list[tuple[str, dict[str, object]]]:
    """Type and payload of a session's nodes of these types, in no order."""
    rows = db.execute(_OF_SESSION, (session_id, _encode([*types]).decode())).fetchall()
    return [(kind, _decode(payload)) for kind, payload in rows]


def _node(row: tuple[Any, ...]) -> GraphNode:
    told = dict(zip(_NODE, row, strict=True))
    return GraphNode(**{**told, "payload": _decode(told["payload"])})
