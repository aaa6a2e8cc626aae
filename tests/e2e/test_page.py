"""The page through a whole handoff of real agents, seen in a real Chromium."""

from __future__ import annotations

import os

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.e2e.conftest import PATIENCE
from tests.hub.web.page.conftest import PROGRAM
from tests.model_server import Turn
from tests.waiting import Gate, until

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


@pytest.mark.browser
@pytest.mark.skipif(not PROGRAM, reason="no Chromium is installed")
def test_three_sessions_at_once_are_handed_over_under_its_eyes(team, tmp_path):
    """Three tabs, each at its session; all three hold at a gate on either side, so each has both agents."""
    team.hire("claude", "codex", session="concurrent = 3")
    logins = team.made.own / "config.toml"
    logins.write_text(logins.read_text().replace('label = "default"', 'label = "default"\nconcurrency = 3'))
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with (
        Gate(tmp_path / "first") as first,
        Gate(tmp_path / "second") as second,
        sync_playwright() as driver,
        driver.chromium.launch(executable_path=PROGRAM, args=sandbox) as browser,
    ):
        team.script(
            "claude",
            *[Turn.shell(f"{first.command}; echo by claude > one.txt")] * 3,
            Turn.limit(resets_in=7200),
        )
        team.script(
            "codex",
            *[Turn.shell(f"{second.command}; echo by codex > two.txt")] * 3,
            *[Turn.text("It is there.")] * 3,
        )
        api = team.start()
        ids = [api.post("/api/run", {"task": f"Part {n}", "verify": VERIFY})["sessionId"] for n in (1, 2, 3)]
        pages = []
        for one in ids:
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{team.made.port}/session/{one}")
            page.evaluate("document.documentElement.dataset.same = 'yes'")
            pages.append(page)
        board = browser.new_page()
        board.goto(f"http://127.0.0.1:{team.made.port}/")
        for member, gate in (("claude", first), ("codex", second)):
            until(lambda m=member: len(team.mains(m)) >= 3, f"all three work with {member}", PATIENCE)
            for page in pages:
                expect(page.locator("#now strong")).to_have_text(member, timeout=SOON)
            for _ in ids:
                gate.open()
        for page in pages:
            expect(page.locator("#now .chip.completed")).to_have_text("verified", timeout=SOON)
            expect(page.locator("#handoffs .walk")).to_have_count(1)
            expect(page.locator("#handoffs")).to_contain_text("claude to codex")
            expect(page.locator("#changes summary", has_text="two.txt")).to_be_visible(timeout=SOON)
            assert page.evaluate("document.documentElement.dataset.same") == "yes"
        for number in (1, 2, 3):
            expect(board.get_by_role("link", name=f"Part {number}")).to_be_visible(timeout=SOON)
        expect(board.locator(".chip.completed")).to_have_count(3, timeout=SOON)
