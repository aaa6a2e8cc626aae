"""No test leaves anything to the next one: no socket, file or database open to the garbage collector, no other umask.

Owns: the look at what a test has left open, and that what nobody holds any more is told of there and then.
Must not: close anything: a test that forgets something fails.

The collector comes when it likes: what one test left would otherwise fail another one, minutes later.
"""

from __future__ import annotations

import gc
import os
import sqlite3
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count
from typing import Any
from weakref import WeakSet

import pytest


class _Database(sqlite3.Connection):
    """One that is known while it is open; one in memory has no file."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.number = next(_numbers)
        _databases.add(self)

    if sys.version_info < (3, 13):  # later ones tell it themselves

        def __del__(self) -> None:
            if _is_open(self):
                warnings.warn(f"unclosed database in {self!r}", ResourceWarning, stacklevel=1, source=self)


_databases: WeakSet[_Database] = WeakSet()
_numbers = count()
sqlite3.connect = partial(sqlite3.connect, factory=_Database)  # type: ignore[assignment]  # one that names a factory keeps it


def _is_open(database: sqlite3.Connection) -> bool:
    try:
        return database.total_changes >= 0
    except sqlite3.ProgrammingError:
        return False


def open_things() -> set[object]:
    """What this process has open: each file and socket with its number, and the databases."""
    found: set[object] = {database.number for database in _databases if _is_open(database)}
    for number in os.listdir("/proc/self/fd"):  # noqa: PTH208  # of every test, and pathlib takes thrice as long
        with suppress(FileNotFoundError):
            found.add((number, os.readlink(f"/proc/self/fd/{number}")))  # noqa: PTH115  # as above
    return found


@contextmanager
def users_umask() -> Iterator[None]:
    """A user's, around a daemon in the test's own process, which sets its own and ends with it."""
    mask = os.umask(0o022)
    try:
        yield
    finally:
        os.umask(mask)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """What a wider fixture holds stays; what nobody holds is a warning, and so an error, of this test."""
    before, mask = open_things(), os.umask(0o077)
    os.umask(mask)  # it is told by setting it alone
    yield
    assert os.umask(mask) == mask, "what later tests make would have other rights"
    if open_things() - before:
        gc.collect()
