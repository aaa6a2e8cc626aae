"""A project with both scripted agents, for the session's parts."""

import pytest

from tests.faults.harness import project


@pytest.fixture
def two(tmp_path):
    """The first agent asks and waits, the second finishes."""
    with project(tmp_path) as found:
        found.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
        found.script("demo-second", {"done": "finished"})
        found.configure()
        yield found
