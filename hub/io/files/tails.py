"""The ends of the newest files below a folder: what an agent's own sessions said last.

Owns: the walk, and the reading of a file's last whole lines.
Must not: write, follow a link, or know what a line means.
Tests: tests/hub/actors/quota/test_poller.py
"""

from __future__ import annotations

import heapq
import math
import os
from pathlib import Path

import attrs

from hub.io.files.walk import walk

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
    patterns = ((*["*"] * deep, f"*{suffix}") for deep in range(_DEPTH + 1))
    found = (file for pattern in patterns for file in walk(str(folder), pattern, int(since * 1e9), math.inf))
    return tuple(heapq.nlargest(count, (SeenFile(one.st_mtime_ns, one.st_size, path) for path, one in found)))


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
