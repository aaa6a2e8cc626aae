"""What an agent's store looked like at each moment, in few bytes.

Owns: the copies of a store's files, told as growing texts: each file as lines, each moment as a window of them.
Must not: know any one agent.

A file that only grows is kept once. One that is written anew has its versions one after the other. A database is a
script of statements that only grows: a row that changed is put in again.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import attrs

TABLES = ("session", "message", "part", "todo")


@attrs.frozen
class Moment:
    """How far everything had come: lines of output, and of each file from where to where."""

    lines: int
    files: dict[str, tuple[int, int]]


@attrs.define
class Keeper:
    """Copies of what the patterns fit below `root`."""

    root: Path
    patterns: Sequence[str]
    texts: dict[str, list[str]] = attrs.field(factory=dict)
    moments: list[Moment] = attrs.field(factory=list)
    _rows: dict[str, dict[str, str]] = attrs.field(factory=dict)

    def moment(self, lines: int) -> None:
        """Takes the store as it is."""
        files = {}
        for path in sorted(found for pattern in self.patterns for found in self.root.glob(pattern)):
            name = str(path.relative_to(self.root))
            if path.suffix == ".db":
                name += ".sql"
                text = self.texts.setdefault(name, [])
                text.extend(self._changes(name, path))
                files[name] = (0, len(text))
            else:
                files[name] = self._window(name, path.read_text().splitlines())
        self.moments.append(Moment(lines, files))

    def _window(self, name: str, now: list[str]) -> tuple[int, int]:
        text = self.texts.setdefault(name, [])
        start = self.moments[-1].files.get(name, (0, 0))[0] if self.moments else 0
        if text[start:] != now[: len(text) - start]:
            start = len(text)
        text.extend(now[len(text) - start :])
        return start, len(text)

    def _changes(self, name: str, path: Path) -> Iterator[str]:
        """The statements that make the newest state of the database out of the one before."""
        with tempfile.TemporaryDirectory() as folder:
            for part in path.parent.glob(f"{path.name}*"):
                shutil.copy(part, folder)
            with closing(sqlite3.connect(Path(folder) / path.name)) as database:
                now = dict(_statements(database))
        before = self._rows.get(name, {})
        for key in before.keys() - now.keys():
            yield key
        for key, statement in now.items():
            if before.get(key) != statement:
                yield statement
        self._rows[name] = now


def _statements(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """For each table and row: the statement that removes it, and the one that makes it."""
    for table in TABLES:
        for (sql,) in database.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)):
            yield f"DROP TABLE `{table}`;", " ".join(sql.split()) + ";"
        columns = database.execute(f"PRAGMA table_info(`{table}`)").fetchall()
        keys = [column[1] for column in columns if column[5]]
        quoted = ", ".join(f"quote(`{column[1]}`)" for column in columns)
        for row in database.execute(f"SELECT {quoted} FROM `{table}`"):
            value = dict(zip((column[1] for column in columns), row, strict=True))
            where = " AND ".join(f"`{key}` = {value[key]}" for key in keys)
            yield (
                f"DELETE FROM `{table}` WHERE {where};",
                f"INSERT OR REPLACE INTO `{table}` VALUES ({', '.join(row)});",
            )
