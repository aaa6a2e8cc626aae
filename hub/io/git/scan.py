"""What a working tree holds against the kept index.

Owns: finding the paths that may differ, looking at them, and saying what a tree of the working tree changes.
Must not: write anything.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.io.git.aside import LEFT, Aside
from hub.io.git.aside import read as read_aside
from hub.io.git.digest import SUBMODULE, Absent, Content, Found, Unstorable, look
from hub.io.git.env import git, together
from hub.io.git.own_folder import NEVER, folder_of
from hub.io.git.refs import commit_of
from hub.io.git.shadow import Shadow, submodules

Entry = tuple[str, str]
"""Mode and object id."""
_SAID = re.compile(r"^(?:warning|error|fatal): ", re.MULTILINE)
_CLOSED, _GONE = "could not open directory '", "No such file or directory"
_UNFILLED = "a submodule that is not filled: git stores nothing below it; its files are kept"


@attrs.frozen
class Skipped:
    """A path that is not in a tree, or not wholly, and why."""

    path: str
    reason: str


@attrs.frozen
class Scan:
    """Paths that may differ from the kept index."""

    paths: Mapping[bytes, Entry | None]
    """Path -> what the index has there."""
    nested: tuple[bytes, ...]
    """Repositories inside the tree."""
    specials: tuple[bytes, ...] = ()
    """What is neither file, directory nor link, where that was asked for."""
    unfilled: tuple[bytes, ...] = ()
    """Submodules with files and no repository in their folders, where that was asked for."""
    closed: tuple[Skipped, ...] = ()
    """Folders that cannot be read, as git names them."""


@attrs.frozen
class TreeChanges:
    """What the tree of a working tree changes against the kept index's."""

    entries: Mapping[bytes, Entry | None]
    """Path -> what is there; None = nothing any more."""
    contents: Mapping[bytes, Content]
    """What was read, by path."""
    skipped: tuple[Skipped, ...]
    unstored: bool = False
    """Whether there are bytes that no tree can have: of files that cannot be read, or that git cannot name."""


def show(path: bytes) -> str:
    """A path for people and for JSON; bytes that are no UTF-8 are escaped."""
    return path.decode("utf-8", "backslashreplace")


async def scan(shadow: Shadow, *, specials: bool = False) -> Scan:
    """Two looks at once: tracked files by their stat data, and untracked files.

    Args:
        shadow: The working tree's.
        specials: Whether what git does not speak of is looked for too.
    """

    async def tracked() -> dict[bytes, Entry | None]:
        args = ("--raw", "-z", "--no-renames", "--ignore-submodules=dirty")
        done = await git("diff-files", *args, cwd=shadow.worktree, where=shadow.where)
        return {path: old for path, (old, _) in raw_diff(done.out).items()}

    async def others() -> Scan:
        new = await _others(shadow)
        found = Scan(dict.fromkeys(new.files), tuple(new.nested), closed=tuple(new.closed))
        if not specials:
            return found
        odd = await trio.to_thread.run_sync(_specials, os.fsencode(shadow.worktree))
        unfilled = tuple(path for path, own in (await in_submodules(shadow)).items() if not own)
        return attrs.evolve(found, specials=odd, unfilled=unfilled)

    old, new = await together(tracked, others)
    return attrs.evolve(new, paths={**new.paths, **old})


async def gather(shadow: Shadow, found: Scan, also: Iterable[bytes] = ()) -> TreeChanges:
    """Looks at what a scan found; what lies in a folder of hub's own, or is set aside, stays as the tree before has it.

    Args:
        shadow: The working tree's.
        found: The scan.
        also: More paths that belong to the tree when they are there, ignored or not.
    """
    also = frozenset(also)
    paths = {**dict.fromkeys(also), **found.paths}
    aside = read_aside(shadow.index)
    if aside.yours or aside.made:
        paths = {
            path: old
            for path, old in paths.items()
            if old is not None or not (aside.holds(path) or (aside.built(path) and path not in also))
        }
    own = {path: folder for path in paths if (folder := folder_of(path)) is not None}
    for path in own:
        del paths[path]
    looked = await trio.to_thread.run_sync(
        partial(look, shadow.worktree, sorted(paths), shadow.algorithm, executable_bit=shadow.executable_bit)
    )
    why = "the history of a nested repository; its files are kept"
    skipped = [Skipped(show(path + b".git"), why) for path in found.nested if folder_of(path) is None]
    skipped += found.closed
    skipped += [Skipped(show(path), _UNFILLED) for path in found.unfilled]
    skipped += [Skipped(show(folder), NEVER) for folder in set(own.values())]
    left = {
        path
        for path, what in looked.items()
        if path in aside.left and paths[path] is None and path not in also and _is(what, aside.left[path])
    }
    skipped += [Skipped(show(path), LEFT) for path in left]
    entries: dict[bytes, Entry | None] = {}
    for path, what in looked.items():
        if path in left:
            continue
        old = paths[path]
        if isinstance(what, Absent) and path in shadow.unseen and not _buried(path, looked):
            new: Entry | None = shadow.unseen[path]
        elif old is not None and old[0] == SUBMODULE and isinstance(what, Absent):
            new = await _submodule(shadow, path)
            skipped += [Skipped(show(path), "a submodule: only its commit is kept")] if new else []
        else:
            new = _entry(what, old)
        if isinstance(what, Unstorable):
            skipped.append(Skipped(show(path), what.reason))
        if new != old:
            entries[path] = new
    contents = {path: what for path, what in looked.items() if isinstance(what, Content) and path not in left}
    unstored = bool(found.closed) or any(isinstance(w, Unstorable) and not w.special for w in looked.values())
    return TreeChanges(
        entries, contents, tuple(sorted(set(skipped), key=lambda item: item.path)), unstored=unstored
    )


def _is(what: Found, oid: str) -> bool:
    return isinstance(what, Content) and what.oid == oid


def _buried(path: bytes, looked: Mapping[bytes, Found]) -> bool:
    """Whether a file stands where one of the path's folders was."""
    steps = path.split(b"/")
    return any(isinstance(looked.get(b"/".join(steps[:end])), Content) for end in range(1, len(steps)))


def _entry(what: Found, old: Entry | None) -> Entry | None:
    """What a tree has for a path. A file that cannot be read keeps what was there before."""
    if isinstance(what, Content):
        return what.mode, what.oid
    if isinstance(what, Unstorable) and not what.special:
        return old
    return None


def raw_diff(out: bytes) -> dict[bytes, tuple[Entry | None, Entry | None]]:
    """The paths of a raw diff with what stands on either side; an id of zeros where git did not look."""
    fields = out.split(b"\0")
    found: dict[bytes, tuple[Entry | None, Entry | None]] = {}
    for head, path in zip(fields[0:-1:2], fields[1::2], strict=True):
        old_mode, new_mode, old, new, _ = head[1:].decode("ascii").split(" ")
        found[path] = (
            (old_mode, old) if old_mode != "000000" else None,
            (new_mode, new) if new_mode != "000000" else None,
        )
    return found


async def tree_diff(
    old: str, new: str, *, cwd: Path, where: Mapping[str, str] | None = None
) -> dict[bytes, tuple[Entry | None, Entry | None]]:
    """What differs between two trees, in the order of the paths."""
    if old == new:
        return {}
    # Else git reads `.gitmodules` from the tree, and dies of what it may not obey there.
    args = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=dirty")
    return raw_diff((await git("diff-tree", *args, old, new, cwd=cwd, where=where)).out)


@attrs.define
class _Untracked:
    """What is untracked and not ignored: files, the repositories among them, and the folders that nobody may look into."""

    files: list[bytes] = attrs.field(factory=list)
    nested: list[bytes] = attrs.field(factory=list)
    closed: list[Skipped] = attrs.field(factory=list)


async def _others(shadow: Shadow, prefix: bytes = b"", into: _Untracked | None = None) -> _Untracked:
    """What is untracked below `prefix`, a nested repository, and in those that are nested in it."""
    found = into or _Untracked()
    inside = _below(shadow.worktree, prefix)
    where = shadow.where
    if prefix:
        where |= {"GIT_WORK_TREE": str(inside), "GIT_INDEX_FILE": str(shadow.git_dir / "no-index")}
    done = await git("ls-files", "-o", "-z", "--exclude-standard", cwd=inside, where=where)
    found.closed += [
        Skipped(show(prefix) + name, f"cannot be read: {why}") for name, why in _closed(done.err)
    ]
    for name in done.out.split(b"\0")[:-1]:
        if name.endswith(b"/"):
            found.nested.append(prefix + name)
            await _others(shadow, prefix + name, found)
        else:
            found.files.append(prefix + name)
    return found


def _closed(said: str) -> Iterator[tuple[str, str]]:
    """The folders that git could not open, but for those that are gone, and why; of a long path it says the beginning."""
    for told in _SAID.split(said):
        name, sign, why = told.removeprefix(_CLOSED).rstrip("\n").rpartition("': ")
        if told.startswith(_CLOSED) and why != _GONE:
            yield (name, why) if sign else (why, "File name too long")


def _specials(base: bytes) -> tuple[bytes, ...]:
    """What is neither file, directory nor link: git does not speak of it."""
    odd: list[bytes] = []
    stack = [b""]
    while stack:
        path = stack.pop()
        with contextlib.suppress(OSError), os.scandir(base + b"/" + path) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    continue  # nearly all are
                if entry.is_dir(follow_symlinks=False):
                    stack += [path + entry.name + b"/"] if entry.name != b".git" else []
                elif not entry.is_symlink():
                    odd.append(path + entry.name)
    return tuple(odd)


async def in_submodules(shadow: Shadow) -> dict[bytes, bool]:
    """The submodules in whose folders something lies, and whether a repository does; of none of it git speaks."""
    links = await submodules(shadow)
    return await trio.to_thread.run_sync(_in_folders, shadow.worktree, links, read_aside(shadow.index))


def _in_folders(root: Path, folders: Iterable[bytes], aside: Aside) -> dict[bytes, bool]:
    found: dict[bytes, bool] = {}
    for folder in folders:
        full = os.path.join(os.path.realpath(os.fsencode(root)), folder)
        if os.path.realpath(full) != full:
            continue  # behind a link
        if os.path.lexists(os.path.join(full, b".git")):
            found[folder] = True
        elif not (aside.holds(folder) or aside.built(folder)) and _any_file(full, folder, aside):
            found[folder] = False
    return found


def _any_file(full: bytes, folder: bytes, aside: Aside) -> bool:
    closed: list[OSError] = []
    for place, folders, files in os.walk(full, onerror=closed.append):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        below = os.path.join(folder, os.path.relpath(place, full)) if place != full else folder
        if any(not aside.holds(os.path.join(below, name)) for name in (*files, *links)):
            return True
    return any(not isinstance(error, FileNotFoundError) for error in closed)  # nobody knows what lies there


async def _submodule(shadow: Shadow, path: bytes) -> Entry | None:
    """The commit a submodule stands at; when it is not filled, the one it is known by."""
    inside = _below(shadow.worktree, path)
    if (inside / ".git").exists() and (sha := await commit_of(inside, "HEAD")):
        return SUBMODULE, sha
    return None


def _below(root: Path, path: bytes) -> Path:
    return Path(os.fsdecode(os.path.join(os.fsencode(root), path)))
