"""The stores of other programs: their files, opened with care.

Owns: the walk over a place, and the opening of a file below its root.
Must not: write, lock, follow a link, wait for anybody, or know a format.

Whoever may write into an agent's folder (the agent, on a prompt's word) chooses what lies there. So every step of a
path is opened relative to the one before it and never through a link; only a regular file is read; a FIFO or a device
never blocks; and each search and each session has its time.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from fnmatch import translate
from functools import cache
from typing import TYPE_CHECKING

import attrs

from hub.domain.detection.intel import Found, Limits, Place, Unreadable
from hub.domain.value import Value

if TYPE_CHECKING:
    from hub.io.stores.sqlite import Database

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WALK_SECONDS = 2.0
_CHECK_EVERY = 256
_ODD = frozenset(("", ".", ".."))
"""Steps that lead to no entry of their folder."""


@attrs.frozen(eq=False, repr=False)
class Source(Value):
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
            raise _refused(self._name, error) from error


@attrs.frozen(eq=False, repr=False)
class StoreFiles(Value):
    """The files of this machine."""

    walk_seconds: float = _WALK_SECONDS
    """Time for one place."""

    def walk(self, place: Place, since_ns: int) -> Iterator[Found]:
        """The regular files that fit the place and were written since then, in no order. Follows no link.

        Raises:
            Unreadable: The time is up. What was yielded before stays true.
        """
        if not os.path.isdir(place.root):  # noqa: PTH112  # most agents are not on this machine: one stat for each
            return
        until = time.monotonic() + self.walk_seconds
        patterns = [_matcher(step) for step in place.pattern]
        looked = 0
        folders = [(os.path.realpath(place.root), 0)]
        while folders:
            folder, depth = folders.pop()
            last = depth == len(patterns) - 1
            for entry in _entries(folder):
                looked += 1
                if looked % _CHECK_EVERY == 0 and time.monotonic() > until:
                    raise Unreadable(f"{place.root} took too long to search.")
                if not patterns[depth](entry.name):
                    continue
                if not last:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append((entry.path, depth + 1))
                elif (known := _stat(entry)) is not None and known.st_mtime_ns >= since_ns:
                    yield Found(entry.path, known.st_mtime_ns, known.st_size)

    def folders(self, place: Place) -> list[str]:
        """The folders that lead to the place's files, the one changed last first: a new file makes its own newer."""
        found = [(_changed(place.root), place.root)]
        level = [os.path.realpath(place.root)]
        for step in place.pattern[:-1]:
            fits = _matcher(step)
            inside = [entry for folder in level for entry in _entries(folder) if fits(entry.name)]
            level = [entry.path for entry in inside if entry.is_dir(follow_symlinks=False)]
            found += [(_changed(path), path) for path in level]
        return [path for _, path in sorted(found, key=lambda one: -one[0])]

    @contextlib.contextmanager
    def open(self, root: str, path: str, limits: Limits) -> Iterator[Source]:
        """A regular file below `root`.

        Raises:
            Unreadable: It is none, it lies elsewhere, or it cannot be opened.
        """
        fd = _open_below(root, path)
        try:
            size = os.fstat(fd).st_size
            yield Source(fd, time.monotonic() + limits.seconds, path, size)
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def database(self, root: str, path: str, limits: Limits) -> Iterator[Database]:
        """A SQLite file below `root`.

        Raises:
            Unreadable: As `open`.
        """
        from hub.io.stores import sqlite  # noqa: PLC0415  # most agents keep files of lines

        fd = _open_below(root, path)
        try:
            with sqlite.opened(fd, _true(root, path), limits) as database:
                yield database
        finally:
            os.close(fd)


@cache
def _matcher(pattern: str) -> Callable[[str], object]:
    if pattern == "*":
        return bool
    suffix = pattern.removeprefix("*")
    if suffix != pattern and not set(suffix) & set("*?["):
        return lambda name: name.endswith(suffix)
    return re.compile(translate(pattern)).match


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def _changed(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns  # noqa: PTH116  # a text, not a Path, is asked for and given
    except OSError:
        return 0


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Of a regular file; None of anything else."""
    try:
        return entry.stat(follow_symlinks=False) if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None


def _open_below(root: str, path: str) -> int:
    """A descriptor of the regular file: every step below the root is opened by itself, and none is a link."""
    top, steps = root, path[len(root) + 1 :].split("/")
    if not path.startswith(f"{root}/") or _ODD.intersection(steps):
        top = os.path.realpath(root)
        steps = _true(root, path)[len(top) :].strip("/").split("/")
    folder = -1
    try:
        folder = os.open(top, _DIRECTORY)
        for step in steps[:-1]:
            inner = os.open(step, _DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        fd = os.open(steps[-1], _FILE, dir_fd=folder)
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error
    finally:
        if folder >= 0:
            os.close(folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Unreadable(f"{path} is no regular file.")
    return fd


def _true(root: str, path: str) -> str:
    """The path as it is below the root itself, which may be reached through a link; nothing below it may."""
    top = os.path.realpath(root)
    inside = os.path.relpath(path, top if path.startswith(f"{top}/") else root)
    if not path.startswith("/") or inside == "." or ".." in inside.split("/"):
        raise Unreadable(f"{path} is not below {root}.")
    return f"{top.rstrip('/')}/{inside}"


def _refused(path: str, error: OSError | ValueError) -> Unreadable:
    why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return Unreadable(f"{path} cannot be read: {why}.")
