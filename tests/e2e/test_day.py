"""A day with hub, typed into a real terminal: two real agents at once, what needs a person, a wall, a death, the results.

Every screen that the day comes by is kept in `day.txt` beside this file; `HUB_TEST_KEEP=1` keeps them anew.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tomllib
from pathlib import Path
from typing import Any

import attrs
import pytest
import tomli_w

from tests.agents import base_env
from tests.faults.harness import git, until
from tests.hub.cli.forms import settled
from tests.hub.cli.tmux import terminal
from tests.model_server import Turn
from tests.waiting import ended

pytestmark = pytest.mark.agents

HUB = f"{sys.executable} -m hub"
SLOW = 240.0
SCREENS = Path(__file__).parent / "day.txt"
MAKEFILE = "test:\n\t@! grep -q bad state.txt\n"
RULE = {"provider": "claude", "command": "*greeting*", "decision": "ask"}
GH = '#!/bin/sh\nprintf \'%s\\n\' "$@" > "$HOME/gh-said"\necho https://example.org/pull/7\n'


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Both tables in one."""
    both = dict(one)
    for key, value in other.items():
        both[key] = merged(both[key], value) if isinstance(both.get(key), dict) else value
    return both


@pytest.fixture
def day(team):
    """A project with a Makefile and a remote; agents and a rule in the user's own settings; nothing of hub's in it yet."""
    made = team.made
    team.hire("claude", "codex", session="concurrent = 2")
    files = [made.root / "hub.toml", made.own / "config.toml"]
    tables = merged(*(tomllib.loads(path.read_text()) for path in files))
    files[1].write_text(tomli_w.dumps({**tables, "approvals": [RULE]}))
    files[0].unlink()
    (made.root / "Makefile").write_text(MAKEFILE)
    (made.root / "state.txt").write_text("good\n")
    git(made.root, "add", "Makefile", "state.txt")
    git(made.root, "commit", "-q", "-m", "checks")
    git(made.root, "init", "-q", "--bare", str(team.tmp / "remote.git"))
    git(made.root, "remote", "add", "origin", str(team.tmp / "remote.git"))
    tools = team.tmp / "tools"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    return team


def environ(team) -> dict[str, str]:
    """A user's, who has not said yet what is trusted."""
    home = team.tmp / "home"
    home.mkdir(exist_ok=True)
    shown = {"HUB_TRUST": "", "HUB_AMBIENT": "0", "TERM": "xterm-256color", "TZ": "UTC", "NO_COLOR": "1"}
    mine = team.made.environ(**{**base_env(home), **shown})
    mine["PATH"] = f"{team.tmp / 'tools'}:{mine['PATH']}"
    kept = {name for name in mine if not name.startswith(("TMUX", "PS1", "PYTEST", "COV"))}
    return {name: mine[name] for name in kept if "\n" not in mine[name]}


@attrs.define
class Screens:
    """What stood on the terminal at each step, without what is of its moment."""

    folder: Path
    kept: list[tuple[str, str]] = attrs.field(factory=list)

    def keep(self, step: str, screen: str) -> None:
        """One more."""
        self.kept.append((step, settled(screen, self.folder)))

    def compare(self) -> None:
        """The steps of the day are those that are kept, and each of their screens says as much."""
        text = "\n\n".join(f"=== {step} ===\n{screen}" for step, screen in self.kept) + "\n"
        if os.environ.get("HUB_TEST_KEEP"):
            SCREENS.write_text(text)
        steps = re.findall(r"^=== (.*) ===$", SCREENS.read_text(), re.MULTILINE)
        assert steps == [step for step, _ in self.kept]


def test_a_day(day):  # noqa: PLR0915  # one day, from the morning to the evening
    made, root, screens = day.made, day.made.root, Screens(day.tmp)
    day.script("claude", Turn.shell("echo a greeting > greeting.txt"), Turn.limit())
    day.script("codex", Turn.write("state.txt", "bad\n"), Turn.text("It is done."),
               Turn.write("state.txt", "better\n"), Turn.text("Now it is."),
               Turn.write("polite.txt", "please\n"), Turn.text("The greeting is there."))  # fmt: skip
    with terminal(root, environ(day), lines=50) as shell:

        def types(words: str) -> None:
            shell.press("-l", f"{HUB} {words}")
            shell.press("Enter")

        def sees(words: str, *answers: str) -> str:
            try:
                until(lambda: words in shell.screen(), f"it shows {words!r}", SLOW)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{shell.screen()}") from None
            screen = shell.screen()
            screens.keep(words, screen)
            if answers:
                shell.press(*answers)
            return screen

        def begun() -> str:
            return re.findall(r"session (s-[0-9a-f]+-[0-9a-f]+)", sees("watch it:"))[-1]

        def clears() -> None:
            """Once the command is over; its words must not be taken for the next one's."""
            until(lambda: shell.screen().rstrip().endswith("$"), "the command is over")
            shell.tmux("send-keys", "-R")
            shell.tmux("clear-history")

        # A first look: what checks the work is proposed; a yes to it is the word of trust for it too.
        types("init")
        sees("make test", "y", "Enter")
        sees("next: hub doctor")
        assert tomllib.loads((root / "hub.toml").read_text())["session"]["verify"] == ["make test"]
        types("run -d 'Add a greeting'")
        first = begun()

        # One waits for a word while another begins; the daemon dies, and nobody notices but by its being away.
        types(f"attach {first}")
        sees("allow it?", "d")
        clears()
        types("run -d 'Better the state'")
        second = begun()
        clears()
        types("ls")
        sees("Needs you")
        os.kill(daemon := made.announced(), signal.SIGKILL)
        assert ended(daemon), "it holds its lock to its very end"
        made.start(**base_env(day.tmp / "home"))
        clears()
        types(f"attach {second}")
        screen = sees("done and verified")
        assert "codex" in screen
        clears()
        types(f"attach {first}")
        sees("allow it?")
        shell.answers("y")
        screen = sees("done and verified")
        assert "handing over: claude/default -> codex/default" in screen
        clears()

        # The results: one as a commit of the user's, one as a pull request; then nothing is left but these.
        types(f"take {first}")
        sees("taken as")
        until((root / "greeting.txt").exists, "it is there", SLOW)
        types(f"pr {second}")
        sees("https://example.org/pull/7")
        clears()
        types("clean")
        sees("removed")
        until(lambda: not list((made.hub / "worktrees").iterdir()), "the worktrees are gone", SLOW)
    screens.compare()
    assert git(root, "log", "-1", "--format=%an %s") == "t Add a greeting"
    assert sorted(git(root, "show", "--name-only", "--format=", "HEAD").split()) == [
        "greeting.txt",
        "polite.txt",
    ]
    assert (day.tmp / "home/gh-said").read_text().startswith("pr\ncreate\n")
    assert git(day.tmp / "remote.git", "show", "better-the-state:state.txt") == "better"
    assert len(day.mains("codex")) >= 4, "refused, it went on in its own session"
    assert git(root, "status", "--porcelain") in ("", "?? hub.toml")
