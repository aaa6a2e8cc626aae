"""Waiting for a change that another task makes.

Owns: `Condition`.
Must not: hold what changes.
Tests: tests/hub/actors/common/test_condition.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

import attrs
import trio


@attrs.define(eq=False)
class Condition:
    """A condition variable of one event loop: nothing comes between a look and the wait, so it needs no lock."""

    _changed: trio.Event = attrs.field(factory=trio.Event, init=False)

    def notify_all(self) -> None:
        """Wake whoever waits."""
        self._changed.set()
        self._changed = trio.Event()

    async def wait(self) -> None:
        """Until the next change."""
        await self._changed.wait()

    async def wait_for(self, predicate: Callable[[], object], timeout: float = math.inf) -> bool:
        """Until a change after which the predicate holds, at once where it holds already; at most `timeout` seconds.

        Returns:
            Whether it holds.
        """
        with trio.move_on_after(timeout):
            while not predicate():
                await self.wait()
        return bool(predicate())
