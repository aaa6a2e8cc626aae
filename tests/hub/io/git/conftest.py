"""A repository with one commit, and a session's worktree in it."""

from pathlib import Path

import pytest

from tests.hub.io.git.kit import Worktree, make_repo, session, sh


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The repository."""
    return make_repo(tmp_path / "repo")


@pytest.fixture
async def wt(root: Path) -> Worktree:
    """The worktree of session `s1` at its HEAD."""
    return await session(root)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, of a user whom git knows: Ada."""
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    root = make_repo(tmp_path / "repo")
    sh(root, "config", "user.name", "Ada")
    sh(root, "config", "user.email", "ada@example.com")
    return root
