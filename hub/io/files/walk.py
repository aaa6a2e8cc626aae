"""Walks over the files below a folder: those that fit a pattern, and all of a suffix.

Owns: the order of its steps, and what it passes over: links, and whatever is no regular file.
Must not: open a file.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import cache

_CHECK_EVERY = 256


class OutOfTime(Exception):
    """There were more entries than the time was enough for."""


def walk(
    root: str, pattern: Sequence[str], since_ns: int, seconds: float
) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files that fit and were written since then, in no order. Follows no link below the root.

    Args:
        root: A folder; it may be a link.
        pattern: One shell pattern for each step below it; the last is the file's.
        since_ns: Epoch nanoseconds.
        seconds: How long it may take.

    Raises:
        OutOfTime: What was yielded before stays true.
    """
    if not os.path.isdir(root):
        return
    until = time.monotonic() + seconds
    fits = [_matcher(step) for step in pattern]
    looked = 0
    folders = [(os.path.realpath(root), 0)]
    while folders:
        if time.monotonic() > until:
            raise OutOfTime
        folder, depth = folders.pop()
        last = depth == len(fits) - 1
        for entry in entries(folder):
            looked += 1
            if looked % _CHECK_EVERY == 0 and time.monotonic() > until:
                raise OutOfTime
            if not fits[depth](entry.name):
                continue
            if not last:
                if entry.is_dir(follow_symlinks=False):
                    folders.append((entry.path, depth + 1))
            elif known := written_since(entry, since_ns):
                yield entry.path, known


def tree(
    root: str, folder: str, suffix: str, depth: int, *, since_ns: int, seconds: float
) -> Iterator[tuple[str, os.stat_result]]:
    """The regular files below `root/folder` of this suffix that were written since then, in no order.

    Those in the folder itself are none of them; those in its folders are, and so on, so many deep.

    Raises:
        OutOfTime: What was yielded before stays true.
    """
    until = time.monotonic() + seconds
    for deep in range(1, depth + 1):
        pattern = (folder, *["*"] * deep, f"*{suffix}")
        yield from walk(root, pattern, since_ns, until - time.monotonic())


def folders(root: str, pattern: Sequence[str]) -> list[str]:
    """The root, and every folder that leads to a file that fits."""
    found, level = [root], [os.path.realpath(root)]
    for step in pattern[:-1]:
        fits = _matcher(step)
        inside = [entry for folder in level for entry in entries(folder) if fits(entry.name)]
        level = [entry.path for entry in inside if entry.is_dir(follow_symlinks=False)]
        found += level
    return found


def entries(folder: str) -> list[os.DirEntry[str]]:
    """What is in a folder; nothing where it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError:
        return []


def changed_at(folder: str) -> int:
    """When something came into a folder or left it last, epoch nanoseconds; 0 where it is not to be seen."""
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


@cache
def _matcher(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match


def written_since(entry: os.DirEntry[str], since_ns: int) -> os.stat_result | None:
    """What is known of a regular file that was written since then; None of anything else."""
    try:
        known = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return known if stat.S_ISREG(known.st_mode) and known.st_mtime_ns >= since_ns else None
