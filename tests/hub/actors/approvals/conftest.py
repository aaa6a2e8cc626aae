"""Faults for the approvals' tests."""

import pytest

from hub.io import failpoints


@pytest.fixture
def arm():
    """Plants faults in this process; they are gone after the test."""
    yield failpoints.arm
    failpoints.disarm()
