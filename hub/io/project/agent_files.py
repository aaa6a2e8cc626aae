"""The files by which a project gives agents orders, as they are in it: in the checkout, and in the commit behind it.

Owns: the search for them, and the digest of each.
Must not: run a program that the project names, follow a link out of sight, or judge what a file says.

A session works in a worktree of its own, made of the commit with the user's uncommitted work; but agents also look
into the folders above it. So both are looked at: the checkout with what git ignores at its root, and the commit. A link
counts with what it leads to, seen from the checkout and from a worktree. Above the project nothing is opened or
followed: what another user puts into a shared folder must not hold anybody up.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import stat
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path

import attrs

from hub.domain.trust.agent_files import (
    COPIES,
    FILES,
    FOLDERS,
    TEXTS,
    VARIABLES,
    inside,
    obeyed,
    reader_of,
)
from hub.domain.trust.settings import Does, Item, digest
from hub.errors import Code, HubError
from hub.io.git.guard import trusted_owners
from hub.io.git.progress import ran
from hub.io.git.refs import objects

_PIECE = 1 << 20
_LARGEST = 64 << 20
"""Bytes of a file that are read; a larger one is known by its size and time, which no commit can set."""
_MOST = 20_000
"""Files that are looked at below the folders of a checkout."""
_CLOSED = "it cannot be looked into"
_LINK, _MODULE = "120000", "160000"
_WORKTREE = ".hub/worktrees/s"
"""A place as far below the root as a session's."""


def orders(root: Path) -> list[Item]:
    """Every file of the project that an agent obeys, each with the digest of its content; sorted.

    Raises:
        HubError: `git_missing`, `git_failed`; `too_large` where there are too many of them to be looked at.
    """
    tree, here = (
        _committed(root),
        _lines(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
    )
    if here is None:
        raise HubError(Code.GIT_FAILED, "git could not list the files of the project.")
    tracked = {path for path in tree if reader_of(path)}
    shown = tracked | {path for path in here if reader_of(path)} | set(_at_root(root))
    found: dict[str, Item] = {}
    for path in sorted(shown):
        if (item := _of_checkout(root, path)) is not None:
            found[item.key] = item
    for item in _of_commit(root, tree, tracked):
        # Where the commit says the same as the checkout, it is told once.
        if item.key not in found:
            found[item.key] = item
        elif found[item.key].digest != item.digest:
            key = f"{item.key}@HEAD"
            found[key] = attrs.evolve(item, key=key, text=f"{item.text} (as committed)")
    return [found[key] for key in sorted(found)]


def above(root: Path) -> list[Item]:
    """The same of the folders above a project, and texts for agents: what neither the user nor root has put there.

    One for each name, known by owner, mode, time, size and where it leads as a link; a folder stands for all in it.
    """
    owners = {0, *trusted_owners()}
    names = (*FILES, VARIABLES, *FOLDERS, *TEXTS)
    found = [_foreign(folder, name, owners) for folder in root.parents for name in names]
    return sorted({item.key: item for item in found if item is not None}.values(), key=lambda item: item.key)


def _foreign(folder: Path, name: str, owners: Container[int]) -> Item | None:
    """The first part of this path below a folder that is another user's; None where the whole of it is not there."""
    item, place = None, folder
    try:
        for part in name.split("/"):
            place /= part
            there = place.lstat()
            if item is None and there.st_uid not in owners:
                target = os.readlink(place) if stat.S_ISLNK(there.st_mode) else ""
                about = [
                    there.st_uid,
                    there.st_mode,
                    there.st_mtime_ns,
                    there.st_size,
                    os.fsencode(target).hex(),
                ]
                item = _put_above(
                    place, name, digest(about), f": a link to {_shown(target)}" if target else ""
                )
                if target:
                    break
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return item or _put_above(place, name, digest([]), f": {_CLOSED}")
    return item


def _put_above(place: Path, name: str, known: str, said: str) -> Item:
    shown = _shown(str(place))
    text = (
        f"{shown} ({TEXTS.get(name) or reader_of(name)}){said}, which another user has put above the project"
    )
    return Item(Does.RUNS, f"file:{shown}", text, known)


def _item(path: str, known: str, said: str = "") -> Item:
    path, said = _shown(path), _shown(said)
    words = f"{path} ({reader_of(path)})" + (f": {said}" if said else "")
    return Item(Does.RUNS, f"file:{path}", words, known)


def _shown(name: str) -> str:
    """A name that may be no text, as one."""
    return os.fsencode(name).decode("utf-8", "replace")


# --- the checkout -------------------------------------------------------------------------------------------


def _at_root(root: Path) -> Iterator[str]:
    """What lies where every agent looks, also what git ignores."""
    yield from (name for name in (*FILES, VARIABLES) if os.path.lexists(root / name))
    for name in FOLDERS:
        folder = root / name
        if os.path.islink(folder):
            yield name
        elif os.path.isdir(folder):
            for path in _below(folder):
                inner = path.relative_to(root).as_posix()
                if reader_of(inner):
                    yield inner


def _below(folder: Path) -> Iterator[Path]:
    """The files and links below a folder, but those of installed packages and whole checkouts.

    Raises:
        HubError: `too_large`.
    """
    count = 0
    for where, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in ("node_modules", ".git")]
        folders[:] = [name for name in folders if not f"{where}/{name}".endswith(COPIES)]
        links = [name for name in folders if os.path.islink(f"{where}/{name}")]
        for name in (*files, *links):
            count += 1
            if count > _MOST:
                raise HubError(
                    Code.TOO_LARGE,
                    f"{folder} holds more than {_MOST} files: they cannot be looked at.",
                    hint="Take away what no agent needs there.",
                )
            yield Path(where, name)


def _of_checkout(root: Path, path: str) -> Item | None:
    """A file as it lies there; None when it does not, or says nothing that is obeyed."""
    place = root / path
    try:
        found = place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PermissionError:
        return _item(path, digest([]), _CLOSED)
    if stat.S_ISLNK(found.st_mode):
        target = str(place.readlink())
        return _item(path, digest([target, _led_to(root, path, target)]), f"a link to {target}")
    if stat.S_ISDIR(found.st_mode):
        return None  # a repository of its own; what lies in it is found one by one
    if stat.S_ISREG(found.st_mode) and found.st_size <= _LARGEST:
        with contextlib.suppress(PermissionError):
            return _of_bytes(path, place.read_bytes())
    about = digest([stat.S_IFMT(found.st_mode), found.st_size, found.st_mtime_ns])
    return _item(path, about, _CLOSED)


def _of_bytes(path: str, data: bytes) -> Item | None:
    if path == VARIABLES:
        variables = obeyed(data.decode("utf-8", "replace"))
        return _item(path, digest(variables), "sets " + ", ".join(sorted(variables))) if variables else None
    return _item(path, hashlib.sha256(data).hexdigest(), inside(path, data))


def _led_to(root: Path, path: str, target: str) -> list[object]:
    """What a link leads to from the checkout, and from a worktree: the digests of all files there."""
    found: list[object] = []
    for base in (root, root / _WORKTREE):
        place = Path(os.path.normpath(base / posixpath.dirname(path) / target))
        files = sorted(_below(place)) if os.path.isdir(place) else [place]
        found.append([[str(file.relative_to(place)), _hashed(file)] for file in files])
    return found


def _hashed(file: Path) -> str:
    """The SHA-256 of a regular file, links followed; "" for anything else."""
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return ""
            whole = hashlib.sha256()
            left = _LARGEST
            while left > 0 and (piece := opened.read(_PIECE)):
                whole.update(piece)
                left -= len(piece)
            return whole.hexdigest()
    except OSError:
        return ""


# --- the commit ---------------------------------------------------------------------------------------------


def _of_commit(root: Path, tree: Mapping[str, str], tracked: Iterable[str]) -> Iterator[Item]:
    """The same files as HEAD has them."""
    wanted = {path: tree[path].split(" ") for path in tracked}
    if not wanted:
        return
    contents = _contents(root, {oid for mode, _, oid in wanted.values() if mode != _MODULE})
    for path, (mode, _, oid) in wanted.items():
        data = contents.get(oid)
        if data is None:
            yield _item(path, digest([oid]), "a repository of its own" if mode == _MODULE else "")
        elif mode == _LINK:
            target = os.fsdecode(data)
            yield _item(path, digest([target, _led_to(root, path, target)]), f"a link to {target}")
            yield from _linked(path, target, tree)
        elif (item := _of_bytes(path, data)) is not None:
            yield item


def _linked(path: str, target: str, tree: Mapping[str, str]) -> Iterator[Item]:
    """What a link of the commit leads to within it."""
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    inner = sorted((p, line) for p, line in tree.items() if p == place or p.startswith(f"{place}/"))
    if inner:
        yield Item(Does.RUNS, f"file:{_shown(path)}/", _shown(f"{path}/ leads to {place}"), digest(inner))


def _committed(root: Path) -> dict[str, str]:
    """The files of HEAD, each with its mode, kind and object in one text; {} where there is no commit yet."""
    lines = _lines(root, "ls-tree", "-r", "-z", "--full-tree", "HEAD") or ()
    return {path: about for about, _, path in (line.partition("\t") for line in lines)}


def _contents(root: Path, oids: Iterable[str]) -> dict[str, bytes]:
    """The bytes of objects of the repository; one that is missing, or too large, is left out."""
    asked = sorted(oids)
    sizes = _objects(root, "--batch-check", asked)
    fit = [
        oid
        for oid, line in zip(asked, sizes.decode().splitlines(), strict=False)
        if line.split(" ")[-1].isdigit() and int(line.split(" ")[-1]) <= _LARGEST
    ]
    return {oid: bytes(body) for oid, body in objects(_objects(root, "--batch", fit))}


def _objects(root: Path, how: str, names: Iterable[str]) -> bytes:
    asked = "".join(f"{name}\n" for name in names).encode()
    return ran("cat-file", how, root=root, data=asked)[1]


def _lines(root: Path, *words: str) -> list[str] | None:
    """What a git lists that runs nothing a repository names; None where it fails."""
    code, out, _ = ran(*words, root=root)
    return [os.fsdecode(line) for line in out.split(b"\0") if line] if code == 0 else None
