"""Which of a few files are not what they were when the session began.

Owns: the comparison of paths of a worktree with the commit the session began at.
Must not: follow a link, or write anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio

from hub.errors import Code, HubError
from hub.io.git.digest import Content, look
from hub.io.git.env import git
from hub.io.git.refs import BASE, kept_ref, read_commits


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
    (start,) = await read_commits([kept_ref(session_id, BASE)], cwd=root, where={})
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
