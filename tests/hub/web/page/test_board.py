"""The board: in a real browser over a real daemon, and the order of its sessions."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from hub.api.convert import structure
from hub.api.sessions import Session
from hub.web.page.board import grouped
from tests.faults.harness import Project
from tests.hub.web.fake import SESSION
from tests.waiting import PATIENCE

SOON = PATIENCE * 1000


def session(name: str, **more: object) -> Session:
    return structure({**SESSION, "sessionId": name, "position": 0, **more}, Session)


def test_who_needs_somebody_comes_first():
    rows = [
        session("s-done", sessionState="completed"),
        session("s-works", sessionState="running"),
        session("s-asks", sessionState="waiting", needs="input"),
        session("s-queued", sessionState="queued", position=1),
        session("s-works-too", sessionState="running"),
    ]
    assert [(name, [one.session_id for one in members]) for name, members in grouped(rows)] == [
        ("Needs you", ["s-asks"]),
        ("Working", ["s-works-too", "s-works"]),
        ("Waiting for its turn", ["s-queued"]),
        ("Done", ["s-done"]),
    ]


@pytest.mark.browser
def test_a_daemon_that_restarts_is_survived_without_a_reload(made: Project, tab: Page):
    made.script("demo-first", {"say": "all done"})
    made.configure()
    made.start()
    tab.goto(f"http://127.0.0.1:{made.port}/")
    live = tab.locator("html[data-state=live]")
    expect(live).to_be_attached(timeout=SOON)
    tab.evaluate("() => { document.documentElement.dataset.same = 'yes' }")
    port = made.port
    made.kill()
    expect(tab.locator("#away")).to_be_visible(timeout=SOON)
    api = made.start("--port", str(port))
    expect(live).to_be_attached(timeout=SOON)
    expect(tab.locator("#away")).to_be_hidden()
    api.post("/api/run", {"task": "After the restart."})
    expect(tab.locator("#sessions .card")).to_contain_text("After the restart.", timeout=SOON)
    assert tab.evaluate("() => document.documentElement.dataset.same") == "yes"
