"""The app on a terminal of the test's own, against a real daemon.

Owns: how it is started, how a test waits for what it shows, and its screen as text.
Must not: look past the screen but for what cannot be seen there.
"""

from __future__ import annotations

import asyncio
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from hub.client.quick import find
from hub.tui.app import HubApp
from hub.tui.look import UNICODE, Look
from tests.faults.harness import Project
from tests.hub.cli.tmux import Terminal, terminal
from tests.waiting import PATIENCE

HUB_TUI = (sys.executable, "-m", "hub", "tui")

_MASKS = (
    (re.compile(r"\b([shtd])-[0-9a-f]{8}-[0-9a-f]{8}\b"), r"\1-00000000-00000000"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "0000-00-00"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "00:00:00"),
    # Over midnight what was done is another day's: in a column, with less room behind it; near it, a reset in a sentence.
    (re.compile(r"(?<=^[> ] )\d\d [A-Z][a-z]{2} (\d\d:\d\d) ", re.MULTILINE), r"\1        "),
    (re.compile(r"\b(\d\d [A-Z][a-z]{2} )?\d\d:\d\d\b"), "00:00"),
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


Mask = tuple[re.Pattern[str], str]
"""What differs each time, and what is kept instead."""
Cell = tuple[str, str]
"""A letter, and how it looks."""


def cells(app: HubApp) -> list[list[Cell]]:
    """The screen as the terminal gets it: each letter with its colours, bold, dim or reversed."""
    found: list[list[Cell]] = []
    for strip in app.screen._compositor.render_strips():
        for line_filter in app.get_line_filters():
            strip = strip.apply_filter(line_filter, app.screen.styles.background)  # noqa: PLW2901  # one after the other
        found.append(
            [(letter, str(style or "")) for words, style, control in strip if not control for letter in words]
        )
    return found


def drawn(screen: list[list[Cell]], masks: Iterable[Mask] = ()) -> str:
    """A screen with its looks, as a file that can be read: a legend of the looks, then each line's runs.

    Args:
        screen: Its cells.
        masks: More of what is another on each machine; what stands instead looks as the first letter did.
    """
    names: dict[str, str] = {}
    lines = []
    for line in screen:
        runs: list[tuple[str, str]] = []
        for letter, look in _kept(line, (*_MASKS, *masks)):
            name = names.setdefault(look, f"{len(names):02}")
            if runs and runs[-1][0] == name:
                runs[-1] = name, runs[-1][1] + letter
            else:
                runs.append((name, letter))
        lines.append("".join(f"<{name}>{words}" for name, words in runs).rstrip())
    legend = "".join(f"{name} {look}\n" for look, name in names.items())
    return f"{legend}\n" + "\n".join(lines) + "\n"


def _kept(line: list[Cell], masks: Iterable[Mask]) -> list[Cell]:
    for pattern, instead in masks:
        text, fresh, at = "".join(letter for letter, _ in line), list[Cell](), 0
        for found in pattern.finditer(text):
            if found.end() > found.start():
                look = line[found.start()][1]
                fresh += [*line[at : found.start()], *((letter, look) for letter in found.expand(instead))]
                at = found.end()
        line = [*fresh, *line[at:]]
    return line


async def sees(
    app: HubApp, pilot: Pilot[None], *words: str, lacks: str = "", patience: float = PATIENCE / 3
) -> str:
    """The screen, once it shows all these words, and not the one that it is to lack."""
    late = time.monotonic() + patience
    while True:
        shown = text(app)
        if all(word in shown for word in words) and not (lacks and lacks in shown):
            return shown
        assert time.monotonic() < late, (
            f"not seen: {words}, {lacks=}, {app.standing}, {app.taken} taken\n{shown}"
        )
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


def on_screen(
    work: Project,
    *options: str,
    size: tuple[int, int] = (80, 24),
    program: Sequence[str] = HUB_TUI,
    **env: str,
) -> AbstractContextManager[Terminal]:
    """The real program in a real terminal."""
    # A size of the environment, as CI has one, would count for more than the window's.
    plain = {name: value for name, value in work.environ().items() if name not in ("COLUMNS", "LINES")}
    more = {"LANG": "C.UTF-8", "TERM": "xterm-256color", **env}
    return terminal(work.root, plain | more, columns=size[0], lines=size[1], shows=[*program, *options])


def allowed(screen: Terminal) -> None:
    """Answer yes to the request in sight, as often as it takes: one that comes too early to have been read for is not taken."""
    screen.answers("y", "y Allow once")
