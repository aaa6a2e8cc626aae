"""Retrieval: the chunks of code that answer a question best.

Owns: the order of what is found.
Must not: understand the question (`hub.domain.search_terms` cuts it into words), or read a file.

Theory of operation. What holds every word comes first, ranked by bm25. Only when that is too little, chunks with some
of the words follow; a word that a large part of all chunks holds is then not looked for, for it would cost the most and
tell the least. Equal ranks are told apart by what agents have touched, then by what was changed last.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable
from typing import Any

from hub.domain.graph import WEIGHT_OF_MARK, file_id
from hub.domain.search_terms import all_of, any_of, loosened, phrase, terms

COMMON = 0.2
"""The part of all chunks beyond which a word is common."""
FEW = 500
"""Below so many chunks no word is common."""
_LEAST = 1e-9
_DEEPER = 3
"""How many times the wanted number is ranked: what bm25 puts nearly level is put in order by what else is known."""
_MATCH = """
SELECT rowid, bm25(chunks_text, 1.0, 2.0, 3.0) AS score FROM chunks_text WHERE chunks_text MATCH ? ORDER BY score LIMIT ?
"""
_SEEN_IN = "SELECT count(*) FROM (SELECT 1 FROM chunks_text WHERE chunks_text MATCH ? LIMIT ?)"
_ROW = """
SELECT chunks.id, chunks.path, lang, startLine, endLine, body, sha, dim, mark, mtime_ns,
    coalesce((SELECT weight FROM nodes WHERE nodes.id = ?), 0), size
FROM chunks JOIN files ON files.number = chunks.number >> 12 WHERE chunks.number = ?
"""


def search(db: sqlite3.Connection, question: str, limit: int) -> list[dict[str, Any]]:
    """At most `limit` chunks, the best first: the specification's fields, and `Touches`, `Size` and `MtimeNs`."""
    wanted = terms(question)
    if not wanted:
        return []
    found = _ranked(db, all_of(wanted), limit)
    if len(found) < limit:
        seen = {chunk["ID"] for chunk in found}
        telling = _telling(db, loosened(wanted))
        if telling and tuple(telling) != wanted[:1]:
            found += [
                chunk for chunk in _ranked(db, any_of(telling), limit + len(seen)) if chunk["ID"] not in seen
            ]
    return found[:limit]


def _telling(db: sqlite3.Connection, wanted: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    total = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    cap = max(FEW, int(total * COMMON))
    return [words for words in wanted if db.execute(_SEEN_IN, (phrase(words), cap + 1)).fetchone()[0] <= cap]


def _ranked(db: sqlite3.Connection, query: str, limit: int) -> list[dict[str, Any]]:
    rows = db.execute(_MATCH, (query, limit * _DEEPER)).fetchall()
    chunks = [(score, _chunk(db, number)) for number, score in rows]
    return [chunk for _, chunk in sorted(chunks, key=lambda pair: _place(*pair))]


def _chunk(db: sqlite3.Connection, number: int) -> dict[str, Any]:
    path = db.execute("SELECT path FROM chunks WHERE number = ?", (number,)).fetchone()[0]
    row = db.execute(_ROW, (file_id(path), number)).fetchone()
    names = (
        "ID",
        "Path",
        "Lang",
        "StartLine",
        "EndLine",
        "Body",
        "SHA",
        "Dim",
        "Mark",
        "MtimeNs",
        "Touches",
        "Size",
    )
    return dict(zip(names, row, strict=True))


def _place(score: float, chunk: dict[str, Any]) -> tuple[float, float, float]:
    """The best is the least. What is not the project's own weighs less; ranks within a hundredth count as equal."""
    weight = max(-score, _LEAST) * WEIGHT_OF_MARK.get(chunk["Mark"] or None, 1.0)
    return -round(math.log(weight), 2), -chunk["Touches"], -(chunk["MtimeNs"] or math.inf)  # 0 = just changed
