"""Waiting for a change that another task makes, and working beside one.

Owns: `Condition` and `beside`.
Must not: hold what changes.
Tests: tests/hub/actors/common/test_condition.py
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import TypeVar

import attrs
import trio

from hub.errors import HubError

T = TypeVar("T")


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


async def beside(work: Callable[[], Awaitable[T]], *others: Callable[[], Awaitable[object]]) -> T:
    """What the work comes to; the others go on until it is over, and no longer.

    Raises:
        HubError: Of the work, as itself and not as a group.
    """
    result: T | HubError
    async with trio.open_nursery() as nursery:
        for other in others:
            nursery.start_soon(other)
        try:
            result = await work()
        except HubError as error:
            result = error
        nursery.cancel_scope.cancel(reason="the work is over")
    if isinstance(result, HubError):
        raise result
    return result
