"""What the directories of a working tree held when it was checked out, and what is in them besides since.

Owns: the note of a checkout's directories, and finding new names and what is no file (FIFOs, sockets, devices, of
which git does not speak) without reading every directory each time.
Must not: open anything but directories, or take a directory for unchanged where it cannot know.

A directory's change time moves when an entry is made in it, and no program can set it. So the directories of the
checkout are noted once, each by inode, change time and names, and later only those that differ are read, and what is
new below them. A clock that was set back does no harm: the times are compared for being the same, not for their order.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import attrs
import msgspec
import trio

from hub.io.git.shadow import Shadow

_NOTE = "directories"
_TICK = 50_000_000
"""Nanoseconds: a change so shortly before the note may share its time with a later one; the directory is read again."""
_COARSE = 2_000_000_000
"""The same where the file system keeps whole seconds."""

Noted = tuple[int, int, msgspec.Raw]
"""A directory's inode, change time in nanoseconds, and the names in it; a directory's name ends in `/`.

The names are read only where they are needed: there may be a million.
"""


@attrs.frozen
class DirectoryChanges:
    """What differs from the checkout."""

    names: tuple[bytes, ...]
    """Paths that were not there, or are of another kind (file or directory) now; nothing below them is told."""
    folders: bool
    """Whether a directory is among them."""
    specials: tuple[bytes, ...]
    """What is neither file, directory nor link, wherever it is; what was so at the checkout is not told."""


@attrs.frozen
class Note:
    """The directories of a checkout, by path; each ends in `/` but the tree itself, which is the empty one."""

    at: int
    directories: Mapping[bytes, Noted]

    def changed(self, base: bytes, name: bytes) -> bool:
        """Whether a directory is there and may hold other entries than at the checkout."""
        try:
            found = os.lstat((base + b"/" + name).rstrip(b"/"))  # a slash would follow a link in its place
        except OSError:
            return False
        inode, changed_at, _ = self.directories[name]
        same = (found.st_ino, found.st_ctime_ns) == (inode, changed_at) and changed_at < self.at
        return stat.S_ISDIR(found.st_mode) and not same


async def note_directories(shadow: Shadow) -> None:
    """Notes the directories of a checkout that nobody has had yet, and that holds what git put there and nothing else."""
    await trio.to_thread.run_sync(_write_note, shadow)


def read_note(shadow: Shadow) -> Note | None:
    """The note; None where it is lost, or its times could not be trusted."""
    try:
        at, directories = msgspec.msgpack.decode(
            (shadow.git_dir / _NOTE).read_bytes(), type=tuple[int, dict[bytes, Noted]]
        )
    except (OSError, msgspec.MsgspecError):
        return None
    return Note(at, directories)


async def news(shadow: Shadow) -> DirectoryChanges | None:
    """What differs from the checkout; None without a note."""
    return await trio.to_thread.run_sync(_news, shadow)


async def all_specials(shadow: Shadow) -> tuple[bytes, ...]:
    """Everything that is no file, where no note tells what was so at the checkout."""
    return await trio.to_thread.run_sync(_specials_below, os.fsencode(shadow.worktree), [b""])


def _write_note(shadow: Shadow) -> None:
    base = os.fsencode(shadow.worktree)
    now = time.time_ns()
    directories: dict[bytes, tuple[int, int, list[bytes]]] = {}
    stack = [b""]
    while stack:
        path = stack.pop()
        found = os.lstat((base + b"/" + path).rstrip(b"/"))
        names = [name for name, _ in _entries(base, path)]
        directories[path] = (found.st_ino, found.st_ctime_ns, names)
        stack += [path + name for name in names if name.endswith(b"/")]
    whole_seconds = all(changed_at % 1_000_000_000 == 0 for _, changed_at, _ in directories.values())
    at = now - (_COARSE if whole_seconds else _TICK)
    note = shadow.git_dir / _NOTE
    note.unlink(missing_ok=True)
    if shadow.git_dir.stat().st_dev == os.lstat(base).st_dev and _times_move(shadow.git_dir):
        temp = note.with_name(f"{_NOTE}.new")
        temp.write_bytes(msgspec.msgpack.encode((at, directories)))
        temp.replace(note)


def _times_move(folder: Path) -> bool:
    """Whether this file system tells by a directory's change time that an entry was made in it; not every one does."""
    probe = folder / f"probe-{os.getpid()}"
    try:
        probe.mkdir()
        before = probe.stat().st_ctime_ns
        deadline = time.monotonic_ns() + _COARSE
        moved = False
        while not moved and time.monotonic_ns() < deadline:
            (probe / "entry").mkdir()
            (probe / "entry").rmdir()
            moved = probe.stat().st_ctime_ns != before
    except OSError:
        return False
    finally:
        with contextlib.suppress(OSError):
            probe.rmdir()
    return moved


def _entries(base: bytes, path: bytes) -> Iterator[tuple[bytes, os.DirEntry[bytes]]]:
    """What is in a directory but for git's own; a directory's name ends in `/`."""
    with contextlib.suppress(OSError), os.scandir(base + b"/" + path) as entries:
        for entry in entries:
            if entry.name != b".git":
                yield entry.name + (b"/" if entry.is_dir(follow_symlinks=False) else b""), entry


def _is_special(entry: os.DirEntry[bytes]) -> bool:
    return not (
        entry.is_symlink() or entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
    )


def _news(shadow: Shadow) -> DirectoryChanges | None:
    base, note = os.fsencode(shadow.worktree), read_note(shadow)
    if note is None:
        return None
    names: list[bytes] = []
    odd: list[bytes] = []
    folders = False
    for path, (_, _, held) in note.directories.items():
        if not note.changed(base, path):
            continue
        known = frozenset(msgspec.msgpack.decode(held, type=list[bytes]))
        submodule = bool(path) and not known  # git checks no empty directory out
        for name, entry in _entries(base, path):
            if _is_special(entry):
                odd.append(path + name)
            elif name not in known:
                names += [] if submodule else [path + name.rstrip(b"/")]
                folders |= name.endswith(b"/")
                odd += _specials_below(base, [path + name]) if name.endswith(b"/") else []
    return DirectoryChanges(tuple(names), folders, tuple(odd))


def _specials_below(base: bytes, stack: list[bytes]) -> tuple[bytes, ...]:
    odd: list[bytes] = []
    while stack:
        path = stack.pop()
        for name, entry in _entries(base, path):
            if name.endswith(b"/"):
                stack.append(path + name)
            elif _is_special(entry):
                odd.append(path + name)
    return tuple(odd)
