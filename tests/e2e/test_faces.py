"""One session, and every face of hub: begun on the page, approved in the terminal, answered in the editor, taken by a command."""

from __future__ import annotations

import os
import shutil

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.faults.harness import git, project
from tests.hub.acp.kit import editor
from tests.hub.cli.command import hub
from tests.hub.tui.test_tmux import Terminal, sees
from tests.hub.web.page.conftest import PROGRAM
from tests.waiting import PATIENCE, until

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


@pytest.mark.browser
@pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed")
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_begun_on_the_page_approved_in_the_terminal_answered_in_the_editor_taken_by_a_command(tmp_path):
    """The page is never loaded again; what one face is told, each of the others shows."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        project(tmp_path) as made,
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=PROGRAM, args=sandbox) as browser,
    ):
        made.script("demo-first", *FIRST)
        made.script("demo-second", *SECOND)
        made.configure()
        made.start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{made.port}/")
        page.get_by_label("Task").fill("Build the store")
        page.get_by_label("Acceptance command").fill("test -f store.txt && test -f more.txt")
        page.get_by_role("button", name="Run").click()
        page.wait_for_url("**/session/s-*", timeout=SOON)
        session = page.url.rpartition("/")[2]
        page.evaluate("document.documentElement.dataset.same = 'yes'")
        expect(page.locator("#asked .ask")).to_contain_text("make all", timeout=SOON)

        with Terminal(made, size=(100, 30)) as terminal:
            sees(terminal, "Needs you (1)", "needs approval", "Build the store")
            terminal.keys("a")
            sees(terminal, "make all", "y Allow once")

            def allowed() -> bool:
                terminal.keys("y")
                return "y Allow once" not in terminal.screen()

            until(allowed, "the yes is taken, once the request could be read")
            sees(terminal, "needs a reply")
            expect(page.locator("#asked .ask")).to_have_count(0, timeout=SOON)
            expect(page.locator("#steer .asks")).to_have_text("sqlite or postgres?", timeout=SOON)

            with editor(made) as ed:
                assert "result" in ed.load(session)
                assert "sqlite or postgres?" in ed.words()
                assert ed.prompt("sqlite")["result"]["stopReason"] == "end_turn"
                said = ed.words()
                assert said.index("demo-second/default goes on") < said.index("I go on with it.")
                assert "All of it is there." in said

            sees(terminal, "Done (1)", "verified")
        expect(page.locator("#now .chip.completed")).to_have_text("verified", timeout=SOON)
        expect(page.locator("#stream .you")).to_contain_text("sqlite")
        expect(page.locator("#handoffs")).to_contain_text("demo-first to demo-second")
        assert page.evaluate("document.documentElement.dataset.same") == "yes"

        done = hub("take", session, cwd=made.root, env=made.environ())
        assert done.returncode == 0, done.stderr
        assert git(made.root, "log", "-1", "--format=%an %s") == "t Build the store"
        assert (made.root / "store.txt").read_text() == "as you said\n"
        assert (made.root / "more.txt").read_text() == "the rest\n"
        assert len(made.starts()) == 2
