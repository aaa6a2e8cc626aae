"""The real program in a real terminal: its first screen, keys, a kill, no colour, and no terminal at all."""

import os
import re
import shutil
import subprocess

import pytest

from tests.hub.cli.command import hub
from tests.hub.tui.kit import allowed, on_screen
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
_COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:[34][0-8]|9[0-7]|10[0-7])[;m]")
"""A colour of the foreground or the background that is not the terminal's own."""


def test_a_task_is_started_approved_and_watched_and_a_killed_screen_comes_back(work):
    work.script(
        "demo-first", {"say": "I begin."}, {"approve": "make all"}, {"say": "I go on."}, {"done": "finished"}
    )
    work.configure()
    work.start()
    with on_screen(work) as terminal:
        terminal.shows("no session yet", "n New")
        terminal.press("n")
        terminal.shows("What is to be done?")
        terminal.press("tidy up", "Enter")
        terminal.shows("How is it known to be done?")
        terminal.press("Enter")
        terminal.shows("Needs you (1)", "tidy up")
        pane = terminal.tmux("list-panes", "-F", "#{pane_pid}").strip()
        children = subprocess.run(
            ["pgrep", "-P", pane], capture_output=True, text=True, check=True
        ).stdout.split()
        os.kill(int(children[0]), 9)
        until(
            lambda: (
                subprocess.run(
                    ["pgrep", "-P", pane, "-f", "hub tui"], check=False, capture_output=True
                ).returncode
            ),
            "it is gone",
        )
    with on_screen(work) as terminal:
        terminal.shows("Needs you (1)", "tidy up")
        terminal.press("Enter")
        terminal.shows("I begin.", "It waits for your word")
        terminal.press("a")
        terminal.shows("make all", "y Allow once")
        allowed(terminal)
        shown = terminal.shows("I go on.", "session completed")
        assert shown.count("I begin.") == 1
        terminal.press("q")
        until(lambda: "session completed" not in terminal.screen(), "it has left the screen as it was")


def test_no_colour_is_sent_where_none_is_wanted(work):
    work.script("demo-first", {"say": "a word"}, {"done": "finished"})
    work.configure()
    work.start()
    with on_screen(work, "--ascii", NO_COLOR="1") as terminal:
        shown = terminal.shows("no session yet")
        assert shown.isascii()
        assert not _COLOUR.search(terminal.screen(colours=True))


def test_without_a_terminal_it_says_what_else_there_is(work):
    done = hub("tui", cwd=work.root, env=work.environ())
    assert done.returncode == 2
    assert "hub ls" in done.stderr


def test_with_json_it_gives_the_sessions(work):
    work.script("demo-first", {"done": "finished"})
    work.configure()
    work.start()
    done = hub("tui", "--json", cwd=work.root, env=work.environ())
    assert '"sessions": []' in done.stdout
