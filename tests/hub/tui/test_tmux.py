"""The real program in a real terminal: its first screen, keys, a kill, no colour, and no terminal at all."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import count

import pytest

from tests.hub.cli.command import hub
from tests.waiting import until

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
_COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:[34][0-8]|9[0-7]|10[0-7])[;m]")
"""A colour of the foreground or the background that is not the terminal's own."""
_NUMBERS = count()
HUB_TUI = (sys.executable, "-m", "hub", "tui")


class Terminal:
    """A tmux server of the test's own, with one window."""

    def __init__(self, work, *options, size=(80, 24), program=HUB_TUI, **env):
        self.socket = work.root.parent / f"tmux-{next(_NUMBERS)}"  # the last one's server may still be ending
        more = {"LANG": "C.UTF-8", "TERM": "xterm-256color", **env}
        command = shlex.join([*program, *options])
        # A size of the environment, as CI has one, would count for more than the window's.
        plain = {name: value for name, value in work.environ().items() if name not in ("COLUMNS", "LINES")}
        self.env = {**plain, **more}
        self.tmux(
            "-f",
            os.devnull,
            "new-session",
            "-d",
            "-x",
            str(size[0]),
            "-y",
            str(size[1]),
            "-c",
            str(work.root),
            f"{command}; exec cat",
        )

    def tmux(self, *words):
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *words], env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmux("kill-server")


def sees(terminal, *words):
    def look():
        shown = terminal.screen()
        return shown if all(word in shown for word in words) else ""

    return until(look, f"{words} on the screen")


def test_a_task_is_started_approved_and_watched_and_a_killed_screen_comes_back(work):
    work.script(
        "demo-first", {"say": "I begin."}, {"approve": "make all"}, {"say": "I go on."}, {"done": "finished"}
    )
    work.configure()
    work.start()
    with Terminal(work) as terminal:
        sees(terminal, "no session yet", "n New")
        terminal.keys("n")
        sees(terminal, "What is to be done?")
        terminal.keys("tidy up", "Enter")
        sees(terminal, "How is it known to be done?")
        terminal.keys("Enter")
        sees(terminal, "Needs you (1)", "tidy up")
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
    with Terminal(work) as terminal:
        sees(terminal, "Needs you (1)", "tidy up")
        terminal.keys("Enter")
        sees(terminal, "I begin.", "It waits for your word")
        terminal.keys("a")
        sees(terminal, "make all", "y Allow once")

        def taken():
            terminal.keys("y")
            return "y Allow once" not in terminal.screen()

        until(taken, "the yes is taken, once the request could be read")
        shown = sees(terminal, "I go on.", "session completed")
        assert shown.count("I begin.") == 1
        terminal.keys("q")
        until(lambda: "session completed" not in terminal.screen(), "it has left the screen as it was")


def test_no_colour_is_sent_where_none_is_wanted(work):
    work.script("demo-first", {"say": "a word"}, {"done": "finished"})
    work.configure()
    work.start()
    with Terminal(work, "--ascii", NO_COLOR="1") as terminal:
        shown = sees(terminal, "no session yet")
        assert shown.isascii()
        assert not _COLOUR.search(terminal.screen("-e"))


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
