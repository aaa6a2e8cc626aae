"""Projects for the command line's tests."""

import pytest

from tests.clock import in_zone
from tests.faults.harness import git, project


@pytest.fixture(autouse=True)
def utc():
    """Where no test says otherwise, times are as the API tells them."""
    with in_zone("UTC"):
        yield


@pytest.fixture
def repo(tmp_path):
    """A repository with one commit and both scripted agents off."""
    root = tmp_path / "plain"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("hello\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "start")
    return root


@pytest.fixture
def work(tmp_path):
    """A project that can start a daemon with scripted agents; see `tests.faults.harness`."""
    with project(tmp_path) as made:
        yield made
