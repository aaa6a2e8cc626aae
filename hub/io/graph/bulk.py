"""Many rows written by few calls.

Owns: how many rows one statement holds.
Must not: know a table, or begin a transaction.

`executemany` gives up the interpreter for each row and asks for it again: beside a thread that computes, every row then
waits for its turn. A statement of many rows gives it up once, so that SQLite and the other thread go on together.

A statement is kept, with the values it was given last, by the connection. So there are few of them and they are small.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_ROWS = 64
"""Of one statement, at most."""


def insert(db: sqlite3.Connection, statement: str, width: int, values: Sequence[object]) -> None:
    """Writes the rows, in order.

    Args:
        db: The database.
        statement: With `{}` where the rows go, as in `INSERT INTO files VALUES {}`.
        width: Of a row.
        values: Of all rows, one row after the other.
    """
    row = f"({', '.join('?' * width)})"
    start, rows = 0, min(_ROWS, db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width)
    while left := (len(values) - start) // width:
        while rows > left:
            rows //= 2  # only so many statements there are for a table, whatever is written
        end = start + rows * width
        db.execute(statement.format(", ".join([row] * rows)), values[start:end])
        start = end
