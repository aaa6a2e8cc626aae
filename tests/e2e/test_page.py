"""The page through a whole handoff of real agents, seen in a real Chromium."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.e2e.conftest import PATIENCE
from tests.hub.web.page.conftest import PROGRAM
from tests.model_server import Turn

pytestmark = pytest.mark.agents
SOON = PATIENCE * 1000
VERIFY = ["test -f one.txt && test -f two.txt"]


@pytest.mark.browser
@pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed")
def test_a_session_begun_on_the_page_goes_from_claude_to_codex_under_its_eyes(team):
    """Started by the form; the limit, the states, the next agent, its tools, its changes, the verdict: no reload between."""
    team.hire("claude", "codex")
    team.script("claude", Turn.write("one.txt", "by claude\n"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Both files are **there**."))
    team.start()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=PROGRAM, args=sandbox) as browser,
    ):
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{team.made.port}/")
        page.get_by_label("Task").fill("Write the files.")
        page.get_by_label("Acceptance command").fill(VERIFY[0])
        page.get_by_role("button", name="Run").click()
        page.wait_for_url("**/session/s-*", timeout=SOON)
        page.evaluate("document.documentElement.dataset.same = 'yes'")
        expect(page.locator("#handoffs")).to_contain_text("claude to codex", timeout=SOON)
        expect(page.locator("#now .chip.completed")).to_be_visible(timeout=SOON)
        expect(page.locator("#now .chip.completed")).to_have_text("verified")
        expect(page.locator("#stream strong")).to_contain_text("there", timeout=SOON)
        expect(page.locator("#changes summary", has_text="one.txt")).to_be_visible(timeout=SOON)
        expect(page.locator("#changes summary", has_text="two.txt")).to_be_visible()
        expect(page.locator("#tools .gantt .call").first).to_be_visible()
        expect(page.locator("#handoffs svg.ribbon")).to_be_visible()
        assert page.evaluate("document.documentElement.dataset.same") == "yes"
        page.get_by_role("link", name="Quota").click()
        expect(page.locator("#wallet")).to_contain_text("100 % used", timeout=SOON)

    assert team.ended()["sessionState"] == "completed"
