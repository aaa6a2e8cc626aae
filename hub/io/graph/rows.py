"""What files of code become: the values that the database is given, and the words that its full-text indexes are told.

Owns: the numbers of files and chunks, and the shape of each row.
Must not: know the database: this is done while another thread writes to it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from functools import lru_cache

import attrs

from hub.domain.graph.terms import spaced
from hub.domain.graph.vocabulary import code_part
from hub.io.graph.code_scan import Scanned
from hub.io.graph.facts import edge_rows, node_rows

BITS = 12
ROOM = 1 << BITS
"""Chunks of one file, at most: a chunk's number is its file's number and its place in the file."""


@attrs.define
class TableRows:
    """Of some files the values for each table, one row after the other."""

    paths: list[str] = attrs.Factory(list)
    files: list[object] = attrs.Factory(list)
    nodes: list[object] = attrs.Factory(list)
    edges: list[object] = attrs.Factory(list)
    imports: list[object] = attrs.Factory(list)
    chunks: list[object] = attrs.Factory(list)
    words: list[object] = attrs.Factory(list)
    """As `words` has them."""
    names: list[object] = attrs.Factory(list)
    """The same without the body."""


def rows(files: Iterable[Scanned], first: int, at: str) -> TableRows:
    """The rows of some files.

    Args:
        files: As they were read.
        first: From here on all numbers of files are free.
        at: The time their nodes get.
    """
    made = TableRows()
    for number, file in enumerate(files, first):
        part = code_part(file.path, file.language, file.mark, file.symbols)
        made.paths.append(file.path)
        made.files += (number, file.path, file.size, file.mtime_ns, file.mark or "")
        made.nodes += node_rows(part, at)
        made.edges += edge_rows(part)
        for name in file.imports:
            made.imports += (number, name)
        _add_chunks(made, file, number)
    return made


def words(number: int, path: str, body: str, defines: str) -> tuple[int, str, str, str]:
    """What the full-text indexes are told of a chunk: its number, its body, its path, what it defines.

    On the way in and, word for word, on the way out. So a change of this is a new version of the database:
    `hub.io.graph.schema.VERSION`.
    """
    return number, spaced(body), _spaced_path(path), spaced(defines)


def _add_chunks(made: TableRows, file: Scanned, number: int) -> None:
    lines_of = [symbol.line for symbol in file.symbols]
    names = [symbol.name for symbol in file.symbols]
    for place, chunk in enumerate(file.chunks[:ROOM], number << BITS):
        start, end, body = chunk.start_line, chunk.end_line, chunk.body
        defines = " ".join(names[bisect_left(lines_of, start) : bisect_right(lines_of, end)])
        digest = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()
        called = (f"{file.path}:{start}-{end}", file.path, file.language or "")
        made.chunks += (place, *called, start, end, body, defines, digest, None, 0)
        told = words(place, file.path, body, defines)
        made.words += told
        made.names += (told[0], told[2], told[3])


@lru_cache(maxsize=1)
def _spaced_path(path: str) -> str:
    """All chunks of a file come one after the other."""
    return spaced(path)
