"""Keys in their order: each is for the screen that the ones before it have opened, however fast they are typed.

Owns: that a key waits until the one before has had its effect.
Must not: know what a key does.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import Awaitable, Callable

from textual.app import App
from textual.dom import DOMNode
from textual.events import Event, Key, Paste
from textual.worker import Worker

_OPENING = frozenset({"orders", "preview", "details", "filter"})
"""Groups of workers that may open a screen."""
_PATIENCE = 2.0
"""Seconds that a screen may take to open until keys no longer wait for it."""
_PAUSE = 0.01
_ROUNDS = 3
"""A key comes up to the app; what it chose comes up to the page; the screen that this opened has its parts."""
_AT_ONCE = ("ctrl+c", "ctrl+q")


class TypedKeys:
    """What was typed and is not passed on yet.

    Args:
        app: Whose keys they are.
        give: Passes an event on, as Textual does.
    """

    def __init__(self, app: App[None], give: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._give = give
        self._ahead: deque[Event] = deque()
        self._busy = False

    @staticmethod
    def has(event: Event) -> bool:
        """Whether it is one of those that keep their order."""
        return (
            isinstance(event, Key | Paste)
            and not event.is_forwarded
            and getattr(event, "key", "") not in _AT_ONCE
        )

    async def take(self, event: Event) -> None:
        """Pass it on, at once where nothing is under way."""
        if self._busy:
            self._ahead.append(event)
            return
        self._busy = True
        before = self._before()
        await self._give(event)
        self._app.run_worker(self._rest(*before), group="keys")

    def _before(self) -> tuple[object, set[Worker[object]]]:
        return self._app.screen, set(self._app.workers)

    async def _rest(self, screen: object, workers: set[Worker[object]]) -> None:
        try:
            await self._settled(screen, workers)
            while self._ahead:
                before = self._before()
                await self._give(self._ahead.popleft())
                await self._settled(*before)
        finally:
            self._busy = False

    async def _settled(self, screen: object, workers: set[Worker[object]]) -> None:
        """Once the key before is done with."""
        for _ in range(_ROUNDS):
            await self._round()
        late = time.monotonic() + _PATIENCE
        while (  # noqa: ASYNC110  # a worker that ends and a screen that opens are no one event
            self._app.screen is screen and self._opens(workers) and time.monotonic() < late
        ):
            await asyncio.sleep(_PAUSE)
        if self._app.screen is not screen:
            await self._round()

    def _opens(self, workers: set[Worker[object]]) -> bool:
        return any(
            one.group in _OPENING and one.is_running for one in self._app.workers if one not in workers
        )

    async def _round(self) -> None:
        """All that who has the keys, and those above it, have been sent so far is handled."""
        focused = self._app.focused
        nodes: list[DOMNode] = [*focused.ancestors_with_self] if focused else [self._app.screen, self._app]
        for node in nodes:
            handled = asyncio.Event()
            if node.call_later(handled.set):
                with contextlib.suppress(asyncio.TimeoutError):  # it went away meanwhile
                    await asyncio.wait_for(handled.wait(), _PATIENCE)
