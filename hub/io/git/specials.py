"""What is no file in a working tree.

Owns: finding FIFOs, sockets and devices, of which git does not speak, without walking the whole tree each time.
Must not: open anything it finds.

A directory's change time moves when an entry is made in it, and no program can set it. So the directories of the
checkout are noted once, and later only those that changed since are read, and what is new below them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time

import trio

from hub.io.git.scan import Skipped, show
from hub.io.git.shadow import Shadow

_NOTE = "directories"
_MARGIN = 2_000_000_000
"""Nanoseconds: what changed so shortly before the note is read again, whatever the clock's grain."""


async def note_directories(shadow: Shadow) -> None:
    """Notes the directories of a checkout that nobody has had yet."""
    await trio.to_thread.run_sync(_note, shadow)


async def specials(shadow: Shadow) -> list[Skipped]:
    """FIFOs, sockets and devices in the working tree; those that were there at the note are not told."""
    names = await trio.to_thread.run_sync(_find, shadow)
    return [Skipped(show(name), "not a file") for name in names]


def _note(shadow: Shadow) -> None:
    since = time.time_ns() - _MARGIN
    known: set[bytes] = set()
    _walk(os.fsencode(shadow.worktree), [b""], known)
    temp = shadow.git_dir / f"{_NOTE}.new"
    temp.write_bytes(b"%d\0" % since + b"\0".join(sorted(known)))
    temp.replace(shadow.git_dir / _NOTE)


def noted_directories(shadow: Shadow) -> tuple[list[bytes], int]:
    """The directories of the checkout (each ends in `/`; the first is the tree itself, ""), and when they were noted.

    Where the note is lost, the tree itself and the beginning of time.
    """
    try:
        first, *names = (shadow.git_dir / _NOTE).read_bytes().split(b"\0")
        return names, int(first)
    except (OSError, ValueError):
        return [b""], 0


def _find(shadow: Shadow) -> list[bytes]:
    base = os.fsencode(shadow.worktree)
    names, since = noted_directories(shadow)
    return _walk(base, [name for name in names if changed(base + b"/" + name, since)], set(names))


def changed(path: bytes, since: int) -> bool:
    """Whether entries were made in or taken from a directory since a time in nanoseconds."""
    try:
        found = os.lstat(path.rstrip(b"/"))  # a slash would follow a link that took the directory's place
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_ctime_ns >= since


def _walk(base: bytes, start: list[bytes], known: set[bytes]) -> list[bytes]:
    """What is no file in the directories of `start` and in those below that are not known; these it makes known."""
    found: list[bytes] = []
    stack = list(start)
    known.update(start)
    while stack:
        directory = stack.pop()
        with contextlib.suppress(OSError), os.scandir(base + b"/" + directory) as entries:
            for entry in entries:
                name = directory + entry.name
                if entry.is_dir(follow_symlinks=False):
                    below = name + b"/"
                    if entry.name != b".git" and below not in known:
                        known.add(below)
                        stack.append(below)
                elif not entry.is_symlink() and not entry.is_file(follow_symlinks=False):
                    found.append(name)
    return found
