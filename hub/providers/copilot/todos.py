"""The list of tasks that Copilot keeps in a database of its session, by statements of its own.

Owns: the tables it has, and what they hold after a statement.
Must not: give a statement anything beyond these tables. It is a model's words: it reaches no file, calls nothing, and
ends soon.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator

MAX_QUERY = 64 * 1024
_MAX_STEPS = 1_000_000
"""Instructions of the database's machine, for one statement."""
_MAX_ROWS = 2_000
_TABLES = ("todos", "todo_deps")
_SCHEMA = """
CREATE TABLE todos (id TEXT PRIMARY KEY, title TEXT, description TEXT, status TEXT DEFAULT 'pending',
 created_at TEXT, updated_at TEXT);
CREATE TABLE todo_deps (todo_id TEXT, depends_on TEXT);
"""
_TABLE_DEEDS = frozenset(
    {sqlite3.SQLITE_READ, sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
)
_FUNCTIONS = frozenset(
    {"datetime", "date", "time", "strftime", "current_timestamp", "lower", "upper", "coalesce", "like"}
)


class Todos:
    """The list as of the last statement."""

    def __init__(self) -> None:
        self._database: sqlite3.Connection | None = None
        self._waiting: dict[str, str] = {}

    def asked(self, call: str, query: str) -> None:
        """A statement whose call has not ended."""
        if "todos" in query and len(query) <= MAX_QUERY:
            self._waiting[call] = query

    def ended(self, call: str, *, failed: bool) -> list[tuple[str, str]] | None:
        """The steps with their states after the statement of this call; None where it changed nothing."""
        query = self._waiting.pop(call, "")
        if not query or failed:
            return None
        database = self._open()
        before = database.total_changes
        for statement in _statements(query):
            try:
                database.execute(statement).fetchmany(_MAX_ROWS)
            except (
                sqlite3.Error
            ):  # Copilot's own tables may differ: what cannot be done here is not known here
                continue
        if database.total_changes == before:
            return None
        rows = database.execute("SELECT title, status FROM todos ORDER BY rowid").fetchmany(_MAX_ROWS)
        return [(str(title), str(status)) for title, status in rows if title]

    def _open(self) -> sqlite3.Connection:
        if self._database is None:
            self._database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            weakref.finalize(self, self._database.close)  # a list of steps has no end that anybody tells
            self._database.executescript(_SCHEMA)
            self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * MAX_QUERY)
            self._database.set_progress_handler(lambda: 1, _MAX_STEPS)
            self._database.set_authorizer(_allowed)
        return self._database


def _allowed(deed: int, what: str | None, _column: str | None, _schema: str | None, _by: str | None) -> int:
    fits = deed == sqlite3.SQLITE_SELECT or (deed in _TABLE_DEEDS and what in _TABLES)
    if deed == sqlite3.SQLITE_FUNCTION:  # its name is the second thing told
        fits = (_column or "").lower() in _FUNCTIONS
    return sqlite3.SQLITE_OK if fits else sqlite3.SQLITE_DENY


def _statements(query: str) -> Iterator[str]:
    """Each by itself: one that fails takes no other with it."""
    statement = ""
    for part in query.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
