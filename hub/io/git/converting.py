"""What two trees would be, had `git add` made them.

Owns: the conversions of line endings, encodings and `$Id$`, and the pointers of Git LFS, for what differs between two trees.
Must not: run a filter, or touch a working tree, an index or a ref of the repository.
Tests: tests/hub/io/git/test_converting.py

A snapshot has every file byte for byte, as its agent left it. Where the repository keeps a file otherwise than it is
checked out (`*.bat text eol=crlf`), that tree and the user's would differ in every line. So what is compared for the user,
or handed to him, is converted first, on both sides alike; the bytes themselves stay in the snapshot.

git does it, in a git directory of hub's own: the files are written into a folder as they are, and added from there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from enum import Enum, auto
from pathlib import Path

import attrs
import trio

from hub.io.git import lfs
from hub.io.git.digest import EXECUTABLE, FILE
from hub.io.git.env import git, git_asked
from hub.io.git.guard import Config
from hub.io.git.layout import common_dir
from hub.io.git.refs import Where
from hub.io.git.scan import Entry, tree_diff
from hub.io.git.shadow import bare, throwaway
from hub.io.git.store import more_objects, put_entries
from hub.io.project.places import Places, make_private_dir

_ATTRIBUTES = ("text", "eol", "crlf", "ident", "working-tree-encoding", "filter")
"""The later ones outdo the earlier."""
_UNSAID = (b"unspecified", b"unset")
_AS_IT_IS = "* -text -eol -crlf -ident -filter !working-tree-encoding\n"
_FILES = (FILE, EXECUTABLE)
_NONE = 1
"""How git says that it has found none."""

Entries = Mapping[bytes, Entry | None]


class _Means(Enum):
    """What may come of a file as it is added."""

    TEXT = auto()
    ENCODED = auto()
    """It is in an encoding that git reads, or it cannot be added."""
    POINTER = auto()
    """Git LFS keeps it."""


@attrs.frozen
class _Place:
    """Where it is done."""

    scratch: Path
    known: Where
    """How git in the repository knows what is made."""
    where: Where
    """A git directory of hub's with the objects of the repository, and nothing else of it."""
    exact: Path
    """Another, in which no file is converted."""
    zero: str
    """The id that stands for nothing."""
    config: Config
    """What the repository, or its user, says of files of which no attribute speaks."""
    pointers: bool
    """Whether the user's git would make pointers of what Git LFS is to keep; without its filter it keeps the bytes."""
    store: lfs.LfsStore | None
    """Where Git LFS is to have the bytes of its files; None where what is made goes again."""

    def index(self, name: str) -> tuple[Path, dict[str, str]]:
        """A folder for files, and the environment that names it and an index."""
        files = self.scratch / f"{name}.files"
        files.mkdir(exist_ok=True)
        more = {"GIT_WORK_TREE": str(files), "GIT_INDEX_FILE": str(self.scratch / f"{name}.index")}
        return files, {**self.where, **more}


@contextlib.asynccontextmanager
async def as_added(
    root: Path,
    old: str,
    new: str,
    where: Where,
    *,
    keep: bool = False,
    mine: str = "",
    pointers: bool = True,
) -> AsyncIterator[tuple[str, str, Where]]:
    """Two trees with the files that differ as `git add` would have stored them, and the environment in which git knows both.

    A file that git could not add, one that is not in the encoding it is said to have, stays as it is.

    Args:
        root: The project.
        old: A tree; one of a commit that is given by its name is answered by that.
        new: Another.
        where: How git knows them.
        keep: Whether what is made is the repository's from now on; else it goes when this is left.
        mine: A commit of the user's that both will be merged with. What of `old` it has as it is stays so: git would have
            stored it otherwise, but it is what the user has, and converted on one side alone it would be a conflict.
        pointers: Whether what Git LFS is to keep becomes its pointer; not where an agent goes on with the bytes.

    Raises:
        HubError: As `git`.
    """
    pairs = await tree_diff(old, new, cwd=root, where=where)
    paths = [path for path, pair in pairs.items() if any(map(_is_file, pair))]
    always = await _always(root) if paths else ""
    if not paths or (always in ("", "false") and not await _attributed(root, new, paths, where)):
        yield old, new, where
        return
    home = Places(root).git_dir
    make_private_dir(home.parent)
    make_private_dir(home)
    with throwaway(home, "added") as scratch:
        zero = "0" * len(next(entry[1] for pair in pairs.values() for entry in pair if entry))
        place = await _open(root, scratch, where, zero, always, keep=keep, pointers=pointers)
        before, after = ({path: pair[side] for path, pair in pairs.items()} for side in (0, 1))
        if meant := await _changeable(place, await _meant(place, new, paths), (before, after)):
            mended = meant
            if mine:
                moved = await tree_diff(old, mine, cwd=root, where=where)
                mended = {path: how for path, how in meant.items() if path in moved}
            old = await _added(place, "old", (old, old), before, mended)
            new = await _added(place, "new", (new, old), after, meant)
        yield old, new, place.known


async def _always(root: Path) -> str:
    """What `core.autocrlf` comes to: `true`, `false` or `input`; "" where nobody has set it."""
    asked = await git_asked("config", "--type=bool", "--get", "core.autocrlf", cwd=root)
    return asked.text if asked.code in (0, _NONE) else "input"


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry[0] in _FILES


async def _attributed(root: Path, tree: str, paths: Iterable[bytes], where: Where) -> bool:
    """Whether a `.gitattributes` stands beside one of the paths, or in a folder above; asked of those folders alone.

    Or in no commit: `.git/info/attributes`.
    """
    if _uncommitted(root).is_file():
        return True
    folders = {path[:end] for path in paths for end in _ends(path)}
    if any(b"\n" in folder for folder in folders):
        return True  # git could not be asked; with none nothing is found later either
    asked = b"".join(b"%b:%b.gitattributes\n" % (tree.encode(), folder) for folder in folders)
    found = await git("cat-file", "--batch-check=%(objecttype)", cwd=root, where=where, stdin=asked)
    return b"blob" in found.out.split(b"\n")


def _uncommitted(root: Path) -> Path:
    return common_dir(root) / "info" / "attributes"


def _ends(path: bytes) -> Iterator[int]:
    """Where the folders end in which a path is, the tree itself first."""
    end = 0
    yield end
    while end := path.find(b"/", end) + 1:
        yield end


async def _open(
    root: Path, scratch: Path, where: Where, zero: str, always: str, *, keep: bool, pointers: bool
) -> _Place:
    git_dir, own = await bare(root, scratch / "git")
    exact = scratch / "exact"
    shutil.copytree(git_dir, exact)
    (exact / "info" / "attributes").write_text(_AS_IT_IS, encoding="utf-8")
    if _uncommitted(root).is_file():
        shutil.copyfile(_uncommitted(root), git_dir / "info" / "attributes")
    config = [("core.autocrlf", always)] if always else []
    pointers = pointers and await lfs.fills(root)
    if keep:
        store = await lfs.store_of(root)
        return _Place(scratch, where, {**own, **where}, exact, zero, config, pointers, store)
    objects = git_dir / "objects"
    theirs = more_objects(Path(own["GIT_OBJECT_DIRECTORY"]), where)
    own |= {"GIT_OBJECT_DIRECTORY": str(objects), **theirs}
    known = {**where, **more_objects(objects, where)}
    return _Place(scratch, known, own, exact, zero, config, pointers, None)


async def _meant(place: _Place, tree: str, paths: list[bytes]) -> dict[bytes, _Means]:
    """Those of the paths of which something else may come."""
    cwd, env = place.index("attributes")
    await git("read-tree", tree, cwd=cwd, where=env)
    args = ("--cached", "-z", "--stdin", *_ATTRIBUTES)
    asked = await git("check-attr", *args, cwd=cwd, where=env, stdin=_lines(paths))
    fields = asked.out.split(b"\0")[:-1]
    found = dict.fromkeys(paths, _Means.TEXT) if place.config else {}
    for path, name, value in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        match name.decode():
            case _ if value in _UNSAID:
                pass
            case "filter":
                if value == b"lfs" and place.pointers:
                    found[path] = _Means.POINTER
            case "working-tree-encoding":
                found[path] = _Means.ENCODED
            case _:
                found[path] = _Means.TEXT
    return found


async def _changeable(
    place: _Place, meant: Mapping[bytes, _Means], sides: Iterable[Entries]
) -> dict[bytes, _Means]:
    """Those of the files of which something else can come: a text only if it has such a line ending, or a `$Id`.

    git looks for that in the blobs, so none is written out for it.
    """
    texts = {path for path, how in meant.items() if how is _Means.TEXT}
    found = set[bytes]()
    for side, entries in enumerate(sides):
        looked = {path: entries[path] for path in texts if _is_file(entries[path])}
        if not looked:
            continue
        cwd, env = place.index(f"look-{side}")
        await put_entries(looked, cwd=cwd, where=env)
        args = ("--cached", "-l", "-z", "-a", "-F", "-e", "\r", "-e", "$Id")
        found.update((await git("grep", *args, cwd=cwd, where=env, accept=(0, _NONE))).out.split(b"\0"))
    return {path: how for path, how in meant.items() if how is not _Means.TEXT or path in found}


async def _added(
    place: _Place, name: str, trees: tuple[str, str], entries: Entries, meant: Mapping[bytes, _Means]
) -> str:
    """A tree with these of its files added anew.

    Args:
        place: Where.
        name: Of this tree.
        trees: The tree, and that of the index to which its files are added: git leaves to one the line endings it knows.
        entries: What differs between the two.
        meant: Which files, and what comes of each.
    """
    files = {path: entry for path, entry in entries.items() if path in meant and _is_file(entry)}
    cwd, env = place.index(name)
    _, raw = place.index(f"{name}-exact")
    raw |= {"GIT_DIR": str(place.exact), "GIT_WORK_TREE": str(cwd)}
    await git("read-tree", trees[0], cwd=cwd, where=raw)
    await git("checkout-index", "-z", "--stdin", cwd=cwd, where=raw, stdin=_lines(files))
    for path in files:
        if meant[path] is _Means.POINTER:
            await trio.to_thread.run_sync(lfs.to_pointer, cwd / os.fsdecode(path), place.store)
    await git("read-tree", trees[1], cwd=cwd, where=env)
    rest = {path: entry for path, entry in entries.items() if path not in files}
    await put_entries(rest, cwd=cwd, where=env, zero=place.zero)
    encoded = [path for path in files if meant[path] is _Means.ENCODED]
    await _add(place, cwd, env, [path for path in files if path not in set(encoded)])
    for path in encoded:
        if await _add(place, cwd, env, [path], accept=(0, 128)):
            await put_entries({path: files[path]}, cwd=cwd, where=env)
    await trio.to_thread.run_sync(shutil.rmtree, cwd)
    return (await git("write-tree", cwd=place.scratch, where=env)).text


async def _add(
    place: _Place, cwd: Path, env: Where, paths: Iterable[bytes], accept: Iterable[int] = (0,)
) -> int:
    args = ("--add", "-z", "--stdin")
    done = await git(
        "update-index", *args, cwd=cwd, where=env, config=place.config, stdin=_lines(paths), accept=accept
    )
    return done.code


def _lines(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)
