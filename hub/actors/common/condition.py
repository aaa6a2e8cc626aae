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

    _waiting: dict[trio.Event, Callable[[], object]] = attrs.field(factory=dict, init=False)
    """Whoever waits, by what wakes him, and for what."""

    def notify_all(self) -> None:
        """Wake those for whom what they wait for holds: to wake all, at each of an agent's lines, costs ten times a look."""
        for changed, predicate in tuple(self._waiting.items()):
            if predicate():
                changed.set()

    async def wait(self) -> None:
        """Until the next change."""
        await self._woken(lambda: True)

    async def wait_for(self, predicate: Callable[[], object], timeout: float = math.inf) -> bool:
        """Until a change after which the predicate holds, at once where it holds already; at most `timeout` seconds.

        Args:
            predicate: Cheap, and raises nothing: whoever makes a change looks at it.
            timeout: Seconds.

        Returns:
            Whether it holds.
        """
        with trio.move_on_after(timeout):
            while not predicate():
                await self._woken(predicate)
        return bool(predicate())

    async def _woken(self, predicate: Callable[[], object]) -> None:
        changed = trio.Event()
        self._waiting[changed] = predicate
        try:
            await changed.wait()
        finally:
            del self._waiting[changed]


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
