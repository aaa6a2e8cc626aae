"""Toad in front of real agents: a client of the Agent Client Protocol that others made, driven by keys as its user does."""

from __future__ import annotations

import shlex
import sys

import pytest

from tests.agents import base_env
from tests.e2e.conftest import PATIENCE
from tests.hub.cli.tmux import Terminal
from tests.hub.tui.kit import on_screen
from tests.model_server import Turn
from tests.toad import toad
from tests.waiting import until

pytestmark = pytest.mark.agents
HUB = shlex.join([sys.executable, "-m", "hub", "acp"])
LAST = "Both files are there."
EMPTY = "How can I help you today?"


def ready(terminal: Terminal) -> None:
    """Wait until Toad takes a prompt: before, it answers Enter with a flash, and nothing is sent."""

    def look() -> bool:
        shown = terminal.screen()
        return EMPTY in shown and "Default" in shown and "Initializing" not in shown

    until(look, "the agent is connected", PATIENCE)


def says(terminal: Terminal, words: str) -> None:
    """Send a prompt. Enter is pressed once: another would answer the question that may follow."""
    terminal.press("-l", words)
    terminal.shows(words)
    terminal.press("Enter")
    terminal.shows(EMPTY)


def test_a_permission_the_wall_a_cancel_and_all_of_it_again_after_a_restart(team, tmp_path):
    """Claude asks and hits its limit, Codex goes on; the next turn is cancelled; another Toad before another daemon has it all."""
    program = toad()
    team.hire("claude", "codex")
    team.looks_at()
    team.script("claude", Turn.shell("touch asked.txt"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text(LAST), Turn.shell("sleep 600"))
    api = team.start()
    home = tmp_path / "toad"
    home.mkdir()
    window = {"size": (120, 60), "program": program, **base_env(home), "NO_COLOR": ""}
    with on_screen(team.made, "acp", HUB, "--title", "hub", **window) as terminal:
        ready(terminal)
        says(terminal, "Write the files, please")
        terminal.shows("claude asks: looked at", "Allow this for the whole session")
        terminal.press("a")
        wall, on = "hub: handing the work over", "hub: codex goes on with the work."
        # Toad draws a screen in pieces.
        shown = terminal.shows(wall, on, LAST, "hub: Done, not verified.")
        assert sum("\N{WRENCH}" in row and "touch asked.txt" in row for row in shown.splitlines()) == 1
        assert shown.index(wall) < shown.index(on) < shown.index(LAST)
        [first] = api.get("/api/sessions")["sessions"]
        assert team.made.show(f"hub/{first['sessionId']}:asked.txt") == b""

        says(terminal, "More of it, please")
        terminal.shows("sleep 600")
        terminal.press("Escape", "Escape")  # the second counts for three seconds
        terminal.shows("hub: Stopped; every byte is on its branch.")
        states = [row["sessionState"] for row in api.get("/api/sessions")["sessions"]]
        assert states == ["completed", "stopped"]

    team.made.stop()
    team.start()
    with on_screen(team.made, **window) as terminal:
        terminal.shows("Choose your fighter")
        terminal.press("C-r")
        terminal.shows("Pick a session to resume", "New Session")
        terminal.press("Enter")  # once: Toad ends where a second comes before it has left the list
        shown = terminal.shows(
            "Write the files, please", on, LAST, "hub: Stopped; every byte is on its branch."
        )
        assert shown.count(on) == 1
