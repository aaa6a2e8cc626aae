"""Many rows written by few calls.

Owns: how many rows one statement holds.
Must not: know a table, or begin a transaction.

`executemany` gives up the interpreter for each row and asks for it again: beside a thread that computes, every row then
waits for its turn. A statement of some thousand rows gives it up once, so that SQLite and the other thread go on together.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

_MOST = 32_766
"""Values in one statement, for all of them are kept until it ends; SQLite's own limit may be lower."""


def insert(db: sqlite3.Connection, statement: str, width: int, values: Sequence[object]) -> None:
    """Writes the rows, in order.

    Args:
        db: The database.
        statement: With `{}` where the rows go, as in `INSERT INTO files VALUES {}`.
        width: Of a row.
        values: Of all rows, one row after the other.
    """
    most = min(_MOST, db.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)) // width * width
    row = f"({', '.join('?' * width)})"
    for start in range(0, len(values), most):
        part = values[start : start + most]
        db.execute(statement.format(", ".join([row] * (len(part) // width))), part)
