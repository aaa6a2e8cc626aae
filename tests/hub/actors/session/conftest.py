"""A project with both scripted agents, for the session's parts."""

import pytest


@pytest.fixture
def two(made):
    """The first agent asks and waits, the second finishes."""
    made.script("demo-first", {"say": "working"}, {"ask": "go on?"}, {"done": "finished"})
    made.script("demo-second", {"done": "finished"})
    made.configure()
    return made
