"""The app on a terminal of the test's own, against a real daemon.

Owns: how it is started, how a test waits for what it shows, and its screen as text.
Must not: look past the screen but for what cannot be seen there.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from hub.client.quick import find
from hub.tui.app import HubApp
from hub.tui.look import UNICODE, Look
from tests.waiting import PATIENCE

_MASKS = (
    (re.compile(r"\b([shtd])-[0-9a-f]{8}-[0-9a-f]{8}\b"), r"\1-00000000-00000000"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "0000-00-00"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "00:00:00"),
    (re.compile(r"\b\d\d:\d\d\b"), "00:00"),
    (re.compile(r" +\d+ ms"), "    0 ms"),
    (re.compile(r"\b[0-9a-f]{7,12}\b"), "0000000"),
)


def text(app: HubApp) -> str:
    """The letters of the screen."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


def masked(shown: str) -> str:
    """The same on every day and machine: without numbers that are drawn anew each time."""
    for pattern, instead in _MASKS:
        shown = pattern.sub(instead, shown)
    return shown


async def sees(app: HubApp, pilot: Pilot[None], *words: str, patience: float = PATIENCE / 3) -> str:
    """The screen, once it shows all these words."""
    late = time.monotonic() + patience
    while True:
        shown = text(app)
        if all(word in shown for word in words):
            return shown
        assert time.monotonic() < late, f"not seen: {words}, {app.standing}, {app.taken} taken\n{shown}"
        await pilot.pause(0.02)


async def answers(app: HubApp, pilot: Pilot[None], key: str, *, patience: float = PATIENCE / 3) -> None:
    """Press a key until the box of an approval takes it: it does once what it shows could be read."""
    late = time.monotonic() + patience
    box = app.screen
    while app.screen is box:
        assert time.monotonic() < late, f"{key} is not taken\n{text(app)}"
        await pilot.press(key)
        await pilot.pause(0.02)


def shows(
    root: Path,
    story: Callable[[HubApp, Pilot[None]], Awaitable[Any]],
    /,
    *,
    size: tuple[int, int] = (80, 24),
    look: Look = UNICODE,
    **options: Any,
) -> Any:
    """Run the app in a project for as long as a story takes; Textual's loop is asyncio's, so the test itself is none."""

    async def main() -> Any:
        app = HubApp(lambda: find(None, root), project="repo", look=look, **options)
        async with app.run_test(size=size, notifications=True) as pilot:
            return await story(app, pilot)

    return asyncio.run(main())
