"""The terminal screen through a whole handoff of real agents: approved, answered and taken by keys alone."""

from __future__ import annotations

import shutil

import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import git
from tests.hub.tui.test_tmux import Terminal
from tests.model_server import Turn
from tests.waiting import Gate, until

pytestmark = pytest.mark.agents
RULES = '\n[[approvals]]\ncommand = "touch*"\nreason = "looked at"\n'
VERIFY = 'verify = ["test -f one.txt && test -f two.txt && test -f three.txt"]'


def sees(terminal, *words):
    """The screen that shows these words; real agents take their time."""

    def look():
        shown = terminal.screen()
        return shown if all(word in shown for word in words) else ""

    try:
        return until(look, f"{words} on the screen", PATIENCE)
    finally:
        print(terminal.screen())


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_claude_to_codex_with_an_approval_a_reply_and_the_taking(team, tmp_path):
    """Nothing but keys goes in, and nothing but what the screen shows is waited for."""
    team.hire("claude", "codex", session=VERIFY)
    config = team.made.root / "hub.toml"
    config.write_text(config.read_text() + RULES)
    with Gate(tmp_path / "gate") as gate:
        team.script("claude", Turn.shell("touch one.txt"), Turn.limit(resets_in=7200))
        team.script(
            "codex",
            Turn.write("two.txt", "by codex\n"),
            Turn.shell(gate.command),
            Turn.text("The second is there."),
            Turn.write("three.txt", "as you said\n"),
            Turn.text("The third too."),
        )
        team.start()
        with Terminal(team.made, size=(110, 36)) as terminal:
            sees(terminal, "no session yet", "n New")
            terminal.keys("n")
            sees(terminal, "What is to be done?")
            terminal.keys("Write the files", "Enter")
            sees(terminal, "How is it known to be done?")
            terminal.keys("Enter")
            sees(terminal, "Who starts?")
            terminal.keys("Enter")
            sees(terminal, "Needs you (1)", "Write the files")
            terminal.keys("a")
            sees(terminal, "touch one.txt", "looked at", "y Allow once")

            def allowed() -> bool:
                terminal.keys("y")
                return "y Allow once" not in terminal.screen()

            until(allowed, "the yes is taken, once the request could be read", PATIENCE)
            terminal.keys("Enter")
            sees(terminal, "handing the work over: ", "codex goes on with the work", "read _ < ")
            terminal.keys("e")
            sees(terminal, "Your answer to the agent")
            terminal.keys("Write three.txt as well", "Enter")
            sees(terminal, "you: Write three.txt as well")
            gate.open()
            sees(terminal, "The third too.", "session completed, verified")
            terminal.keys("w")
            sees(terminal, "claude ──→ codex", "RESUMING")
            terminal.keys("t")
            sees(terminal, "Take the result?")
            terminal.keys("y")
            sees(terminal, "Taken: 3 files")
    assert git(team.made.root, "log", "-1", "--format=%s") == "Write the files"
    assert (team.made.root / "three.txt").read_text() == "as you said\n"
    assert "Write three.txt as well" in str(team.mains("codex")[-1].body)
