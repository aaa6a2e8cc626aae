"""The files of a working tree that are not ignored.

Owns: asking git for them.
Must not: open one of them.
"""

from __future__ import annotations

from pathlib import Path

from hub.io.git.env import git


async def files(root: Path) -> list[bytes]:
    """Paths relative to `root`, sorted: what git tracks or would, without what `.gitignore` and its kin leave out.

    A path may be gone, a link or a directory (a nested repository's): git tells its index, not the disk.

    Raises:
        HubError: NOT_A_REPOSITORY, and as `git`.
    """
    done = await git(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate", cwd=root
    )
    return sorted(done.out.split(b"\0")[:-1])
