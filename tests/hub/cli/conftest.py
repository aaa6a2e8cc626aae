"""Projects for the command line's tests."""

import pytest

from tests.clock import in_zone
from tests.faults.harness import project, repository


@pytest.fixture(autouse=True)
def utc():
    """Where no test says otherwise, times are as the API tells them."""
    with in_zone("UTC"):
        yield


@pytest.fixture
def repo(tmp_path):
    """A repository with one commit and both scripted agents off."""
    return repository(tmp_path / "plain")


@pytest.fixture
def work(tmp_path):
    """A project that can start a daemon with scripted agents; see `tests.faults.harness`."""
    with project(tmp_path) as made:
        yield made
