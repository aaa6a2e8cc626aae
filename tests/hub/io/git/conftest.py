"""A repository with one commit, and a session's worktree in it."""

from pathlib import Path

import pytest

from tests.hub.io.git.kit import Worktree, make_repo, session


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The repository."""
    return make_repo(tmp_path / "repo")


@pytest.fixture
async def wt(root: Path) -> Worktree:
    """The worktree of session `s1` at its HEAD."""
    return await session(root)
