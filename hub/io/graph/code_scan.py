"""The source files of a project, read for the knowledge graph.

Owns: which files are looked at, how one is opened, and what has changed since the last time.
Must not: follow a link, open what is no file, read a file that has not changed, or know a language.

Which paths there are is git's to say (`hub.io.git.repository.project_files`), so that what the user ignores stays out;
`walk` is for a folder that is no repository. A path that agents may change meanwhile is opened step by step, no step
through a link.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile
from operator import attrgetter
from pathlib import Path

import attrs

from hub.domain.code.chunk import CodeChunk, chunks
from hub.domain.code.mark import Mark, mark
from hub.domain.code.symbol import Symbol
from hub.domain.code.table import declared, language_of
from hub.io.git.digest import Parents

MAX_BYTES = 1 << 20
"""A larger file is data."""
MAX_FILES = 200_000
"""Source files of one project."""
_BINARY_HEAD = 8000
"""How far git looks for a NUL byte to tell that a file is no text."""
_BLOCK = 1 << 16
"""Bytes that are read of a file that has grown meanwhile."""
_GRAIN = 2_000_000_000
"""Nanoseconds: a file that changed so shortly before it was read may change again and keep its time."""
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NAME: Callable[[os.DirEntry[bytes]], bytes] = attrgetter("name")
_OUTSIDE = re.compile(rb"^/|(?:^|/)\.\.?(?:/|$)")
_GO_MODULE = re.compile(rb"(?m)^module[ \t]++\"?([^\s\"]++)")
_NEVER = frozenset({".git", ".hub", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})


@attrs.frozen
class Scanned:
    """A file that is new or has changed."""

    path: str
    """Relative, with slashes; bytes that are no UTF-8 are surrogates, as `os.fsdecode` has them."""
    size: int
    mtime_ns: int
    """0 where the file is too young to be known again: the next scan reads it anew."""
    language: str
    mark: Mark | None
    symbols: list[Symbol]
    imports: list[str]
    chunks: list[CodeChunk]


@attrs.frozen
class Gone:
    """A known file that is no more, or is no longer a source file of the project."""

    path: str


def scan(
    root: Path,
    known: Mapping[str, tuple[int, int]],
    paths: Iterable[bytes] | None = None,
    scrub: Callable[[str], str] | None = None,
    *,
    chunked: bool = True,
) -> Iterator[Scanned | Gone]:
    """What has changed since `known`: a pair for each path, in order, the gone ones last. Blocking; for a worker thread.

    A file that has not changed costs one `stat`. One that cannot be read, is larger than `MAX_BYTES`, or holds a NUL
    byte is no source file.

    Args:
        root: The project's folder, or any other.
        known: Size and mtime_ns of each file, as an earlier scan gave them.
        paths: The files there are, relative, faster when sorted; None = `walk(root)`.
        scrub: What each file's text goes through before anything is made of it; it must leave lines where they are.
        chunked: Whether it is cut into chunks.

    Raises:
        OSError: `root` is no directory.
    """
    seen: set[str] = set()
    with Parents(root) as parents:
        for raw in walk(root) if paths is None else paths:
            path = os.fsdecode(raw)
            language = language_of(path)
            if language is None or path in seen or path.startswith(".hub/") or _OUTSIDE.search(raw):
                continue
            if len(seen) >= MAX_FILES:
                break
            with contextlib.suppress(OSError):  # gone, a link, or not ours to read
                there = _look(parents, raw, known.get(path))
                if there is not None:
                    seen.add(path)
                if isinstance(there, _Read):
                    yield _scanned(path, language, there, scrub, chunked=chunked)
    yield from (Gone(path) for path in known if path not in seen)


def walk(root: Path, over: Callable[[], bool] = lambda: False) -> Iterator[bytes]:
    """The files below a folder that is no repository; what tools fill is left out, and no link is followed.

    Args:
        root: The folder.
        over: Whether to end; asked for each entry, of whatever kind, when it is listed and when it is looked at.
    """
    top, stack = os.path.join(os.fsencode(root), b""), [b""]
    while stack:
        folder = stack.pop()
        with contextlib.suppress(OSError), os.scandir(top + folder) as entries:
            for entry in sorted(takewhile(lambda _: not over(), entries), key=_NAME):
                if over():
                    return
                path = folder + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if os.fsdecode(entry.name) not in _NEVER:
                        stack.append(path + b"/")
                elif entry.is_file(follow_symlinks=False):
                    yield path


def go_modules(root: Path, paths: Iterable[bytes]) -> dict[str, str]:
    """The name that each `go.mod` among the paths gives its folder. Blocking."""
    found = {}
    with Parents(root) as parents:
        for path in paths:
            folder, _, name = path.rpartition(b"/")
            if name != b"go.mod" or _OUTSIDE.search(path):
                continue
            with contextlib.suppress(OSError):  # gone, a link, or not ours to read
                there = _look(parents, path, None)
                if isinstance(there, _Read) and (module := _GO_MODULE.search(there.body)):
                    found[os.fsdecode(folder)] = module[1].decode("utf-8", "replace")
    return found


@attrs.frozen
class _Read:
    """A file's content, and how it is known again."""

    size: int
    mtime_ns: int
    body: bytes


@attrs.frozen
class _Same:
    """A file that has not changed."""


def _look(parents: Parents, path: bytes, known: tuple[int, int] | None) -> _Read | _Same | None:
    """Reads a file unless it is known; None where there is no source text.

    Raises:
        OSError: There is nothing, or it may not be read.
    """
    parent, name = parents.of(path), path.rpartition(b"/")[2]
    before = os.stat(name, dir_fd=parent, follow_symlinks=False)
    if not stat.S_ISREG(before.st_mode) or before.st_size > MAX_BYTES:
        return None
    if known == (before.st_size, before.st_mtime_ns):
        return _Same()
    fd = os.open(name, _OPEN, dir_fd=parent)
    try:
        found = os.fstat(fd)
        now = time.time_ns()
        if not stat.S_ISREG(found.st_mode):
            return None
        # By its size: a buffer is made for as much as is asked for.
        body = part = os.read(fd, min(found.st_size, MAX_BYTES) + 1)
        while found.st_size < len(body) <= MAX_BYTES and part:
            part = os.read(fd, _BLOCK)
            body += part
    finally:
        os.close(fd)
    if len(body) > MAX_BYTES or b"\0" in body[:_BINARY_HEAD]:
        return None
    young = found.st_mtime_ns > now - _GRAIN
    return _Read(found.st_size, 0 if young else found.st_mtime_ns, body)


def _scanned(
    path: str, language: str, read: _Read, scrub: Callable[[str], str] | None, *, chunked: bool
) -> Scanned:
    shown = path.encode("utf-8", "replace").decode()
    body = read.body if scrub is None else scrub(read.body.decode("utf-8", "replace")).encode()
    whose = mark(shown, body)
    found = declared(language, body)
    return Scanned(
        path=path,
        size=read.size,
        mtime_ns=read.mtime_ns,
        language=language,
        mark=whose,
        symbols=found.symbols,
        imports=found.imports,
        chunks=chunks(body) if chunked else [],
    )
