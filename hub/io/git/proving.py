"""The evidence for what an agent says is done, as far as the snapshot gives it.

Owns: which names are looked for in the snapshot's tree.
Must not: judge a claim (`hub.domain.result.proof` does), or look at the worktree: what is handed on is the snapshot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hub.domain.contract import ManifestEntry
from hub.domain.result.proof import Proofs, present, wanted
from hub.io.git.manifest import paths_of


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
