"""A project with both scripted agents, for the session's parts."""

import pytest

from hub.io import failpoints
from tests.faults.harness import project


@pytest.fixture
def two(tmp_path):
    """The first agent asks and waits, the second finishes."""
    with project(tmp_path) as found:
        found.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
        found.script("demo-second", {"done": "finished"})
        found.configure()
        yield found


@pytest.fixture
def arm():
    """Plants faults in this process; they are gone after the test."""
    yield failpoints.arm
    failpoints.disarm()
