"""Which files the work has touched, and what they hold.

Owns: the list of paths between two commits, with the SHA-256 of what each holds in the newer one, and how many lines of
each have changed.
Must not: read a file through a link, or follow a path out of the worktree.
"""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

import trio

from hub.domain.contract import ManifestEntry
from hub.io.git.digest import SUBMODULE
from hub.io.git.env import git
from hub.io.git.refs import BASE, kept_ref, objects
from hub.io.git.scan import tree_diff

MAX_FILES = 10_000
_GROUP = 256
"""Objects read by one git: bounds what is held at once."""


async def manifest(root: Path, base: str, sha: str) -> tuple[tuple[ManifestEntry, ...], int]:
    """The files that differ between `base` and `sha`, in the order of their names, and how many more there are.

    A deleted file has no SHA-256. A link's is that of its target's name, a submodule has none.
    """
    pairs = await tree_diff(base, sha, cwd=root)
    kept = {path: new for path, (_, new) in islice(pairs.items(), MAX_FILES)}
    hashes = await _hashes(root, [new[1] for new in kept.values() if new and new[0] != SUBMODULE])
    entries = tuple(
        ManifestEntry(path.decode("utf-8", "replace"), hashes.get(new[1], "") if new else "", modified=True)
        for path, new in kept.items()
    )
    return entries, len(pairs) - len(kept)


async def paths_of(root: Path, sha: str) -> list[str]:
    """Every path of a commit's tree."""
    done = await git("ls-tree", "-r", "-z", "--name-only", "--full-tree", sha, cwd=root)
    return done.out.decode("utf-8", "replace").split("\0")[:-1]


async def changed_lines(root: Path, session_id: str, base: str, sha: str) -> tuple[tuple[str, str], ...]:
    """Each path the session has changed, with how much: `("src/a.py", "+3 -1")`, `("a.png", "binary file")`.

    The session began at the commit that carries the user's uncommitted work, else at `base`; "" is no session.
    """
    options = ("-r", "-z", "--no-renames", "--numstat", "--no-ext-diff", "--no-textconv")
    done = None
    if session_id:
        done = await git("diff-tree", *options, kept_ref(session_id, BASE), sha, cwd=root, accept=(0, 128))
    if done is None or done.code:
        done = await git("diff-tree", *options, base, sha, cwd=root)
    rows = (row.split(b"\t", 2) for row in done.out.split(b"\0")[:-1])
    return tuple(
        (
            path.decode("utf-8", "replace"),
            "binary file" if added == b"-" else f"+{int(added)} -{int(removed)}",
        )
        for added, removed, path in rows
    )


async def _hashes(root: Path, oids: list[str]) -> dict[str, str]:
    """SHA-256 of each object."""
    found: dict[str, str] = {}
    unique = list(dict.fromkeys(oids))
    for start in range(0, len(unique), _GROUP):
        names = "".join(f"{oid}\n" for oid in unique[start : start + _GROUP]).encode()
        done = await git("cat-file", "--batch", cwd=root, stdin=names)
        found |= await trio.to_thread.run_sync(_digest_all, done.out)
    return found


def _digest_all(batch: bytes) -> dict[str, str]:
    return {oid: hashlib.sha256(body).hexdigest() for oid, body in objects(batch)}
