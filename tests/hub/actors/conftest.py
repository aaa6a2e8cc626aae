"""A project without an agent, and faults."""

import subprocess

import pytest

from hub.io import failpoints
from hub.io.project.places import Places


@pytest.fixture
def places(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    found = Places(tmp_path)
    found.ensure()
    return found


@pytest.fixture
def arm():
    """Plants faults in this process; they are gone after the test."""
    yield failpoints.arm
    failpoints.arm("")
