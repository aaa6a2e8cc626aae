"""README's recording: a real Claude Code meets its limit, a real Codex goes on, in a real terminal.

`HUB_TEST_KEEP=1 pytest -m agents tests/e2e/test_recording.py` draws it anew.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import pytest

from tests.agents import base_env
from tests.faults.harness import git
from tests.hub.cli.tmux import terminal
from tests.model_server import Turn
from tests.pictures.recording import recorded
from tests.pictures.sources import ROOT
from tests.waiting import until

pytestmark = pytest.mark.agents

PICTURE = ROOT / "design/handoff.svg"
COLUMNS, LINES = 92, 30
SLOW = 240.0
_MOMENT = re.compile(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]|\b\d+ s\b")
DONE = "take it:"


def test_a_handoff_as_a_terminal_shows_it(team):
    team.hire("claude", "codex")
    made = team.made
    (made.root / "Makefile").write_text("test:\n\t@test -f greeting.txt && test -f test_greeting.sh\n")
    git(made.root, "add", "-A")
    git(made.root, "commit", "-q", "-m", "checks")
    team.script(
        "claude",
        Turn.tool("shell", "echo Hello > greeting.txt", say="The greeting first, then its test."),
        Turn.limit(),
    )
    team.script(
        "codex",
        Turn.tool(
            "write",
            "test_greeting.sh",
            "grep -q Hello greeting.txt\n",
            say="The greeting is there; what is left is its test.",
        ),
        Turn.text("The greeting has its test."),
    )
    home = team.tmp / "home"
    home.mkdir(exist_ok=True)
    shown = {"HUB_AMBIENT": "0", "TERM": "xterm-256color", "COLORTERM": "truecolor", "TZ": "UTC"}
    env = made.environ(**{**base_env(home), **shown})
    env["PATH"] = f"{_named(team.tmp)}:{env['PATH']}"
    kept = {name for name in env if not name.startswith(("TMUX", "PS1", "PYTEST", "COV", "NO_COLOR"))}
    with terminal(
        made.root, {name: env[name] for name in kept if "\n" not in env[name]}, columns=COLUMNS, lines=LINES
    ) as shell:
        shell.press("-l", "hub run --verify 'make test' 'Add a greeting, with a test'")
        shell.press("Enter")
        screens = _watched(shell)
    last = screens[-1][1]
    assert "handing over: claude/default -> codex/default" in _plain(last)
    assert "done and verified" in _plain(last)
    text = recorded(
        screens, COLUMNS, LINES, "A real run: Claude Code meets its limit, Codex goes on, make test passes"
    )
    if os.environ.get("HUB_TEST_KEEP"):
        PICTURE.write_text(text)
    assert PICTURE.exists()


def _named(folder: Path) -> Path:
    """A folder in which hub is called hub."""
    tools = folder / "named"
    tools.mkdir()
    (tools / "hub").write_text(f'#!/bin/sh\nexec {sys.executable} -m hub "$@"\n')
    (tools / "hub").chmod(0o755)
    return tools


def _plain(screen: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", screen)


def _watched(shell) -> list[tuple[float, str]]:
    """Each screen that is another one, with its instant; a spinner that turns makes none."""
    began = time.monotonic()
    found: list[tuple[float, str]] = []

    def over() -> bool:
        screen = shell.tmux("capture-pane", "-p", "-e").rstrip("\n")
        seen = _still(screen)
        if not found or seen != _still(found[-1][1]):
            found.append((time.monotonic() - began, screen))
        return DONE in seen

    until(over, "the session is over", SLOW)
    return found


def _still(screen: str) -> str:
    return _MOMENT.sub("", _plain(screen))
