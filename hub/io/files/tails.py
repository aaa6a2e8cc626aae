"""The ends of the newest files below a folder: what an agent's own sessions said last.

Owns: the walk, and the reading of a file's last whole lines.
Must not: write, follow a link, or know what a line means.
Tests: tests/hub/actors/quota/test_poller.py
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from pathlib import Path

import attrs

from hub.io.files.walk import entries, written_since

_TAIL = 256 * 1024
_DEPTH = 4


@attrs.frozen(order=True)
class SeenFile:
    """A file as it was: a later look tells by this whether it has grown."""

    mtime_ns: int
    size: int
    path: str


def newest(folder: Path, suffix: str, since: float, count: int) -> tuple[SeenFile, ...]:
    """At most `count` files that were written since then (epoch seconds), the newest first."""
    return tuple(heapq.nlargest(count, _files(str(folder), suffix, int(since * 1e9), _DEPTH)))


def last_lines(path: str) -> list[bytes]:
    """The whole lines in the last 256 KiB of a file; [] when it is gone."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, _TAIL, max(0, size - _TAIL))
    except OSError:
        return []
    finally:
        os.close(fd)
    lines = data.split(b"\n")[:-1]
    return lines[1:] if size > _TAIL else lines


def _files(folder: str, suffix: str, since_ns: int, depth: int) -> Iterator[SeenFile]:
    for entry in entries(folder):
        if entry.is_dir(follow_symlinks=False):
            if depth:
                yield from _files(entry.path, suffix, since_ns, depth - 1)
        elif entry.name.endswith(suffix) and (known := written_since(entry, since_ns)):
            yield SeenFile(known.st_mtime_ns, known.st_size, entry.path)
