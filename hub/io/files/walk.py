"""A walk over the files below a folder that fit a pattern.

Owns: the order of its steps, and what it passes over: links, and whatever is no regular file.
Must not: open a file.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

_CHECK_EVERY = 256
_WILD = frozenset("*?[")
_matchers: dict[str, Callable[[str], object]] = {}


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
            elif (known := _stat(entry)) is not None and known.st_mtime_ns >= since_ns:
                yield entry.path, known


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


def _matcher(pattern: str) -> Callable[[str], object]:
    found = _matchers.get(pattern)
    if found is None:
        found = _matchers[pattern] = _made(pattern)
    return found


def _made(pattern: str) -> Callable[[str], object]:
    if pattern == "*":
        return bool
    prefix, star, suffix = pattern.partition("*")
    if _WILD.isdisjoint(prefix + suffix):
        if not star:
            return pattern.__eq__
        least = len(prefix) + len(suffix)
        return lambda name: len(name) >= least and name.startswith(prefix) and name.endswith(suffix)
    return re.compile(translate(pattern)).match


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Of a regular file; None of anything else."""
    try:
        return entry.stat(follow_symlinks=False) if entry.is_file(follow_symlinks=False) else None
    except OSError:
        return None
