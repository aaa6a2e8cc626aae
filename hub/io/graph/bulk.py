"""Many rows written by few calls.

Owns: how many rows one statement holds.
Must not: know a table, or begin a transaction.

`executemany` gives up the interpreter for each row and asks for it again: beside a thread that computes, every row then
waits for its turn. A statement of many rows gives it up once, so that SQLite and the other thread go on together.

A statement is kept, with the values it was given last, by the connection. So there are few of them and they are small:
the last one is given empty rows up to the next power of two, and not each power by itself, for a full-text index makes a
piece of every statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_VALUES = 1024
"""In one statement: of more, SQLite's copies are no longer in the processor's own memory when it comes to them."""
_INDEXED = 4096
"""In one statement for a full-text index, which makes a piece of each that has to be merged with the others some day."""


def insert(
    db: sqlite3.Connection, statement: str, width: int, values: Sequence[object], *, indexed: bool = False
) -> None:
    """Writes the rows, in order.

    Args:
        db: The database.
        statement: With `{}` where the rows go, as in `INSERT INTO files {}`.
        width: Of a row, whose first value is never None.
        values: Of all rows, one row after the other.
        indexed: They go into a full-text index.
    """
    most = min(_INDEXED if indexed else _VALUES, db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER))
    start, rows = 0, most // width
    while (left := (len(values) - start) // width) > 0:
        while rows // 2 >= left:
            rows //= 2  # only so many statements there are for a table, whatever is written
        end = start + rows * width
        some = values[start:end]
        db.execute(_filled(statement, width, rows), [*some, *[None] * (rows * width - len(some))])
        start = end


def _filled(statement: str, width: int, rows: int) -> str:
    """The statement for so many rows, of which the empty ones are passed over."""
    places = ", ".join([f"({', '.join('?' * width)})"] * rows)
    return statement.format(f"SELECT * FROM (VALUES {places}) WHERE column1 IS NOT NULL")  # noqa: S608  # question marks
