"""Whether a working tree is still what was snapshotted: by the kernel's word, else by a comparison.

Owns: an inotify watch on every directory of a working tree, the comparison of a working tree with a tree that is stored, and
which of the two answers for a handoff.
Must not: open a file of the tree or write anything to it or the repository, outlive a handoff, or take a missing answer for
a good one.

A comparison looks at every file and takes as long as all else between a snapshot and the next agent; a watch costs one call
for each directory, before the snapshot looks. It is no way to find what an agent changed: the kernel does not tell of bytes
that are written through a mapping, nor what another machine does to a network file system. It is used only while no process
of the session lives, when mostly nothing touches the worktree.

Tests: tests/hub/io/git/test_watch.py, tests/hub/io/git/test_check.py, tests/hub/actors/session/test_handoff_steps.py
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Self

import attrs
import trio

from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.git.directories import Note, read_note
from hub.io.git.env import together
from hub.io.git.scan import Entry, Scan, gather, scan, tree_diff
from hub.io.git.shadow import base_tree
from hub.io.git.view import open_ground, tracked_paths

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


async def tree_matches(
    worktree: Path, tree: str, kept_index: Path | None = None, *, root: Path | None = None
) -> bool:
    """Whether a snapshot of the worktree would have the tree `tree`. The same answer as comparing `tree_hash`.

    Raises:
        HubError: As `tree_hash`.
    """
    ground = await open_ground(worktree, root, kept_index)
    scans: list[Scan] = []
    tracked: list[frozenset[bytes]] = []
    expected: dict[bytes, Entry | None] = {}

    async def look() -> None:
        scans.append(await scan(ground.shadow))

    async def staged() -> None:
        tracked.append(await tracked_paths(ground))

    async def stored() -> None:
        pairs = await tree_diff(ground.shadow, await base_tree(ground.shadow), tree)
        expected.update({path: new for path, (_, new) in pairs.items()})

    await together(look, staged, stored)
    work = await gather(ground.shadow, scans[0], tracked[0])
    return dict(work.entries) == expected


@attrs.frozen
class WorktreeWatch:
    """By handoff: what is known of its worktree."""

    root: Path
    _watches: dict[str, Watch] = attrs.field(factory=dict)
    _looked: dict[str, bool] = attrs.field(factory=dict)

    async def watch(self, record: SessionRecord) -> None:
        """Watches from now on: no agent lives, and the snapshot is not begun."""
        self._watches.clear()
        made = await watch(Path(record.worktree), root=self.root)
        if made is not None:
            self._watches[record.handoff_id] = made

    async def look_early(self, record: SessionRecord) -> None:
        """Beside other work, where it will be needed. What goes wrong is met again, and told, at `same_tree`."""
        if not self._untouched(record):
            with contextlib.suppress(HubError):
                await self._look(record)

    async def same_tree(self, record: SessionRecord, meanwhile: Callable[[], Awaitable[object]]) -> bool:
        """Whether the worktree still is what was snapshotted; `meanwhile` is done when this returns.

        Compared here where the watch saw something, or hub was started anew since, and for a second receiver: it may
        find changes of one that failed.

        Raises:
            HubError: As `tree_matches`.
        """
        untouched = self._untouched(record)
        self._watches.clear()  # the receiver's own changes are no news
        if untouched:
            await meanwhile()
            return True
        if record.handoff_id in self._looked:
            await meanwhile()
        else:
            await together(partial(self._look, record), meanwhile)
        return self._looked.pop(record.handoff_id)

    def _untouched(self, record: SessionRecord) -> bool:
        found = self._watches.get(record.handoff_id)
        return found is not None and found.untouched()

    async def _look(self, record: SessionRecord) -> None:
        same = await tree_matches(Path(record.worktree), record.handoff.snapshot_tree, root=self.root)
        self._looked[record.handoff_id] = same
