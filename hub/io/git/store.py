"""Putting a working tree's changes into the object database.

Owns: the one stream that makes blobs, trees and the commit of a snapshot, and the same changes in an index.
Must not: move a ref of the repository, or read a file otherwise than byte for byte.

`git fast-import` takes the place of `hash-object`, `update-index`, `write-tree` and `commit-tree`: one process
and one fsync of one pack, whatever the number of files. hub reads the files itself, so no filter can come
between, and no link can lead out of the tree.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.errors import Code, HubError
from hub.io.git.digest import Content, hasher, reread
from hub.io.git.env import git
from hub.io.git.guard import EMAIL, NAME
from hub.io.git.refs import Where
from hub.io.git.scan import Entry, TreeChanges
from hub.io.git.shadow import Shadow, scratch, throwaway

_PLAIN = re.compile(rb"[A-Za-z0-9._/+@=,-]+")
_PRINTABLE = range(0x23, 0x7F)
_BATCH = 1 << 22
_LARGE = 1 << 20
_ALTERNATES = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
_CONFIG = (("fastimport.unpackLimit", "0"), ("core.fsync", "objects"))
"""The ref that an import moves is the shadow's, which nobody reads: it need not be durable."""


_SAME_PACK = "cannot create keep file"
"""What git says while another import is just storing the very same pack: two sessions begin with the same changes."""
_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Seconds until it is tried again: the other one needs a moment."""


class MovingError(Exception):
    """A file changed between two looks at it."""


@attrs.frozen
class StoredObjects:
    """What a stream made."""

    commit: str
    tree: str
    moved: bool
    """Whether a file was being written to meanwhile."""


@attrs.frozen
class CommitDraft:
    """A commit to be made."""

    base: str
    """The tree that the work is relative to."""
    parents: tuple[str, ...]
    message: str
    when: int
    """Its date, epoch seconds."""
    who: str = f"{NAME} <{EMAIL}>"
    """Whose it is."""


async def store_commit(
    shadow: Shadow,
    draft: CommitDraft,
    work: TreeChanges,
    *,
    settle: bool,
) -> StoredObjects:
    """Makes a commit of the base tree with the work on top; moves nothing.

    Args:
        shadow: The working tree's.
        draft: The commit.
        work: What changes.
        settle: Whether a file that changed since it was looked at is taken as it is now.

    Raises:
        MovingError: A file changed since it was looked at.
        HubError: NO_SPACE, READ_ONLY, NO_PERMISSION, GIT_FAILED.
    """
    for pause in _PAUSES:
        try:
            return await _import(shadow, draft, work, settle=settle)
        except HubError as error:
            if _SAME_PACK not in error.detail:
                raise
        await trio.sleep(pause)
    return await _import(shadow, draft, work, settle=settle)


async def _import(shadow: Shadow, draft: CommitDraft, work: TreeChanges, *, settle: bool) -> StoredObjects:
    moved: set[bytes] = set()
    work = attrs.evolve(work, contents=await _unknown(shadow, work.contents))
    stream = partial(_batch, _stream(shadow, draft, work, moved, settle=settle))
    args = ("--quiet", "--force", "--done", "--date-format=raw")
    done = await git(
        "fast-import", *args, cwd=shadow.worktree, where=shadow.where, config=_CONFIG, stdin=stream
    )
    lines = done.text.split("\n")
    if len(lines) != 2:  # noqa: PLR2004  # the commit and its tree
        raise HubError(Code.GIT_FAILED, f"git fast-import: unexpected answer {done.text[:200]!r}")
    return StoredObjects(lines[0], lines[1].split(" ")[2].partition("\t")[0], bool(moved))


async def _unknown(shadow: Shadow, contents: Mapping[bytes, Content]) -> Mapping[bytes, Content]:
    """Without the large ones that a pack has already: git would find that out too, once it had stored them again.

    The packs alone are asked: of a loose one nobody knows whether whoever made it saw to it that it outlives a power cut.
    """
    large = sorted({content.oid for content in contents.values() if content.size >= _LARGE})
    if not large:
        return contents
    asked = "".join(f"{oid}\n" for oid in large).encode()
    with throwaway(shadow.git_dir, "packs") as packs:
        for name in ("pack", "info"):
            (packs / name).symlink_to(shadow.objects / name)
        where = attrs.evolve(shadow, objects=packs).where
        told = await git("cat-file", "--batch-check", cwd=shadow.worktree, where=where, stdin=asked)
    known = {line.split(" ")[0] for line in told.text.split("\n") if not line.endswith(" missing")}
    return {path: content for path, content in contents.items() if content.oid not in known}


def _batch(pieces: Iterator[bytes]) -> bytes:
    """Some megabytes of the stream; b"" at its end. Blocking."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= _BATCH:
            break
    return b"".join(held)


def _stream(
    shadow: Shadow, draft: CommitDraft, work: TreeChanges, moved: set[bytes], *, settle: bool
) -> Iterator[bytes]:
    text = draft.message.encode()
    who = f"{draft.who} {draft.when} +0000"
    yield b"feature done\ncommit refs/heads/snapshot\nmark :1\n"
    yield f"author {who}\ncommitter {who}\ndata {len(text)}\n".encode() + text + b"\n"
    words = ("from", *["merge"] * len(draft.parents))
    yield "".join(f"{word} {parent}\n" for word, parent in zip(words, draft.parents, strict=False)).encode()
    yield f'M 040000 {draft.base} ""\n'.encode()
    # Removals first: a path may have become a directory of others.
    gone = [path for path, entry in work.entries.items() if entry is None]
    yield b"".join(b"D %b\n" % quoted(path) for path in gone)
    for path, entry in work.entries.items():
        if entry is None:
            continue
        content = work.contents.get(path)
        if content is None:
            yield b"M %b %b %b\n" % (entry[0].encode(), entry[1].encode(), quoted(path))
        else:
            yield from _inline(shadow, path, content, moved, settle=settle)
    yield b'\nget-mark :1\nls :1 ""\ndone\n'


def _inline(
    shadow: Shadow, path: bytes, content: Content, moved: set[bytes], *, settle: bool
) -> Iterator[bytes]:
    yield b"M %b inline %b\ndata %d\n" % (content.mode.encode(), quoted(path), content.size)
    if content.target is not None:
        yield content.target
    else:
        oid, left = hasher(shadow.algorithm, content.size), content.size
        for piece in reread(shadow.worktree, path, content.size):
            oid.update(piece)
            left -= len(piece)
            yield piece
        if left:
            raise MovingError
        if oid.hexdigest() != content.oid:
            if not settle:
                raise MovingError
            moved.add(path)
    yield b"\n"


async def apply(spare: Shadow, entries: Mapping[bytes, Entry | None], conflicts: bytes = b"") -> None:
    """Brings a throw-away index in line with the changes; conflicts (as `ls-files -u -z` gives) stay conflicts.

    Guarantees: the index is a file of its own afterwards, also where nothing has changed and it was another's second name.
    """
    again = dict.fromkeys(line.partition(b"\t")[2] for line in conflicts.split(b"\0")[:-1])
    await put_entries({**entries, **again}, conflicts, cwd=spare.worktree, where=spare.where, zero=spare.zero)


async def put_entries(
    entries: Mapping[bytes, Entry | None],
    more: bytes = b"",
    *,
    cwd: Path,
    where: Where | None = None,
    zero: str = "",
) -> None:
    """Brings an index in line: removals first, for a path may have become a directory of others; and `more` of its lines.

    `zero`, the id that stands for nothing, is needed where no entry tells how long an id is.
    """
    zero = zero or "0" * max((len(entry[1]) for entry in entries.values() if entry), default=40)
    sides = sorted(entries.items(), key=lambda side: side[1] is not None)
    lines = ((*(entry or ("0", zero)), path) for path, entry in sides)
    stdin = b"".join(b"%b %b\t%b\0" % (mode.encode(), oid.encode(), path) for mode, oid, path in lines) + more
    await git("update-index", "--force-write-index", "-z", "--index-info", cwd=cwd, where=where, stdin=stdin)


async def would_be(shadow: Shadow, entries: Mapping[bytes, Entry | None]) -> str:
    """The tree that the changes would make. Nothing stays behind: its trees go to a throw-away database."""
    with throwaway(shadow.git_dir, "objects") as directory:
        info = directory / "info"
        info.mkdir()
        (info / "alternates").write_bytes(os.fsencode(shadow.objects) + b"\n")
        async with scratch(shadow, shadow.index) as spare:
            aside = attrs.evolve(spare, objects=directory)
            await apply(aside, entries)
            done = await git("write-tree", "--missing-ok", cwd=shadow.worktree, where=aside.where)
    return done.text


def quoted(path: bytes) -> bytes:
    """A path as git reads it in a stream: quoted as in C, so any byte can be said."""
    if _PLAIN.fullmatch(path):
        return path
    plain = (b"%c" % byte if byte in _PRINTABLE and byte != ord("\\") else b"\\%03o" % byte for byte in path)
    return b'"' + b"".join(plain) + b'"'


def more_objects(folder: Path, known: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment in which git reads this object database too, before those of `known`."""
    folders = (quoted(os.fsencode(folder)).decode("ascii"), (known or {}).get(_ALTERNATES))
    return {_ALTERNATES: ":".join(filter(None, folders))}
