"""What stands at a path of a working tree, byte for byte.

Owns: looking at paths without ever leaving the tree through a link, and naming their content by git's id.
Must not: change anything, or let a filter or an encoding touch a byte.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

import attrs

FILE = "100644"
EXECUTABLE = "100755"
LINK = "120000"
SUBMODULE = "160000"

_CHUNK = 1 << 20
_PARENT = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_PATH
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_GONE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}
_UNSTORABLE = re.compile(rb"(?i)(?:^|[/\\])(?:\.git|git~1)[ .]*(?:$|[/\\:])")
"""Names git refuses to hold, on every system, because one of them would take them for `.git`."""


@attrs.frozen
class Content:
    """A path that can be stored."""

    mode: str
    oid: str
    size: int
    target: bytes | None = None
    """What a symbolic link says."""


@attrs.frozen
class Absent:
    """A path with nothing git could store: gone, or now a directory (whose files are paths of their own)."""


@attrs.frozen
class Unstorable:
    """A path with something that cannot be stored, and why."""

    reason: str
    special: bool = False
    """True when no bytes are behind it (a FIFO, a socket, a device)."""


Found = Content | Absent | Unstorable

ABSENT = Absent()


def look(root: Path, paths: Iterable[bytes], algorithm: str, *, executable_bit: bool) -> dict[bytes, Found]:
    """What stands at each path. Blocking; meant for a worker thread.

    Args:
        root: The working tree.
        paths: Relative paths; faster when sorted.
        algorithm: The repository's object format, `sha1` or `sha256`.
        executable_bit: False where the file system has none (`core.fileMode=false`).
    """
    found: dict[bytes, Found] = {}
    with Parents(root) as parents:
        for path in paths:
            if _UNSTORABLE.search(path):
                found[path] = Unstorable("git cannot store this name")
                continue
            try:
                found[path] = _look(parents, path, algorithm, executable_bit=executable_bit)
            except OSError as error:
                if error.errno in _GONE:
                    found[path] = ABSENT
                else:
                    found[path] = Unstorable(f"cannot be read: {error.strerror}")
    return found


class Parents:
    """Opens the directory of a path step by step, no step through a link; keeps the last one open."""

    def __init__(self, root: Path) -> None:
        self._root = os.open(root, _PARENT)
        self._name = b""
        self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._forget()
        os.close(self._root)

    def of(self, path: bytes) -> int:
        """A descriptor of the directory that holds `path`; valid until the next call."""
        directory = os.path.dirname(path)
        if not directory:
            return self._root
        if self._fd < 0 or directory != self._name:
            self._forget()
            fd = self._root
            for step in directory.split(b"/"):
                try:
                    below = os.open(step, _PARENT, dir_fd=fd)
                finally:
                    if fd != self._root:
                        os.close(fd)
                fd = below
            self._name, self._fd = directory, fd
        return self._fd

    def _forget(self) -> None:
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _look(parents: Parents, path: bytes, algorithm: str, *, executable_bit: bool) -> Found:
    parent, name = parents.of(path), os.path.basename(path)
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        return ABSENT
    if stat.S_ISLNK(mode):
        target = os.readlink(name, dir_fd=parent)
        oid = hasher(algorithm, len(target))
        oid.update(target)
        return Content(LINK, oid.hexdigest(), len(target), target)
    if not stat.S_ISREG(mode):
        return Unstorable("not a file", special=True)
    fd = os.open(name, _OPEN, dir_fd=parent)
    try:
        return _digest(fd, algorithm, executable_bit=executable_bit)
    finally:
        os.close(fd)


def _digest(fd: int, algorithm: str, *, executable_bit: bool) -> Content:
    """A file's content by its name. A file that grows meanwhile is read up to the length it had."""
    found = os.fstat(fd)
    size = found.st_size
    oid = hasher(algorithm, size)
    left = size
    while left and (part := os.read(fd, min(left, _CHUNK))):
        oid.update(part)
        left -= len(part)
    mode = EXECUTABLE if executable_bit and found.st_mode & stat.S_IXUSR else FILE
    return Content(mode, oid.hexdigest(), size)


def reread(root: Path, path: bytes, size: int) -> Iterator[bytes]:
    """Reads a file again, up to the length it had at the first look. Blocking, piece by piece."""
    with Parents(root) as parents:
        try:
            fd = os.open(os.path.basename(path), _OPEN, dir_fd=parents.of(path))
        except OSError:
            return
    with os.fdopen(fd, "rb", buffering=0) as file:
        while size and (piece := file.read(min(size, _CHUNK))):
            size -= len(piece)
            yield piece


def hasher(algorithm: str, size: int) -> hashlib._Hash:
    """What makes the id of so many bytes in a repository of this object format."""
    hasher = hashlib.new(algorithm, usedforsecurity=False)
    hasher.update(b"blob %d\0" % size)
    return hasher
