"""The stores of other programs: their files, opened with care.

Owns: the time for a place, and the opening of a file below its root.
Must not: write, lock, follow a link, wait for anybody, or know a format.

Whoever may write into an agent's folder (the agent, on a prompt's word) chooses what lies there: how a file is opened
(`hub.io.files.confined`) is made for that, and each search and each session has its time.

Tests: tests/hub/providers/test_detected_stores.py, tests/hub/providers/test_stores.py
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator

import attrs

from hub.domain.detection.intel import FoundFile, Limits, Place, Unreadable
from hub.io.files.confined import FileRefusedError, open_below, refused, true_path
from hub.io.files.walk import OutOfTime, changed_at, folders, walk
from hub.io.stores.sqlite import ReadOnlyDatabase

_WALK_SECONDS = 2.0


@attrs.frozen
class OpenFile:
    """An open file.

    Attributes:
        size: Its bytes when it was opened; what is appended later is read the next time.
    """

    _fd: int
    _until: float
    _name: str
    size: int

    def at(self, offset: int, count: int) -> bytes:
        """At most `count` bytes from there; fewer only at its end.

        Raises:
            Unreadable: It cannot be read, or the time is up.
        """
        if time.monotonic() > self._until:
            raise Unreadable(f"{self._name} took too long to read.")
        try:
            return os.pread(self._fd, max(0, count), offset)
        except OSError as error:
            raise Unreadable(str(refused(self._name, error))) from error


@attrs.frozen
class StoreFiles:
    """The files of this machine."""

    walk_seconds: float = _WALK_SECONDS
    """Time for one place."""

    def walk(self, place: Place, since_ns: int) -> Iterator[FoundFile]:
        """The regular files that fit the place and were written since then, in no order. Follows no link.

        Raises:
            Unreadable: The time is up. What was yielded before stays true.
        """
        try:
            for path, known in walk(place.root, place.pattern, since_ns, self.walk_seconds):
                yield FoundFile(path, known.st_mtime_ns)
        except OutOfTime:
            raise Unreadable(f"{place.root} took too long to search.") from None

    def folders(self, place: Place) -> list[str]:
        """The folders that lead to the place's files, the one changed last first: a new file makes its own newer."""
        found = [(changed_at(folder), folder) for folder in folders(place.root, place.pattern)]
        return [path for _, path in sorted(found, key=lambda one: -one[0])]

    @contextlib.contextmanager
    def open(self, root: str, path: str, limits: Limits) -> Iterator[OpenFile]:
        """A regular file below `root`.

        Raises:
            Unreadable: It is none, it lies elsewhere, or it cannot be opened.
        """
        fd = _opened(root, path)
        try:
            size = os.fstat(fd).st_size
            yield OpenFile(fd, time.monotonic() + limits.seconds, path, size)
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def database(self, root: str, path: str, limits: Limits) -> Iterator[ReadOnlyDatabase]:
        """A SQLite file below `root`.

        Raises:
            Unreadable: As `open`.
        """
        from hub.io.stores import sqlite  # most agents keep files of lines

        fd = _opened(root, path)
        try:
            with sqlite.opened(fd, true_path(root, path), limits) as database:
                yield database
        finally:
            os.close(fd)


def _opened(root: str, path: str) -> int:
    try:
        return open_below(root, path)
    except FileRefusedError as why:
        raise Unreadable(str(why)) from why
