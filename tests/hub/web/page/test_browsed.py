"""Every page in a real Chromium over a real daemon: it can be used, it is light, and nothing on it moves out of the window."""

from __future__ import annotations

import gzip
import shlex

import click
import pytest
from playwright.sync_api import Browser, Page, Response, expect

from hub.cli.group import cli
from hub.web.page.paths import PATHS
from tests.faults.harness import Project, git
from tests.hub.web.page.conftest import NASTY, Busy
from tests.waiting import PATIENCE

pytestmark = pytest.mark.browser
SOON = PATIENCE * 1000
MOST = 60_000
"""Bytes of a page and all its files, compressed."""


def understood(line: str) -> None:
    """Hub's own command line has such a command, and takes it with these words."""
    program, *words = shlex.split(line)
    assert program == "hub"
    command: click.Command = cli
    context = cli.make_context("hub", [*words])
    while isinstance(command, click.Group):
        name, found, words = command.resolve_command(context, words)
        assert found is not None, line
        command = found
        context = command.make_context(name, [*words], parent=context)


def test_it_is_busy(busy: Busy, chromium: Browser):
    """Else the tests below would look at empty pages."""
    page = chromium.new_page()
    page.goto(busy.url("session"))
    expect(page.locator("#handoffs svg")).to_be_visible(timeout=SOON)
    expect(page.locator("#asked .ask")).to_be_visible(timeout=SOON)
    page.close()


@pytest.mark.parametrize("name", PATHS)
def test_a_page_is_light_quick_and_asks_nobody_else(busy: Busy, chromium: Browser, name: str):
    """No request leaves the machine, no word of the policy is broken, and the window is wide enough on a phone."""
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    answers: dict[str, Response] = {}
    asked: list[str] = []
    said: list[str] = []
    page.on("response", lambda response: answers.setdefault(response.url, response))
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(busy.url(name), wait_until="load")
    expect(page.locator("html[data-state=live]")).to_be_attached(timeout=SOON)
    own = (f"http://127.0.0.1:{busy.work.port}/", f"ws://127.0.0.1:{busy.work.port}/")
    assert [url for url in asked if not url.startswith(own)] == []
    assert said == []
    assert sum(len(gzip.compress(one.body())) for one in tuple(answers.values()) if one.status == 200) <= MOST
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, "nothing is wider than a phone"
    assert page.evaluate("document.body.dataset.owned") is None
    assert page.evaluate("document.querySelectorAll('main script, main img, main [onerror]').length") == 0
    context.close()


@pytest.mark.parametrize("name", PATHS)
def test_a_page_is_read_without_script(busy: Busy, chromium: Browser, name: str):
    """The whole page is there, with nothing to send from, but the command that does the same; its links and questions work."""
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(busy.url(name))
    expect(page.locator("h1")).to_be_visible()
    assert len(page.locator("main").inner_text()) > 60
    posts = page.locator("form[data-post]")
    expect(posts.locator("visible=true")).to_have_count(0)
    if posts.count():
        said = page.locator(".without code")
        expect(said.first).to_be_visible()
        for command in said.all_inner_texts():
            understood(command)  # each by itself: who copied the one that takes a result let it go as well
    for form in page.locator("form[action]").all():
        expect(form.get_by_role("button")).to_be_visible()
    if name == "session":
        expect(page.locator("#stream .item").first).to_be_visible()
        expect(page.get_by_text("hub approve").first).to_be_visible()
    if name == "history":
        page.get_by_role("link", name="Earlier").click()
        page.wait_for_url("**/history?at=*")
    context.close()


@pytest.mark.parametrize("name", PATHS)
def test_the_keyboard_reaches_all_of_a_page(busy: Busy, chromium: Browser, name: str):
    """Each link, field and button that is seen, in the order of the document, and where the focus is is seen."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(busy.url(name))
    expect(page.locator("html[data-state=live]")).to_be_attached(timeout=SOON)
    count = page.evaluate(
        """() => {
          const all = document.querySelectorAll('a[href], button, input:not([type=hidden]), textarea, select, summary');
          globalThis.seen = [...all].filter((one) => one.checkVisibility({checkVisibilityCSS: true}));
          return seen.length;
        }"""
    )  # a mark on them would be gone where the page is made anew meanwhile
    reached: list[int] = []
    for _ in range(count * 3):
        page.keyboard.press("Tab")
        n, outline = page.evaluate(
            "() => [seen.indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle]"
        )
        if n >= 0:
            assert outline != "none"
            reached.append(n)
        if n == count - 1:
            break
    assert reached == list(range(count))
    context.close()


def test_on_a_phone_a_table_is_read_without_being_moved(busy: Busy, chromium: Browser):
    """What an audit record says is below its time, within the window."""
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    for name in ("audit", "pipelines", "doctor"):
        page.goto(busy.url(name))
        rights = page.evaluate(
            "[...document.querySelectorAll('.rows td')].map((one) => one.getBoundingClientRect().right)"
        )
        assert max(rights, default=0) <= 360
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_done_and_not_verified_has_the_colour_of_a_warning(busy: Busy, chromium: Browser, scheme: str):
    context = chromium.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(busy.url("board"))
    chip = page.get_by_text("done, not verified").first
    warning = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--warn')")
    red, green, blue = (int(warning.strip()[at : at + 2], 16) for at in (1, 3, 5))
    expect(chip).to_have_css("color", f"rgb({red}, {green}, {blue})")
    context.close()


@pytest.mark.parametrize("name", [name for name in PATHS if name != "session"])
def test_on_a_phone_the_navigation_shows_where_one_is(busy: Busy, chromium: Browser, name: str):
    """And the keyboard begins at the top of the page all the same: scrolled to, a link was where it began."""
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    page.goto(busy.url(name))
    expect(page.locator("html.live")).to_be_attached(timeout=SOON)
    expect(page.locator("header [aria-current]")).to_be_in_viewport(ratio=0.9)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    context.close()


def test_the_keyboard_reaches_the_word_that_is_waited_for(busy: Busy, chromium: Browser):
    """The first key leads past the navigation; each control is reached in turn and its focus is seen."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(busy.url("approvals"))
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    names: list[str] = []
    while "Deny" not in names and len(names) < 20:
        page.keyboard.press("Tab")
        names.append(page.evaluate("document.activeElement.innerText || document.activeElement.name || ''"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert names.index("note") < names.index("Allow once") < names.index("Always") < names.index("Deny")
    context.close()


@pytest.mark.parametrize("name", PATHS)
def test_less_motion_is_none(busy: Busy, chromium: Browser, name: str):
    context = chromium.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.goto(busy.url(name))
    moving = (
        "[...document.querySelectorAll('*')].filter(e => {const s = getComputedStyle(e);"
        " return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0}).length"
    )
    assert page.evaluate(moving) == 0
    context.close()


def test_an_approval_is_given_on_its_page(made: Project, tab: Page):
    """With its whole command in view; afterwards nothing waits. The session goes on, so it is none that others look at."""
    made.script("demo-first", {"approve": f"rm -rf {NASTY}"}, {"done": "x"})
    made.configure()
    made.start().post("/api/run", {"task": "write"})
    tab.goto(f"http://127.0.0.1:{made.port}{PATHS['approvals']}")
    ask = tab.locator("#asked .ask")
    expect(ask).to_contain_text("rm -rf <script>")
    expect(tab.locator("nav .badge")).to_contain_text("1")
    ask.get_by_label("Note to the agent").fill("only this once")
    ask.get_by_role("button", name="Deny").click()
    expect(ask).to_have_count(0, timeout=SOON)
    expect(tab.locator("nav .badge")).to_have_count(0)


def test_a_refused_order_tells_its_instants_in_the_readers_time(busy: Busy, chromium: Browser):
    """Bug: they were those of UTC, where all else on the page is local."""
    context = chromium.new_context(timezone_id="Asia/Tokyo", locale="en-GB")
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    said = {"detail": "It is free at 2026-11-21T20:58:26.123Z, not at 2026-99-99T00:00:00Z.", "hint": "Wait."}
    page.route("**/api/**", lambda route: route.fulfill(status=409, json=said))
    page.goto(busy.url("history") + "?at=1")
    page.get_by_role("button", name="Make a branch here").click()
    told = page.get_by_text("It is free at 22 Nov 2026, 05:58, not at 2026-99-99T00:00:00Z. Wait.")
    expect(told).to_be_visible(timeout=SOON)
    context.close()


def test_the_slider_moves_through_the_snapshots(busy: Busy, chromium: Browser):
    """And a branch is made at one."""
    context = chromium.new_context()
    page = context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(busy.url("history"))
    page.get_by_role("slider").focus()
    page.keyboard.press("Home")
    page.wait_for_url("**/history?at=1")
    before = set(git(busy.work.root, "branch", "--format=%(refname:short)").split())
    page.get_by_role("button", name="Make a branch here").click()
    expect(page.get_by_text("A branch was made there")).to_be_visible(timeout=SOON)
    assert len(set(git(busy.work.root, "branch", "--format=%(refname:short)").split()) - before) == 1
    context.close()
