"""A session on its page, in a real browser over a real daemon."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.faults.harness import Project
from tests.waiting import PATIENCE, Gate

SOON = PATIENCE * 1000


@pytest.mark.browser
def test_a_handoff_is_seen_and_the_session_stopped_from_its_page(made: Project, tab: Page):
    """The limit, the states, the next agent, the changes, the stream; then a stop by its button."""
    with Gate(made.root.parent / "gate") as gate:
        made.script(
            "demo-first", {"write": {"path": "a.txt", "text": "one\n"}}, {"limit": {"resetsIn": 3600}}
        )
        made.script("demo-second", {"say": "I go on: **b**"}, {"run": gate.command}, {"say": "done"})
        made.configure()
        api = made.start()
        session = api.post("/api/run", {"task": "Write a."})["sessionId"]
        tab.goto(f"http://127.0.0.1:{made.port}/session/{session}")
        expect(tab.locator("#handoffs")).to_contain_text("demo-first to demo-second", timeout=SOON)
        expect(tab.locator("#stream .prose strong")).to_have_text("b", timeout=SOON)
        expect(tab.locator("#tools svg.gantt")).to_be_visible(timeout=SOON)
        tab.locator("#changes summary").first.click()
        expect(tab.locator("#changes pre")).to_contain_text("+one")
        tab.on("dialog", lambda dialog: dialog.accept())
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator("#now .chip.stopped").first).to_be_visible(timeout=SOON)
        gate.open()
    assert tab.locator("#changes details").first.get_attribute("open") is not None, (
        "what was opened stays open"
    )
