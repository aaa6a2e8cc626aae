"""The clock that a test turns, and the place whose time it is.

Owns: both.
Must not: wait, or stand still for anybody else.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import pytest


@attrs.define
class Clock:
    """Shows what the test has set."""

    now: float = 1_000_000.0
    """Epoch seconds."""

    def __call__(self) -> float:
        return self.now


@contextmanager
def in_zone(name: str) -> Iterator[None]:
    """This process in another time zone, for the length of the block."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("TZ", name)
        time.tzset()
        yield
    time.tzset()
