"""A project that is a repository."""

from pathlib import Path

import pytest

from tests.faults.harness import git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository without a commit."""
    made = tmp_path / "project"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    return made
