"""Each page goes on by itself, in a real browser over a real daemon: nothing here is loaded a second time."""

from __future__ import annotations

import re

import pytest
import trio
from playwright.sync_api import Browser, Page, Route, expect

from hub.web.page.paths import PATHS
from tests.faults.harness import Project
from tests.hub.actors.daemon import daemon_of
from tests.hub.web.page.conftest import launched
from tests.waiting import PATIENCE, Gate

pytestmark = pytest.mark.browser
SOON = PATIENCE * 1000
PIPELINE = [{"name": "one", "nodes": [{"id": "only", "provider": "demo-second", "task": "Node."}]}]
SEEN = {
    "board": ("#sessions", "needs approval"),
    "session": ("#handoffs", "demo-first to demo-second"),
    "approvals": ("#asked .ask", "npm publish"),
    "quota": ("#wallet .legend", re.compile(r"Task 2\..*4,100", re.DOTALL)),
    "pipelines": ("#run .chip", re.compile("running|starting|pending")),
    "history": ("#machine", "What it changed"),
    "graph": ("#size", re.compile(r"[1-9]\d* nodes")),
    "providers": ("#circuits .chip.open", "open"),
    "audit": ("#records", "approval requested"),
    "events": ("#stream", "Task 2."),
    "cost": ("#costs", "Task 1."),
    "tree": ("#tree", re.compile(r"\bs-[0-9a-f]+")),
    "doctor": ("#findings", "left alone for a while: demo-first"),
}
"""What each page has to show once three sessions were handed over and one of them asks; what is on none of these (agents that
hub did not start, what is trusted) shows at least that somebody waits."""


def test_every_page_follows_three_sessions_through_their_handoffs(made: Project, chromium: Browser):
    """All of them open at once, from before the first session on until the last word was given."""
    with Gate(made.root.parent / "gate") as gate:
        made.script(
            "demo-first",
            {"usage": {"tokensIn": 4000, "tokensOut": 100}},
            {"write": {"path": "a.txt", "text": "a\n"}},
            {"run": gate.command},
            {"limit": {"resetsIn": 3600}},
        )
        made.script("demo-second", {"approve": "npm publish"}, {"done": "Published."})
        logins = [
            f'[[providers.demo-{one}.accounts]]\nlabel = "default"\nconcurrency = 4\n'
            for one in ("first", "second")
        ]
        made.configure(session="concurrent = 4\n", extra="".join(logins))
        api = made.start()
        api.post("/api/pipelines", PIPELINE)  # type: ignore[arg-type]
        tasks = [f"Task {n}." for n in range(3)]
        first, *_ = [api.post("/api/run", {"task": task, "queue": True})["sessionId"] for task in tasks]
        context = chromium.new_context()
        pages: dict[str, Page] = {}
        for name, path in PATHS.items():
            pages[name] = context.new_page()
            pages[name].goto(f"http://127.0.0.1:{made.port}{path.replace('<sessionId>', first)}")
            pages[name].evaluate("document.documentElement.dataset.same = 'yes'")
        for _ in tasks:
            gate.open()
        api.post("/api/pipelines/run", {"name": "one"})
    for name, page in pages.items():
        if name in SEEN:
            place, words = SEEN[name]
            expect(page.locator(place).first).to_contain_text(words, timeout=SOON)
        expect(page.locator("nav .badge")).to_be_visible(timeout=SOON)
    expect(pages["session"].locator("#stream")).to_contain_text("Task 0.")
    expect(pages["session"].locator("#stream")).not_to_contain_text(
        re.compile(r"Task [12]\.")
    )  # other sessions'
    board, asked = pages["board"], pages["approvals"].get_by_role("button", name="Allow once")
    for left in range(4, 0, -1):
        expect(asked.first).to_be_visible(timeout=SOON)
        key = pages["approvals"].locator(".ask").first.get_attribute("data-key")
        asked.first.click()
        expect(pages["approvals"].locator(f".ask[data-key='{key}']")).to_have_count(0, timeout=SOON)
        expect(board.locator("#sessions .chip.completed")).to_have_count(5 - left, timeout=SOON)
    for page in pages.values():
        expect(page.locator("nav .badge")).to_have_count(0, timeout=SOON)
        assert page.evaluate("document.documentElement.dataset.same") == "yes"
    expect(pages["pipelines"].locator("#run .node.completed")).to_be_visible(timeout=SOON)
    context.close()


async def test_a_restart_flashes_in_the_tree(made: Project, monkeypatch: pytest.MonkeyPatch):
    """An actor of a real daemon is ended; its line flashes, and says how often it began anew. With less motion the words alone."""
    made.script("demo-first", {"say": "x"})
    made.configure()

    def look(port: int) -> None:
        with launched() as browser:
            pages = {
                motion: browser.new_page(reduced_motion=motion) for motion in ("no-preference", "reduce")
            }
            for page in pages.values():
                page.goto(f"http://127.0.0.1:{port}/tree")
                page.evaluate(
                    """() => {
                      globalThis.flashed = [];
                      document.addEventListener('animationstart', (e) => flashed.push(e.target.dataset.key));
                    }"""
                )
                expect(page.locator("#tree")).not_to_contain_text("restarted")
            trio.from_thread.run_sync(live.kill, "notices")
            for motion, page in pages.items():
                line = page.locator("#tree li", has=page.locator(":scope > code", has_text="notices")).last
                expect(line).to_contain_text("restarted 1 time", timeout=SOON)
                flashed = page.evaluate("flashed")
                assert [key.rpartition("/")[2] for key in flashed] == (
                    ["notices"] if motion == "no-preference" else []
                )

    async with daemon_of(made, monkeypatch) as live:
        await trio.to_thread.run_sync(look, made.port)


def test_pipelines_are_edited_run_and_seen_to_be_done(made: Project, tab: Page):
    """By the keyboard alone: what does not validate is told with its place and stores nothing, what does is drawn and runs."""
    gate = Gate(made.root.parent / "gate")
    made.script(
        "demo-second", {"write": {"path": "a.txt", "text": "a\n"}}, {"run": gate.command}, {"done": "Done."}
    )
    made.configure()
    api = made.start()
    tab.goto(f"http://127.0.0.1:{made.port}/events")
    nothing = tab.get_by_text("What hub and its agents do is told here").bounding_box()
    assert nothing is not None
    assert nothing["width"] > 300, "it is not squeezed into the column of the times"
    tab.goto(f"http://127.0.0.1:{made.port}/pipelines")
    expect(tab.locator("#known")).to_contain_text("None yet")
    field, store = tab.get_by_label("Pipelines", exact=True), tab.get_by_role("button", name="Validate")
    node = '{"id": "%s", "provider": "demo-second", "task": "Do it.", "dependsOn": ["%s"]}'
    circle = f'[{{"name": "two", "nodes": [{node % ("a", "b")}, {node % ("b", "a")}]}}]'
    for text, told in (
        ("[{", "That is not JSON"),
        (circle, re.compile(r"\$\[0\].*(circle|cycle)", re.DOTALL)),
    ):
        field.fill(text)
        store.press("Enter")
        expect(tab.locator("form output", has_text=told)).to_be_visible(timeout=SOON)
    assert api.get("/api/pipelines") == []
    field.fill(circle.replace('"dependsOn": ["b"]', '"dependsOn": []'))
    store.press("Enter")
    expect(tab.locator("#known .node .name")).to_have_text(["a", "b"], timeout=SOON)
    run, rest = (tab.get_by_role("button", name=name, exact=True) for name in ("Run", "Run what is left"))
    expect(rest).to_have_count(0)
    with gate:
        run.press("Enter")
        expect(tab.locator("#run .node.running")).to_have_count(1, timeout=SOON)
        expect(run).to_have_count(0)
        tab.once("dialog", lambda dialog: dialog.accept())
        tab.get_by_role("button", name="Stop the run").press("Enter")
        expect(rest).to_be_visible(timeout=SOON)
        gate.open()
        gate.open()
        rest.press("Enter")
        expect(tab.locator("#run .node.completed")).to_have_count(2, timeout=SOON)
    expect(run).to_be_visible(timeout=SOON)
    expect(rest).to_have_count(0)
    expect(tab.locator("#run tbody .chip")).to_have_text(["done, not verified"] * 2)
    expect(tab.locator("#run .node text:not(.name)")).to_contain_text(["done, not verified"] * 2)
    whole = tab.locator("#run h2 .chip")
    expect(whole).to_have_text("done, not verified", timeout=SOON)
    expect(whole).to_have_css(
        "color", tab.locator("#run tbody .chip").first.evaluate("e => getComputedStyle(e).color")
    )


def test_a_second_click_starts_no_second_session(made: Project, tab: Page):
    """Not while the first one is under way, whatever else the page shows meanwhile; and who comes back finds no task to send again."""
    made.script("demo-first", {"ask": "Which?"})
    made.configure()
    api = made.start()
    tab.goto(f"http://127.0.0.1:{made.port}/")
    asked: list[Route] = []

    def hold(route: Route) -> None:
        asked.append(route)

    tab.route("**/api/run", hold)
    tab.get_by_label("Task").fill("Paint it.")
    run = tab.get_by_role("button", name="Run", exact=True)
    run.dblclick()
    run.click()
    expect(tab.locator("form[aria-busy]")).to_have_count(1)
    assert len(asked) == 1
    asked[0].continue_()
    tab.wait_for_url("**/session/s-*", timeout=SOON)
    assert len(api.get("/api/sessions")["sessions"]) == 1
    tab.go_back()
    expect(tab.get_by_label("Task")).to_have_value("")


def test_a_session_is_led_by_the_keyboard_alone(made: Project, tab: Page):
    """Begun, answered, paused, let go on, stopped, taken and let go: each with Tab, a key for its button, and no pointer."""

    def reach(name: str) -> None:
        """With Tab, from the beginning of the document on."""
        tab.evaluate("document.activeElement.blur(); getSelection().removeAllRanges()")
        for _ in range(80):
            tab.keyboard.press("Tab")
            if tab.evaluate("document.activeElement.innerText || document.activeElement.id") == name:
                return
        raise AssertionError(f"no Tab leads to {name}")

    made.script("demo-first", {"write": {"path": "a.txt", "text": "a\n"}}, {"ask": "Which?"}, {"hang": {}})
    made.configure()
    made.start()
    tab.on("dialog", lambda dialog: dialog.accept())
    tab.goto(f"http://127.0.0.1:{made.port}/")
    reach("task")
    tab.keyboard.type("Paint it.")
    reach("Run")
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/session/s-*", timeout=SOON)
    expect(tab.locator("#now .chip.needs")).to_have_text("needs a reply", timeout=SOON)
    reach("reply")
    tab.keyboard.type("Blue.")
    reach("Send")
    tab.keyboard.press("Enter")
    expect(tab.locator("#now .chip.running")).to_be_visible(timeout=SOON)
    for button, then in (
        ("Pause", "Resume"),
        ("Resume", "Pause"),
        ("Stop", "Take as a branch"),
        ("Take as a branch", "Discard"),
    ):
        reach(button)
        tab.keyboard.press("Space")
        expect(tab.get_by_role("button", name=then, exact=True)).to_be_visible(timeout=SOON)
    expect(tab.locator("#steer")).to_contain_text("You took it", timeout=SOON)
    expect(tab.locator("#steer output")).to_have_text(
        "Taken."
    )  # it stays where something new stands before it
    reach("Discard")
    tab.keyboard.press("Space")
    expect(tab.locator("#steer")).to_contain_text("You discarded its worktree and branch", timeout=SOON)
