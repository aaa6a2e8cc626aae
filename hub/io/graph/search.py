"""Retrieval: the chunks of code that answer a question best.

Owns: the order of what is found, and whether what the index says of a file still holds.
Must not: understand the question (`hub.domain.graph.terms` cuts it into words), or read a file.

Theory of operation. What holds every word comes first, ranked by bm25. Only when that is too little, chunks with some
of the words follow; a word that a large part of all chunks holds is then not looked for, for it would cost the most and
tell the least, and the rarest words come first where all of them together would be too many chunks to rank. Where more
chunks hold every word than are worth ranking, those come first that define it or are named by it. Tests weigh less than
what they test, unless the question asks for tests. Equal ranks are told apart by what agents have touched, then by what was
changed last.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path

import attrs

from hub.api.graph import Chunk
from hub.domain.code.mark import is_test
from hub.domain.graph.terms import all_of, any_of, loosened, phrase, terms
from hub.domain.graph.vocabulary import WEIGHT_OF_MARK, WEIGHT_OF_TEST, file_id

COMMON = 0.2
"""The part of all chunks beyond which a word is common."""
FEW = 500
"""Below so many chunks no word is common."""
CROWD = 250
"""Chunks with every word that are ranked, at most: each costs some microseconds, and a word of so many tells little."""
SOME = 5_000
"""Chunks with some of the words that are ranked, at most: some ten milliseconds."""
_TESTS = frozenset({"test", "tests", "testing", "tested", "spec", "specs"})
_LEAST = 1e-9
_DEEPER = 3
"""How many times the wanted number is ranked: what bm25 puts nearly level is put in order by what else is known."""
_BY_TEXT = """
SELECT rowid, score FROM (
    SELECT rowid, bm25(chunks_text, 1.0, 2.0, 3.0) AS score FROM chunks_text WHERE chunks_text MATCH ? LIMIT ?
) ORDER BY score LIMIT ?
"""
_BY_NAME = """
SELECT rowid, score FROM (
    SELECT rowid, bm25(chunks_names, 2.0, 3.0) AS score FROM chunks_names WHERE chunks_names MATCH ? LIMIT ?
) ORDER BY score LIMIT ?
"""
_SEEN_IN = "SELECT count(*) FROM (SELECT 1 FROM chunks_text WHERE chunks_text MATCH ? LIMIT ?)"
_KNOWN = """
SELECT value, files.path, mark, mtime_ns, coalesce((SELECT weight FROM nodes WHERE nodes.id = ? || files.path), 0)
FROM json_each(?) JOIN files ON files.number = value >> 12
"""
_ROWS = """
SELECT chunks.number, chunks.id, chunks.path, lang, startLine, endLine, body, sha, dim, mark, mtime_ns, size
FROM json_each(?) JOIN chunks ON chunks.number = value JOIN files ON files.number = value >> 12
"""
_NAMES = ("id", "path", "lang", "start_line", "end_line", "body", "sha", "dim", "mark")


@attrs.define
class _Hit:
    """A chunk that was found."""

    number: int
    place: tuple[float, float, float]
    """The best is the least."""
    touches: float


def search(db: sqlite3.Connection, root: Path, question: str, limit: int) -> list[Chunk]:
    """At most `limit` chunks, the best first; those are stale whose file is not as it was when it was read."""
    wanted = terms(question)
    if not wanted:
        return []
    of_test = 1.0 if any(not _TESTS.isdisjoint(words) for words in wanted) else WEIGHT_OF_TEST
    found = _with_all(db, all_of(wanted), limit, of_test)
    if len(found) < limit:
        seen = {hit.number for hit in found}
        telling = _telling(db, loosened(wanted))
        if telling and any_of(telling) != all_of(wanted):
            more = _ranked(db, _BY_TEXT, any_of(telling), limit + len(seen), SOME, of_test=of_test)
            found += [hit for hit in more if hit.number not in seen]
    return _chunks(db, f"{root}/", found[:limit])


def _with_all(db: sqlite3.Connection, query: str, limit: int, of_test: float) -> list[_Hit]:
    if db.execute(_SEEN_IN, (query, CROWD + 1)).fetchone()[0] <= CROWD:
        return _ranked(db, _BY_TEXT, query, limit, CROWD, of_test=of_test)
    first = _ranked(db, _BY_NAME, query, limit, CROWD, of_test=of_test)
    if len(first) >= limit:
        return first
    seen = {hit.number for hit in first}
    more = _ranked(db, _BY_TEXT, query, limit + len(seen), CROWD, of_test=of_test)
    return first + [hit for hit in more if hit.number not in seen]


def _telling(db: sqlite3.Connection, wanted: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The terms that are not common, the rarest first, as many as `SOME` chunks can hold."""
    total = db.execute("SELECT count(*) FROM chunks").fetchone()[0]
    cap = min(max(FEW, int(total * COMMON)), SOME)
    seen_in = {words: db.execute(_SEEN_IN, (phrase(words), cap + 1)).fetchone()[0] for words in wanted}
    rarest = sorted((words for words in seen_in if seen_in[words] <= cap), key=seen_in.__getitem__)
    sums = accumulate(seen_in[words] for words in rarest)
    return [words for words, so_far in zip(rarest, sums, strict=True) if so_far <= SOME]


def _ranked(
    db: sqlite3.Connection, match: str, query: str, limit: int, most: int, *, of_test: float
) -> list[_Hit]:
    """The best of the first `most` chunks that are found; a test's rank counts `of_test` as much.

    Where what weighs less stands first, all that comes soon after it is weighed too: it may be better than that.
    """
    found = db.execute(match, (query, most, max(limit * _DEEPER, CROWD))).fetchall()
    hits = _weighed(db, dict(found[: limit * _DEEPER]), of_test)
    if len(found) > limit * _DEEPER:
        next_best = _place(found[limit * _DEEPER][1], "", 0, 0.0)
        if sum(hit.place[:1] <= next_best[:1] for hit in hits) < limit:
            hits = _weighed(db, dict(found), of_test)
    return sorted(hits, key=lambda hit: hit.place)


def _weighed(db: sqlite3.Connection, scores: Mapping[int, float], of_test: float) -> list[_Hit]:
    known = db.execute(_KNOWN, (file_id(""), json.dumps([*scores]))).fetchall()
    return [
        _Hit(number, _place(scores[number] * (of_test if is_test(path) else 1.0), *rest), rest[-1])
        for number, path, *rest in known
    ]


def _place(score: float, mark: str, mtime_ns: int, touches: float) -> tuple[float, float, float]:
    """What is not the project's own weighs less; ranks within a hundredth count as equal."""
    weight = max(-score, _LEAST) * WEIGHT_OF_MARK.get(mark or None, 1.0)
    return (
        -round(math.log(weight), 2),
        -touches,
        -(mtime_ns or math.inf),
    )  # 0 = changed just before it was read


def _chunks(db: sqlite3.Connection, root: str, hits: list[_Hit]) -> list[Chunk]:
    touches = {hit.number: hit.touches for hit in hits}
    found = {}
    for number, *row, mtime_ns, size in db.execute(_ROWS, (json.dumps([*touches]),)):
        told = dict(zip(_NAMES, row, strict=True))
        stale = _stale(root + told["path"], size, mtime_ns)
        found[number] = Chunk(**told, touches=touches[number], stale=stale)
    return [found[number] for number in touches]


def _stale(path: str, size: int, mtime_ns: int) -> bool:
    try:
        now = os.lstat(path)
    except OSError:
        return True
    # A file that was read while it was still young has no time to compare.
    return now.st_size != size or mtime_ns not in {0, now.st_mtime_ns}
