"""Watching an actor end, without being tied to it.

Owns: the notification and its cancellation. Must not: tell twice; block the actor that ended.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from supervisors.exits import Exit


@attrs.frozen
class Down:
    """The incarnation that was watched is gone."""

    name: str
    """The actor's name."""
    generation: int
    """Which incarnation ended; 0 when there had never been one."""
    exit: Exit | None
    """How; None when there had never been one."""


class Monitor:
    """One watch on one incarnation. Its callback is called exactly once, or never after `cancel()`.

    The callback is synchronous and must be quick: to tell an actor, let it `try_cast`.
    """

    __slots__ = ("_callback", "_watchers")

    def __init__(self, callback: Callable[[Down], object], watchers: dict[Monitor, None]) -> None:
        self._callback: Callable[[Down], object] | None = callback
        self._watchers = watchers
        watchers[self] = None

    def cancel(self) -> None:
        """Stop watching. After it the callback is not called. Idempotent."""
        self._callback = None
        self._watchers.pop(self, None)

    def fire(self, down: Down) -> None:
        """Tell the watcher, unless it was told or has cancelled."""
        callback, self._callback = self._callback, None
        self._watchers.pop(self, None)
        if callback is not None:
            callback(down)
