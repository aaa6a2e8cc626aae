"""The tree of a worktree as it is now, for a look at it.

Owns: a git directory and an object database that are gone when the look is over.
Must not: touch the worktree, its index, a ref, or the objects of the repository.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.git.scan import gather, scan
from hub.io.git.shadow import Shadow, base_tree
from hub.io.git.store import CommitDraft, MovingError, store
from hub.io.git.view import open_ground, tracked_paths

_ATTEMPTS = 3


@contextlib.asynccontextmanager
async def live_tree(worktree: Path, root: Path) -> AsyncIterator[tuple[str, Mapping[str, str]]]:
    """The tree that a snapshot of the worktree would have, and the environment in which git knows it.

    Raises:
        HubError: As `tree_hash`.
    """
    ground = await open_ground(worktree, root, None)
    shadow, base = ground.shadow, await base_tree(ground.shadow)
    with tempfile.TemporaryDirectory(prefix="live-", dir=shadow.git_dir) as directory:
        aside = _aside(shadow, Path(directory))
        for _ in range(_ATTEMPTS):
            work = await gather(shadow, await scan(shadow), await tracked_paths(ground))
            with contextlib.suppress(MovingError):
                made = await store(
                    aside, CommitDraft(base, (), "as it is now\n", int(time.time())), work, settle=True
                )
                yield made.tree, {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(aside.objects)}
                return
    raise HubError(Code.GIT_FAILED, f"{worktree} does not hold still long enough to be looked at.")


def _aside(shadow: Shadow, directory: Path) -> Shadow:
    """The same working tree, with a git directory of its own that reads the repository's objects."""
    objects = directory / "objects"
    for name in ("objects/info", "refs", "info"):
        (directory / name).mkdir(parents=True)
    for name in ("HEAD", "config", "info/attributes"):
        shutil.copyfile(shadow.git_dir / name, directory / name)
    (objects / "info" / "alternates").write_bytes(os.fsencode(shadow.objects) + b"\n")
    return attrs.evolve(shadow, git_dir=directory, objects=objects)
