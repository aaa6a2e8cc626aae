"""A project whose daemon has scripted agents."""

import pytest

from tests.faults.harness import project


@pytest.fixture
def work(tmp_path):
    """See `tests.faults.harness`."""
    with project(tmp_path) as made:
        yield made
