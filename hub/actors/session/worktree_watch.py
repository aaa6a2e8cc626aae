"""Whether the worktree that a receiver finds is the one that was snapshotted.

Owns: a watch on the worktree from before the snapshot to the dispatch, and the comparison where the watch cannot tell.
Must not: outlive a handoff, or take a missing answer for a good one.

The comparison looks at every file and takes as long as all else between a snapshot and the next agent. Mostly nothing
touches the worktree then, as nobody works in it, and the watch knows so without a look.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import attrs

from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io.git.check import tree_matches
from hub.io.git.env import together
from hub.io.git.watch import Watch, watch


@attrs.frozen
class WorktreeWatch:
    """By handoff: what is known of its worktree."""

    root: Path
    _watches: dict[str, Watch] = attrs.field(factory=dict)
    _looked: dict[str, bool] = attrs.field(factory=dict)

    async def watch(self, record: SessionRecord) -> None:
        """Watches from now on: no agent lives, and the snapshot is not begun."""
        self._watches.clear()
        made = await watch(Path(record.worktree), root=self.root)
        if made is not None:
            self._watches[record.handoff_id] = made

    async def look_early(self, record: SessionRecord) -> None:
        """Beside other work, where it will be needed. What goes wrong is met again, and told, at `same_tree`."""
        if not self._untouched(record):
            with contextlib.suppress(HubError):
                await self._look(record)

    async def same_tree(self, record: SessionRecord, meanwhile: Callable[[], Awaitable[object]]) -> bool:
        """Whether the worktree still is what was snapshotted; `meanwhile` is done when this returns.

        Compared here where the watch saw something, or hub was started anew since, and for a second receiver: it may
        find changes of one that failed.

        Raises:
            HubError: As `tree_matches`.
        """
        untouched = self._untouched(record)
        self._watches.clear()  # the receiver's own changes are no news
        if untouched:
            await meanwhile()
            return True
        if record.handoff_id in self._looked:
            await meanwhile()
        else:
            await together(partial(self._look, record), meanwhile)
        return self._looked.pop(record.handoff_id)

    def _untouched(self, record: SessionRecord) -> bool:
        found = self._watches.get(record.handoff_id)
        return found is not None and found.untouched()

    async def _look(self, record: SessionRecord) -> None:
        same = await tree_matches(Path(record.worktree), record.handoff.snapshot_tree, root=self.root)
        self._looked[record.handoff_id] = same
