"""Whether anything in a working tree was touched since a moment, by the kernel's word.

Owns: an inotify watch on every directory of a working tree.
Must not: open a file of the tree, or say "untouched" where it cannot know: then it is None and the tree is compared.

A comparison costs a look at every file; this costs one call for each directory, before the snapshot looks. It is no
way to find what an agent changed: the kernel does not tell of bytes that are written through a mapping, nor what
another machine does to a network file system. It is used only while no process of the session lives.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import attrs
import trio

from hub.io.git.directories import Note, read_note
from hub.io.git.view import open_ground

MAX_DIRECTORIES = 32_768
"""Each is a kilobyte of the kernel's memory, of which a user has a limited share."""
_MODIFY, _ATTRIB, _MOVED, _MADE, _GONE, _ITSELF = 0x2, 0x4, 0xC0, 0x100, 0x200, 0xC00
_ONLY_A_DIRECTORY, _NO_LINK = 0x01000000, 0x02000000
_MASK = _MODIFY | _ATTRIB | _MOVED | _MADE | _GONE | _ITSELF | _ONLY_A_DIRECTORY | _NO_LINK
_NO_SUCH = (errno.ENOENT, errno.ENOTDIR)


@attrs.define
class Watch:
    """A working tree under watch; closed by leaving its `with`, or by being let go."""

    _fd: int
    _quiet: bool = True

    def untouched(self) -> bool:
        """Whether nothing was made, changed, moved or removed since the watch was set."""
        if self._quiet and self._fd >= 0:
            with contextlib.suppress(BlockingIOError):
                os.read(self._fd, 4096)
                self._quiet = False  # a full queue says so by an event too
        return self._quiet and self._fd >= 0

    def close(self) -> None:
        """Takes the watch away; nothing is known any more."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


async def watch(worktree: Path, *, root: Path | None = None) -> Watch | None:
    """Watches every directory of a session's worktree; None where the system does not, or for so many.

    Raises:
        HubError: As `snapshot` for a worktree that is missing or tampered with.
    """
    if not sys.platform.startswith("linux"):
        return None
    shadow = (await open_ground(worktree, root, None)).shadow
    return await trio.to_thread.run_sync(lambda: _watch(os.fsencode(worktree), read_note(shadow)))


def _watch(base: bytes, note: Note | None) -> Watch | None:
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        return None
    made = Watch(fd)
    for count, name in enumerate(_directories(base, note)):
        added = libc.inotify_add_watch(fd, base + b"/" + name, _MASK)
        if count >= MAX_DIRECTORIES or (added < 0 and ctypes.get_errno() not in _NO_SUCH):
            made.close()
            return None
    return made


def _directories(base: bytes, note: Note | None) -> Iterator[bytes]:
    """The directories that were noted, then new ones; each is given out before it is read."""
    names = list(note.directories) if note is not None else [b""]
    yield from names
    known = set(names)
    stack = [name for name in names if note is None or note.changed(base, name)]
    while stack:
        directory = stack.pop()
        with contextlib.suppress(OSError), os.scandir(base + b"/" + directory) as entries:
            for entry in entries:
                below = directory + entry.name + b"/"
                if entry.is_dir(follow_symlinks=False) and entry.name != b".git" and below not in known:
                    known.add(below)
                    yield below
                    stack.append(below)
