"""One session, and every face of hub: begun on the page, approved in the terminal, answered in the editor, taken by a command.

Of scripted agents, and of real ones.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.agents import base_env
from tests.faults.harness import Project, git, project
from tests.hub.acp.kit import editor
from tests.hub.cli.command import hub
from tests.hub.cli.tmux import Terminal
from tests.hub.tui.kit import allowed as yes
from tests.hub.tui.kit import on_screen
from tests.hub.web.page.conftest import PROGRAM, launched
from tests.model_server import Turn
from tests.waiting import PATIENCE, Gate

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed"),
]
SOON = PATIENCE * 1000
FIRST = (
    {"say": "I build it."},
    {"approve": "make all"},
    {"ask": "sqlite or postgres?"},
    {"write": {"path": "store.txt", "text": "as you said\n"}},
    {"limit": {"resetsIn": 3600}},
)
SECOND = (
    {"say": "I go on with it."},
    {"write": {"path": "more.txt", "text": "the rest\n"}},
    {"done": "All of it is there."},
)


def begun(made: Project, browser: Browser, verify: str, asks: str) -> tuple[Page, str]:
    """The page of a session that was begun on the board and asks for something; it must never be loaded again."""
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{made.port}/")
    page.get_by_label("Task").fill("Build the store")
    page.get_by_label("Acceptance command").fill(verify)
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/session/s-*", timeout=SOON)
    page.evaluate("document.documentElement.dataset.same = 'yes'")
    expect(page.locator("#asked .ask")).to_contain_text(asks, timeout=SOON)
    return page, page.url.rpartition("/")[2]


def allowed(terminal: Terminal, page: Page, asks: str) -> None:
    """The yes of a user in the terminal; the page knows of it."""
    terminal.shows("Needs you (1)", "needs approval", "Build the store")
    terminal.press("a")
    terminal.shows(asks, "y Allow once")
    yes(terminal)
    expect(page.locator("#asked .ask")).to_have_count(0, timeout=SOON)


def seen_to_its_end(page: Page, reply: str, handoff: str) -> None:
    """The page has it all, and is the very document that was loaded at the beginning."""
    expect(page.locator("#now .chip.completed")).to_have_text("verified", timeout=SOON)
    expect(page.locator("#stream .you")).to_contain_text(reply)
    expect(page.locator("#handoffs")).to_contain_text(handoff)
    assert page.evaluate("document.documentElement.dataset.same") == "yes"


def taken(made: Project, session: str) -> None:
    """The result, by a command: one commit of the user's."""
    done = hub("take", session, cwd=made.root, env=made.environ())
    assert done.returncode == 0, done.stderr
    assert git(made.root, "log", "-1", "--format=%an %s") == "t Build the store"


def test_begun_on_the_page_approved_in_the_terminal_answered_in_the_editor_taken_by_a_command(tmp_path):
    """What one face is told, each of the others shows."""
    with project(tmp_path) as made, launched() as browser:
        made.script("demo-first", *FIRST)
        made.script("demo-second", *SECOND)
        made.configure()
        made.start()
        page, session = begun(made, browser, "test -f store.txt && test -f more.txt", "make all")
        with on_screen(made, size=(100, 30)) as terminal:
            allowed(terminal, page, "make all")
            terminal.shows("needs a reply")
            expect(page.locator("#steer .asks")).to_have_text("sqlite or postgres?", timeout=SOON)
            with editor(made) as ed:
                assert "result" in ed.load(session)
                assert "sqlite or postgres?" in ed.words()
                assert ed.prompt("sqlite")["result"]["stopReason"] == "end_turn"
                said = ed.words()
                assert said.index("demo-second goes on") < said.index("I go on with it.")
                assert "All of it is there." in said
            terminal.shows("Done (1)", "verified")
        seen_to_its_end(page, "sqlite", "demo-first to demo-second")
        taken(made, session)
        assert (made.root / "store.txt").read_text() == "as you said\n"
        assert (made.root / "more.txt").read_text() == "the rest\n"
        assert len(made.starts()) == 2


@pytest.mark.agents
def test_the_same_with_claude_at_its_wall_and_codex(team, tmp_path):
    """The reply reaches Codex while it works, and it does what it was told."""
    team.hire("claude", "codex")
    made, reply = team.made, "Write three.txt as well"
    team.looks_at()
    with Gate(tmp_path / "gate") as gate, launched() as browser:
        team.script("claude", Turn.shell("touch one.txt"), Turn.limit(resets_in=7200))
        team.script(
            "codex",
            Turn.shell(gate.command),
            Turn.text("The first is there."),
            Turn.write("three.txt", "as you said\n"),
            Turn.text("All of it is there."),
        )
        team.start()
        page, session = begun(made, browser, "test -f one.txt && test -f three.txt", "touch one.txt")
        with on_screen(made, size=(100, 30)) as terminal:
            allowed(terminal, page, "touch one.txt")
            terminal.shows("Working (1)", "read _ < ")
            with editor(made, **base_env(tmp_path / "home")) as ed:
                assert "result" in ed.load(session)
                assert "codex goes on with the work." in ed.words()
                turn = ed.say(reply)
                expect(page.locator("#stream .you")).to_contain_text(reply, timeout=SOON)
                gate.open()
                assert ed.answer_to(turn)["result"]["stopReason"] == "end_turn"
                assert "All of it is there." in ed.words()
            terminal.shows("Done (1)", "verified")
        seen_to_its_end(page, reply, "claude to codex")
        taken(made, session)
        assert (made.root / "three.txt").read_text() == "as you said\n"
    assert reply in str(team.mains("codex")[-1].body)
