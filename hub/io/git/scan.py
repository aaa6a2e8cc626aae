"""What a working tree holds against the kept index.

Owns: finding the paths that may differ, looking at them, and saying what a tree of the working tree changes.
Must not: write anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.io.git.aside import LEFT
from hub.io.git.aside import read as read_aside
from hub.io.git.digest import SUBMODULE, Absent, Content, Found, Unstorable, look
from hub.io.git.directories import all_specials, news
from hub.io.git.env import git, together
from hub.io.git.own_folder import NEVER, folder_of
from hub.io.git.shadow import Shadow

_CANNOT_TELL = 128
"""Status of a git that was asked whether it ignores a path below a link."""
_MANY = 64 * 1024
"""Bytes of new names that are still told one by one; more of them are found as fast by looking everywhere."""

Entry = tuple[str, str]
"""Mode and object id."""


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


@attrs.frozen
class TreeChanges:
    """What the tree of a working tree changes against the kept index's."""

    entries: Mapping[bytes, Entry | None]
    """Path -> what is there; None = nothing any more."""
    contents: Mapping[bytes, Content]
    """What was read, by path."""
    skipped: tuple[Skipped, ...]

    @property
    def fresh(self) -> dict[bytes, Content]:
        """The contents that are in `entries`: what may not be stored yet."""
        return {path: self.contents[path] for path in self.entries if path in self.contents}


def show(path: bytes) -> str:
    """A path for people and for JSON; bytes that are no UTF-8 are escaped."""
    return path.decode("utf-8", "backslashreplace")


async def scan(shadow: Shadow, *, specials: bool = False) -> Scan:
    """Two looks at once: tracked files by their stat data, and untracked files.

    Args:
        shadow: The working tree's.
        specials: Whether what git does not speak of is looked for too; costs nothing where the checkout was noted.
    """
    paths: dict[bytes, Entry | None] = {}
    aside: list[_Aside] = []

    async def tracked() -> None:
        args = ("--raw", "-z", "--no-renames", "--ignore-submodules=dirty")
        done = await git("diff-files", *args, cwd=shadow.worktree, where=shadow.where)
        paths.update({path: old for path, (old, _) in raw_diff(done.out).items()})

    async def others() -> None:
        aside.append(await _aside(shadow, specials=specials))

    await together(tracked, others)
    for path in aside[0].untracked:
        paths.setdefault(path, None)
    return Scan(paths, tuple(aside[0].nested), aside[0].specials)


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
        if old is not None and old[0] == SUBMODULE and isinstance(what, Absent):
            new = await _submodule(shadow, path)
            skipped += [Skipped(show(path), "a submodule: only its commit is kept")] if new else []
        else:
            new = _entry(what, old)
        if isinstance(what, Unstorable):
            skipped.append(Skipped(show(path), what.reason))
        if new != old:
            entries[path] = new
    contents = {path: what for path, what in looked.items() if isinstance(what, Content) and path not in left}
    return TreeChanges(entries, contents, tuple(sorted(set(skipped), key=lambda item: item.path)))


def _is(what: Found, oid: str) -> bool:
    return isinstance(what, Content) and what.oid == oid


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


async def tree_diff(shadow: Shadow, old: str, new: str) -> dict[bytes, tuple[Entry | None, Entry | None]]:
    """What differs between two trees."""
    if old == new:
        return {}
    # Else git reads `.gitmodules` from the tree, and dies of what it may not obey there.
    args = ("-r", "-z", "--raw", "--no-renames", "--ignore-submodules=dirty", old, new)
    done = await git("diff-tree", *args, cwd=shadow.worktree, where=shadow.where)
    return raw_diff(done.out)


@attrs.frozen
class _Aside:
    """What is in a working tree beside the tracked files."""

    untracked: Sequence[bytes]
    """Files that are not ignored, those of nested repositories too."""
    nested: Sequence[bytes] = ()
    specials: tuple[bytes, ...] = ()


async def _aside(shadow: Shadow, *, specials: bool) -> _Aside:
    """Only what was not there at the checkout can be untracked; git is asked about that alone, where it is known."""
    found = await news(shadow)
    if found is None:
        odd = await all_specials(shadow) if specials else ()
        return _Aside(*await _others(shadow), odd)
    few = sum(map(len, found.names)) <= _MANY
    plain = await _not_ignored(shadow, found.names) if few and not found.folders else None
    if plain is not None:
        return _Aside(plain, (), found.specials)
    return _Aside(*await _others(shadow, only=found.names if few else ()), found.specials)


async def _not_ignored(shadow: Shadow, names: Sequence[bytes]) -> Sequence[bytes] | None:
    """Those of these files that git does not ignore, found without reading the index; None where git cannot tell so."""
    if not names:
        return ()
    # A name is never a pattern here, and with a dot before it no magic either; so literal it need not be called.
    asked = [b"./" + name for name in names]
    done = await git(
        "check-ignore",
        *("--no-index", "--stdin", "-z"),
        cwd=shadow.worktree,
        where=shadow.where | {"GIT_LITERAL_PATHSPECS": "0"},
        stdin=b"".join(name + b"\0" for name in asked),
        accept=(0, 1, _CANNOT_TELL),
    )
    if done.code == _CANNOT_TELL:
        return None
    ignored = frozenset(done.out.split(b"\0"))
    return [name for name, told in zip(names, asked, strict=True) if told not in ignored]


async def _others(
    shadow: Shadow, prefix: bytes = b"", only: Sequence[bytes] = ()
) -> tuple[list[bytes], list[bytes]]:
    """What git finds untracked below `prefix`, a nested repository; of `only` these paths where there are any."""
    inside = _below(shadow.worktree, prefix)
    where = shadow.where
    if prefix:
        where |= {"GIT_WORK_TREE": str(inside), "GIT_INDEX_FILE": str(shadow.git_dir / "no-index")}
    args = ("--", *map(os.fsdecode, only)) if only else ()
    done = await git("ls-files", "-o", "-z", "--exclude-standard", *args, cwd=inside, where=where)
    files: list[bytes] = []
    nested: list[bytes] = []
    for name in done.out.split(b"\0")[:-1]:
        if not name.endswith(b"/"):
            files.append(prefix + name)
            continue
        nested.append(prefix + name)
        inner, deeper = await _others(shadow, prefix + name)
        files += inner
        nested += deeper
    return files, nested


async def _submodule(shadow: Shadow, path: bytes) -> Entry | None:
    """The commit a submodule stands at; when it is not filled, the one it is known by."""
    inside = _below(shadow.worktree, path)
    if (inside / ".git").exists():
        done = await git("rev-parse", "--verify", "-q", "HEAD^{commit}", cwd=inside, accept=(0, 1, 128))
        if done.code == 0:
            return SUBMODULE, done.text
    return None


def _below(root: Path, path: bytes) -> Path:
    return Path(os.fsdecode(os.path.join(os.fsencode(root), path)))
