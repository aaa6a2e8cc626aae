"""Many rows by few statements."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from hub.io.graph.bulk import insert


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7])
def test_every_row_is_written_once_and_in_order_however_many_a_statement_holds(rows):
    """SQLite takes so many values in one statement, 999 in an old one: a file of ten thousand symbols has more."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 5)
        db.execute("CREATE TABLE t (number INTEGER PRIMARY KEY, name TEXT)")
        wanted = [(number, f"n{number}" if number % 2 else None) for number in range(rows)]
        insert(db, "INSERT INTO t {}", 2, [value for row in wanted for value in row])
        assert db.execute("SELECT * FROM t ORDER BY rowid").fetchall() == wanted
