"""A session on a terminal: what is shown, and the keys that answer it.

Owns: how the view, the keyboard and the answers go together, and the order of their end: the bottom lines first, then the
terminal as it was.
Must not: be imported where there is no terminal, or know what a key means.
Tests: tests/hub/cli/test_terminal.py
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager

import attrs
import trio

from hub.cli.terminal.answering import Answering
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.drawn import Drawn
from hub.cli.terminal.items import ConversationView, Item, ToldItem
from hub.cli.terminal.keys import Keyboard, hides_cursor
from hub.cli.terminal.side_by_side import SideBySide
from hub.client.quick import Api

_TICK = 0.1
"""Seconds between two drawings of the bottom lines."""


@attrs.define
class Cockpit(ConversationView):
    """The view of one session, or of those of a run: then no key is for any of them.

    Attributes:
        known: What is known of it.
        api: The way to its daemon.
        session_id: Which it is; "" = several.
        detached: Set when the user leaves it at work.
    """

    known: Conversation | SideBySide
    api: Callable[[], Api]
    session_id: str
    detached: trio.Event
    _drawn: Drawn = attrs.field(default=attrs.Factory(lambda self: Drawn(self.known), takes_self=True))
    _due: trio.Event = attrs.field(factory=trio.Event)

    def show(self, items: Iterable[Item]) -> None:
        """Add to what was said, and see whether something is asked."""
        self._drawn.show(items)
        self._due.set()

    def waiting(self, note: str) -> None:
        """In the bottom line, and once above it."""
        self._drawn.show([ToldItem(note or "the daemon is back; going on", "warn" if note else "good")])
        self._drawn.note = "waiting for the daemon" if note else ""

    @asynccontextmanager
    async def open(self, *, keys: bool) -> AsyncIterator[None]:
        """Draw, and read keys if there are any, for as long as the block lasts."""
        hides_cursor()
        self._drawn.start()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._tick)
                if keys and isinstance(self.known, Conversation):
                    nursery.start_soon(self._answer, self.known)
                yield
                nursery.cancel_scope.cancel(reason="nothing is shown any more")
        finally:
            self._drawn.stop()

    async def _tick(self) -> None:
        while True:
            self._drawn.tick()
            await trio.sleep(_TICK)

    async def _answer(self, known: Conversation) -> None:
        answering = Answering(
            known,
            self.api,
            self.session_id,
            lambda told: self._drawn.show([told]),
            detached=self.detached,
        )
        self._drawn.prompt, self._drawn.keys = lambda: answering.prompt, True
        keyboard = Keyboard()
        answering.unread = keyboard.unread
        keyboard.enter()
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(keyboard.suspended, self._drawn.stop, self._drawn.start)
                nursery.start_soon(self._news, answering)
                async with aclosing(keyboard.keys()) as keys:
                    async for pressed in keys:
                        await answering.keys(pressed)
                        self._drawn.tick()
        finally:
            keyboard.leave()
            self._drawn.prompt, self._drawn.keys = lambda: ("", ""), False

    async def _news(self, answering: Answering) -> None:
        while True:
            await self._due.wait()
            self._due = trio.Event()
            await answering.news()
