"""Whether a working tree is still what was snapshotted.

Owns: the comparison of a working tree with a tree that is stored, and when it is made in a handoff.
Must not: write anything to the working tree or the repository, or take a missing answer for a good one.
"""

from __future__ import annotations

import contextlib
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.git.env import together
from hub.io.git.scan import Entry, gather, scan, tree_diff
from hub.io.git.shadow import base_tree
from hub.io.git.view import open_ground, tracked_paths


async def tree_matches(worktree: Path, tree: str, *, root: Path) -> bool:
    """Whether a snapshot of the worktree would have the tree `tree`. The same answer as comparing `tree_hash`.

    Raises:
        HubError: As `tree_hash`.
    """
    ground = await open_ground(worktree, root)

    async def stored() -> dict[bytes, Entry | None]:
        base = await base_tree(ground.shadow)
        pairs = await tree_diff(base, tree, cwd=worktree, where=ground.shadow.where)
        return {path: new for path, (_, new) in pairs.items()}

    found, tracked, expected = await together(
        partial(scan, ground.shadow), partial(tracked_paths, ground), stored
    )
    work = await gather(ground.shadow, found, tracked)
    return dict(work.entries) == expected


@attrs.define
class WorktreeCheck:
    """Of a handoff: whether the next agent finds what was snapshotted."""

    root: Path
    _wanted: SessionRecord | None = None
    _asked: trio.Event = attrs.field(factory=trio.Event)
    _looking: trio.Lock = attrs.field(factory=trio.Lock)
    _looked: dict[str, bool] = attrs.field(factory=dict)

    async def run(self) -> None:
        """Look early where that was asked for, for ever. What goes wrong is met again, and told, at `same_tree`."""
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            with contextlib.suppress(HubError, OSError):
                async with self._looking:
                    if self._wanted is not None:
                        await self._look(self._wanted)

    def look_early(self, record: SessionRecord) -> None:
        """Ask for a look beside other work, where nobody is in the worktree until `same_tree`."""
        self._wanted = record
        self._asked.set()

    async def same_tree(self, record: SessionRecord) -> bool:
        """Whether the worktree still is what was snapshotted.

        Looked at here where hub was started anew since, and for a second receiver: it may find changes of one that failed.

        Raises:
            HubError: As `tree_matches`.
        """
        async with self._looking:
            self._wanted = None
            if record.handoff_id not in self._looked:
                await self._look(record)
        return self._looked.pop(record.handoff_id)

    async def _look(self, record: SessionRecord) -> None:
        same = await tree_matches(Path(record.worktree), record.handoff.snapshot_tree, root=self.root)
        self._looked[record.handoff_id] = same
