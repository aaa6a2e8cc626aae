"""A session on its page, in a real browser over a real daemon."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from hub.messages.session import GetSessionFacts
from tests.faults.harness import Project, git
from tests.hub.web.fake import Server
from tests.hub.web.page.test_mount import HTML
from tests.hub.web.wire import ask
from tests.waiting import PATIENCE, Gate

SOON = PATIENCE * 1000


async def test_what_takes_long_is_left_out_where_the_page_has_it_already(server: Server):
    """The page's script asks so between two whole looks: no git runs for each word of an agent."""
    looks: list[int] = []
    answers = []
    for headers in (HTML, [*HTML, ("Hub-Briefly", "1")]):
        server.actors.calls.clear()
        answers.append(await ask(server.port, "GET", "/session/s-1", headers=headers))
        looks.append([type(one) for one in server.actors.calls].count(GetSessionFacts))
    whole, brief = answers
    assert looks[0] == looks[1] + 1  # for the diff
    assert (b'id="changes"' in whole.body, b'id="changes"' in brief.body) == (True, False)
    assert b'id="stream"' in brief.body


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
        expect(tab.locator("#tools .gantt .call").first).to_be_visible(timeout=SOON)
        tab.locator("#changes summary").first.click()
        expect(tab.locator("#changes pre")).to_contain_text("+one")
        tab.on("dialog", lambda dialog: dialog.accept())
        tab.get_by_role("button", name="Stop").click()
        expect(tab.locator("#now .chip.stopped").first).to_be_visible(timeout=SOON)
        gate.open()
    expect(tab.locator("#steer")).to_contain_text("you have not taken it yet", timeout=SOON)
    tab.get_by_role("button", name="Take as a branch").click()
    expect(tab.locator("#steer output")).to_have_text("Taken.", timeout=SOON)
    expect(tab.locator("#steer")).to_contain_text("on write-a", timeout=SOON)
    expect(tab.locator("#steer")).not_to_contain_text("not taken")
    git(made.root, "branch", "-D", "write-a")
    tab.reload()
    expect(tab.locator("#steer")).to_contain_text("you have not taken it yet")  # it said for ever that it was
    later = made.root / ".hub/worktrees" / session / "later.txt"
    later.write_text("somebody went on in it")
    tab.get_by_role("button", name="Take as a branch").click()
    more = f"Taken. Its worktree has more, which is in no snapshot: .hub/worktrees/{session}"
    expect(tab.locator("#steer output")).to_have_text(more, timeout=SOON)
    later.unlink()
    expect(tab.locator("#steer")).to_contain_text("on write-a", timeout=SOON)
    tab.locator("#changes summary").first.click()
    assert tab.locator("#changes details").first.get_attribute("open") is not None, (
        "what was opened stays open"
    )
    tab.get_by_role("button", name="Discard").click()
    expect(tab.locator("#steer")).to_contain_text("You discarded its worktree and branch", timeout=SOON)
    expect(tab.get_by_role("button", name="Discard")).to_have_count(0)


@pytest.mark.browser
def test_what_is_being_typed_outlives_a_swap_and_is_sent(made: Project, tab: Page):
    """The agent asks; while its user types, the page is swapped; the answer reaches the agent."""
    made.script("demo-first", {"ask": "Which colour?"}, {"say": "thank you"})
    made.configure(session="concurrent = 2\n")
    api = made.start()
    session = api.post("/api/run", {"task": "Paint it."})["sessionId"]
    tab.goto(f"http://127.0.0.1:{made.port}/session/{session}")
    expect(tab.locator("#now .chip.needs")).to_have_text("needs a reply", timeout=SOON)
    tab.get_by_label("Reply to the agent").press_sequentially("blue, ")
    with tab.expect_response(lambda reply: reply.url == tab.url, timeout=SOON):
        api.post("/api/run", {"task": "Another.", "queue": True})
    tab.keyboard.type("please")
    expect(tab.get_by_label("Reply to the agent")).to_have_value("blue, please")
    tab.get_by_role("button", name="Send").click()
    expect(tab.locator("#stream")).to_contain_text("thank you", timeout=SOON)
    expect(tab.get_by_label("Reply to the agent")).to_have_count(0, timeout=SOON)
