"""The terminal screen through a whole handoff of real agents: approved, answered and taken by keys alone."""

from __future__ import annotations

import pytest

from tests.faults.harness import git
from tests.hub.tui.kit import allowed, on_screen
from tests.model_server import Turn
from tests.waiting import Gate

pytestmark = pytest.mark.agents
RULES = '\n[[approvals]]\ncommand = "touch*"\nreason = "looked at"\n'
VERIFY = 'verify = ["test -f one.txt && test -f two.txt && test -f three.txt"]'


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
        with on_screen(team.made, size=(110, 36)) as terminal:
            terminal.shows("no session yet", "n New")
            terminal.press("n")
            terminal.shows("What is to be done?")
            terminal.press("Write the files", "Enter")
            terminal.shows("How is it known to be done?")
            terminal.press("Enter")
            terminal.shows("Who starts?")
            terminal.press("Enter")
            terminal.shows("Needs you (1)", "Write the files")
            terminal.press("a")
            terminal.shows("touch one.txt", "looked at", "y Allow once")
            allowed(terminal)
            terminal.press("Enter")
            terminal.shows("handing the work over: ", "codex goes on with the work", "read _ < ")
            terminal.press("e")
            terminal.shows("Your answer to the agent")
            terminal.press("Write three.txt as well", "Enter")
            terminal.shows("you: Write three.txt as well")
            gate.open()
            terminal.shows("The third too.", "session completed, verified")
            terminal.press("w")
            terminal.shows("claude ──→ codex", "RESUMING")
            terminal.press("t")
            terminal.shows("Take the result?")
            terminal.press("y")
            terminal.shows("Taken: 3 files")
    assert git(team.made.root, "log", "-1", "--format=%s") == "Write the files"
    assert (team.made.root / "three.txt").read_text() == "as you said\n"
    assert "Write three.txt as well" in str(team.mains("codex")[-1].body)
