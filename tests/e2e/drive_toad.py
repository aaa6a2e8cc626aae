"""Toad in front of real agents: a client of the Agent Client Protocol that others made, driven by keys as its user does."""

from __future__ import annotations

import shlex
import shutil
import sys

import pytest

from tests.agents import base_env
from tests.e2e.conftest import PATIENCE
from tests.e2e.test_terminal import RULES, sees
from tests.hub.tui.test_tmux import Terminal
from tests.model_server import Turn
from tests.toad import toad
from tests.waiting import until

pytestmark = pytest.mark.agents
HUB = shlex.join([sys.executable, "-m", "hub", "acp"])
LAST = "Both files are there."
EMPTY = "How can I help you today?"


def says(terminal: Terminal, words: str) -> None:
    """Send a prompt. Toad may take the first Enter for what it proposes to complete the words with."""
    terminal.keys("-l", words)
    sees(terminal, words)

    def sent() -> bool:
        terminal.keys("Enter")
        return EMPTY in terminal.screen()

    until(sent, "the prompt is sent", PATIENCE)


def chosen(terminal: Terminal) -> None:
    """Resume the session in sight. The list takes an Enter only once it is filled."""

    def left() -> bool:
        if "Pick a session to resume" not in terminal.screen():
            return True
        terminal.keys("Enter")
        return False

    until(left, "the session is resumed", PATIENCE)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_a_permission_the_wall_a_cancel_and_all_of_it_again_after_a_restart(team, tmp_path):
    """Claude asks and hits its limit, Codex goes on; the next turn is cancelled; another Toad before another daemon has it all."""
    program = toad()
    team.hire("claude", "codex")
    config = team.made.root / "hub.toml"
    config.write_text(config.read_text() + RULES)
    team.script("claude", Turn.shell("touch asked.txt"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text(LAST), Turn.shell("sleep 600"))
    api = team.start()
    home = tmp_path / "toad"
    home.mkdir()
    env = {
        **base_env(home),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "NO_COLOR": "",
        "COLUMNS": "120",
        "LINES": "60",
    }
    with Terminal(
        team.made, "acp", HUB, "--title", "hub", size=(120, 60), program=program, **env
    ) as terminal:
        sees(terminal, EMPTY, "Default")
        says(terminal, "Write the files, please")
        sees(terminal, "claude asks: looked at", "Allow this for the whole session")
        terminal.keys("a")
        shown = sees(terminal, "hub: Done, not verified.")
        wall = shown.index("hub: claude/default stops here")
        assert wall < shown.index("hub: codex/default goes on with the work.") < shown.index(LAST)
        [first] = api.get("/api/sessions")["sessions"]
        assert team.made.show(f"hub/{first['sessionId']}:asked.txt") == b""

        says(terminal, "More of it, please")
        sees(terminal, "sleep 600")
        terminal.keys("Escape")
        sees(terminal, "Press esc again to cancel")
        terminal.keys("Escape")
        sees(terminal, "hub: Stopped; every byte is on its branch.")
        states = [row["sessionState"] for row in api.get("/api/sessions")["sessions"]]
        assert states == ["completed", "stopped"]

    team.made.stop()
    team.start()
    with Terminal(team.made, size=(120, 60), program=program, **env) as terminal:
        sees(terminal, "Choose your fighter")
        terminal.keys("C-r")
        sees(terminal, "Pick a session to resume", "New Session")
        chosen(terminal)
        on = "hub: codex/default goes on with the work."
        shown = sees(
            terminal, "Write the files, please", on, LAST, "hub: Stopped; every byte is on its branch."
        )
        assert shown.count(on) == 1
