"""Whether a working tree is still what a snapshot of it was.

Owns: the comparison of a working tree with a tree that is stored.
Must not: write anything to the repository or the working tree.

The tree of the working tree is not built: both it and the stored one are known by how they differ from the kept
index's, and two trees are the same exactly when these differences are. That spares copying and hashing an index
of all files, which is most of the time in a large repository.
"""

from __future__ import annotations

from pathlib import Path

from hub.io.git.env import together
from hub.io.git.scan import Entry, Scan, gather, scan, tree_diff
from hub.io.git.shadow import base_tree
from hub.io.git.view import open_ground, tracked_paths


async def tree_matches(
    worktree: Path, tree: str, kept_index: Path | None = None, *, root: Path | None = None
) -> bool:
    """Whether a snapshot of the worktree would have the tree `tree`. The same answer as comparing `tree_hash`.

    Raises:
        HubError: As `tree_hash`.
    """
    ground = await open_ground(worktree, root, kept_index)
    scans: list[Scan] = []
    tracked: list[frozenset[bytes]] = []
    expected: dict[bytes, Entry | None] = {}

    async def look() -> None:
        scans.append(await scan(ground.shadow))

    async def staged() -> None:
        tracked.append(await tracked_paths(ground))

    async def stored() -> None:
        pairs = await tree_diff(ground.shadow, await base_tree(ground.shadow), tree)
        expected.update({path: new for path, (_, new) in pairs.items()})

    await together(look, staged, stored)
    work = await gather(ground.shadow, scans[0], tracked[0])
    return dict(work.entries) == expected
