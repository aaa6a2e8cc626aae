"""The evidence for what an agent says is done: what the snapshot holds, and which files it changed that prove it.

Owns: which names are looked for in the snapshot's tree; the comparison of paths of a worktree with the session's start.
Must not: judge a claim (`hub.domain.result.proof` does), follow a link, or write anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import trio

from hub.domain.contract import ManifestEntry
from hub.domain.result.proof import Proofs, present, wanted
from hub.errors import Code, HubError
from hub.io.git.digest import Content, look
from hub.io.git.env import git
from hub.io.git.manifest import paths_of
from hub.io.git.refs import BASE, kept_ref, read_commits


async def proofs(
    root: Path, sha: str, tree: str, claims: Iterable[str], files: Sequence[ManifestEntry], *, verified: bool
) -> Proofs:
    """What shows that claims are true. All paths of the tree are listed only where the changed ones do not do.

    Args:
        root: The project.
        sha: The snapshot.
        tree: Its tree.
        claims: What is said to be done.
        files: What the work has changed.
        verified: Every acceptance command passed, and there is one.

    Raises:
        HubError: `git_failed`.
    """
    names = wanted(claims)
    deleted = present(names, (entry.path for entry in files if not entry.sha256))
    found = present(names, (entry.path for entry in files if entry.sha256))
    if sha and (left := names - found):
        found |= present(left, await paths_of(root, sha))
    return Proofs(verified=verified, files=found, deleted=deleted, ids=(sha, tree))


async def changed_since_start(
    root: Path, worktree: Path, session_id: str, base: str, paths: Sequence[str]
) -> tuple[str, ...]:
    """Those of `paths` that were files at the start and are not the same now, or were not there and are.

    The start is the commit that carries the user's uncommitted work, else `base`. A file mode alone is no change.

    Raises:
        HubError: GIT_FAILED when neither commit is there, WORKTREE_MISSING.
    """
    if not paths:
        return ()
    (start,) = await read_commits([kept_ref(session_id, BASE)], cwd=root)
    tree = start.sha if start is not None else base
    done = await git("ls-tree", "-z", tree, "--", *paths, cwd=root)
    then = dict(_entry(line) for line in done.out.split(b"\0")[:-1])
    names = [path.encode() for path in paths]
    algorithm = "sha256" if len(tree) == 64 else "sha1"  # noqa: PLR2004  # hex digits
    now = await trio.to_thread.run_sync(_oids, worktree, names, algorithm)
    return tuple(name.decode() for name in names if then.get(name) != now.get(name))


def _entry(line: bytes) -> tuple[bytes, str | None]:
    """A path and its content's id; None for a directory, which `look` does not see either."""
    meta, _, path = line.partition(b"\t")
    _, kind, oid = meta.decode().split(" ")
    return path, oid if kind == "blob" else None


def _oids(worktree: Path, names: Sequence[bytes], algorithm: str) -> dict[bytes, str]:
    try:
        found = look(worktree, sorted(names), algorithm, executable_bit=False)
    except OSError as error:
        raise HubError(Code.WORKTREE_MISSING, f"The worktree {worktree} is gone.") from error
    return {name: item.oid for name, item in found.items() if isinstance(item, Content)}
