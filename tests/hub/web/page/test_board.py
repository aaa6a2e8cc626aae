"""The board: in a real browser over a real daemon, and the order of its sessions."""

from __future__ import annotations

import socket

import pytest
from playwright.sync_api import Page, Route, expect

from hub.api.convert import structure
from hub.api.sessions import Session, Sessions
from hub.client.quick import Api
from hub.messages.session import GetSessions
from hub.web.page.board import grouped
from tests.faults.harness import Project, project, until
from tests.hub.web.fake import SESSION, Fake, running
from tests.hub.web.page.test_mount import HTML
from tests.hub.web.wire import ask
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
    assert [(group.name, [one.session_id for one in group.members]) for group in grouped(rows)] == [
        ("Needs you", ["s-asks"]),
        ("Working", ["s-works-too", "s-works"]),
        ("Waiting for its turn", ["s-queued"]),
        ("Done", ["s-done"]),
    ]


def test_how_many_there_are_is_told_where_not_all_are_shown():
    """ "Done 20" stood above the newest of a hundred, and nothing led to the others."""
    rows = [session(f"s-{n}", sessionState="completed") for n in range(100)]
    for everything, shown in ((False, 20), (True, 100)):
        [group] = grouped(rows, everything=everything)
        assert (group.count, len(group.members), group.members[0].session_id) == (100, shown, "s-99")


async def test_the_others_are_led_to_where_not_all_are_shown():
    """Only who knew of `/?all=1` came to see them."""
    rows = [session(f"s-{n}", sessionState="completed") for n in range(49)]

    async def many(_: GetSessions) -> Sessions:
        return Sessions(sessions=rows, concurrent=1)

    async with running(Fake(instead={GetSessions: many})) as server:
        some, whole = [
            (await ask(server.port, "GET", path, headers=HTML)).body.decode() for path in ("/", "/?all=1")
        ]
    link = '<a href="/?all=1">Show all 49</a>'
    assert (some.count('data-key="s-'), link in some) == (20, True)
    assert (whole.count('data-key="s-'), link in whole) == (49, False)


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
    expect(tab.locator("#away")).to_contain_text("asks for it every second", timeout=SOON)
    expect(tab.locator("#away")).to_contain_text("hub daemon")
    api = made.start("--port", str(port))
    expect(live).to_be_attached(timeout=SOON)
    expect(tab.locator("#away")).to_be_hidden()
    api.post("/api/run", {"task": "After the restart."})
    expect(tab.locator("#sessions .card")).to_contain_text("After the restart.", timeout=SOON)
    assert tab.evaluate("() => document.documentElement.dataset.same") == "yes"


def idle_board(made: Project, tab: Page) -> None:
    """The board of a daemon that has nothing to do, under a clock of the test's own."""
    made.script("demo-first", {"say": "x"})
    made.configure()
    made.start()
    tab.clock.install()
    tab.goto(f"http://127.0.0.1:{made.port}/")
    expect(tab.locator("html[data-state=live]")).to_be_attached(timeout=SOON)


@pytest.mark.browser
def test_a_daemon_that_was_away_for_long_is_found_as_soon(made: Project, tab: Page):
    """The page asked ever more seldom; a browser, too, lets a socket wait where others have failed before."""
    idle_board(made, tab)
    live = tab.locator("html[data-state=live]")
    made.kill()
    expect(tab.locator("#away")).to_be_visible(timeout=SOON)
    for _ in range(12):
        tab.clock.run_for(5000)
    made.start("--port", str(made.port))
    for _ in range(2):  # a question may be under way that began before
        tab.clock.run_for(1000)
    expect(live).to_be_attached()


@pytest.mark.browser
def test_a_daemon_that_says_nothing_is_named(made: Project, tab: Page):
    """A stopped one was waited for without a word; of an order that got no answer nothing was said that helps."""
    idle_board(made, tab)
    expect(tab.get_by_role("status")).to_have_text(
        ["", ""]
    )  # a screen reader tells of what it knew before it spoke
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    tab.route("**/api/run", hold)
    tab.route(f"http://127.0.0.1:{made.port}/", hold)
    tab.get_by_label("Task").fill("Anything.")
    tab.get_by_role("button", name="Run").click()
    said, away = tab.locator("#run-title ~ form output"), tab.locator("#away")
    tab.clock.run_for(1000)
    expect(said).to_contain_text("Waiting for the daemon")
    until(lambda: tab.evaluate("0") or held, "it was sent")
    held.pop().abort()
    expect(said).to_contain_text("look whether this was done")
    tab.clock.run_for(30_000)
    until(lambda: tab.evaluate("0") or held, "the page is asked for")
    tab.clock.run_for(5000)
    expect(away).to_contain_text("has not answered for 5 seconds")
    held.pop().continue_()
    expect(away).to_be_hidden()


@pytest.mark.browser
def test_a_daemon_that_answers_again_is_asked_as_soon_as_ever(made: Project, tab: Page):
    """What a killed one had never answered was still told of its successor, for three times as long as it had hung."""
    idle_board(made, tab)
    here, away = f"http://127.0.0.1:{made.port}/", tab.locator("#away")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    tab.route(here, hold)
    tab.clock.run_for(30_000)
    until(lambda: tab.evaluate("0") or held, "the page is asked for")
    tab.clock.run_for(20_000)
    expect(away).to_contain_text("has not answered for 5 seconds")
    held.pop().abort()
    expect(away).to_be_hidden()
    tab.clock.run_for(11_000)  # a minute is over: it asks anyway
    until(lambda: tab.evaluate("0") or held, "it is asked for again")
    held.pop().continue_()


@pytest.mark.browser
def test_a_page_that_could_not_be_made_anew_says_so_and_is_asked_for_again(made: Project, tab: Page):
    """A 503 while a daemon starts left the old page as it was, without a word, until the next event."""
    made.script("demo-first", {"say": "x"})
    made.configure()
    made.start()
    here = f"http://127.0.0.1:{made.port}/"

    fails = True

    def answer(route: Route) -> None:
        if fails:
            route.fulfill(response=route.fetch(url=f"{here}session/s-none"), status=503)
        else:
            route.continue_()

    tab.route(here, answer)  # for good: what is taken away while it answers has answered already
    tab.goto(here)  # the very first, too
    expect(tab.locator("h1")).to_contain_text("s-none")
    fails = False
    expect(tab.locator("h1")).to_have_text("Board", timeout=SOON)
    expect(tab.locator("html[data-state=live]")).to_be_attached(timeout=SOON)
    fails = True
    api = Api(made.port)
    api.post("/api/run", {"task": "Meanwhile."})
    expect(tab.locator("#away")).to_contain_text("s-none", timeout=SOON)
    until(made.ended, "nothing more is told")
    fails = False
    expect(tab.locator("#sessions .card")).to_contain_text("Meanwhile.", timeout=SOON)
    expect(tab.locator("#away")).to_be_hidden()


@pytest.mark.browser
def test_a_page_that_cannot_be_made_is_asked_for_once_a_second(made: Project, tab: Page):
    """Each refresh that failed began a chain of its own: after some minutes of 5xx the page asked four times a second."""
    idle_board(made, tab)
    tab.evaluate(
        """() => {
          globalThis.asked = 0;
          globalThis.fetch = async () => (asked++, new Response("{}", { status: 503 }));
        }"""
    )
    for _ in range(400):
        tab.clock.run_for(700)  # never when the page means to ask: each of its answers comes a little late
    assert 100 < tab.evaluate("asked") <= 280 + 10, "of 280 seconds, and every 30 s it asks anyway"


@pytest.mark.browser
def test_a_daemon_that_stands_still_is_asked_again(made: Project, tab: Page):
    """One that was stopped takes a connection and answers nothing: the page waited for that for ever."""
    made.script("demo-first", {"say": "x"})
    made.configure()
    made.start()
    tab.add_init_script(
        "const own = AbortSignal.timeout; AbortSignal.timeout = () => own.call(AbortSignal, 50);"
    )
    tab.goto(f"http://127.0.0.1:{made.port}/")
    expect(tab.locator("html[data-state=live]")).to_be_attached(timeout=SOON)
    with socket.socket() as still:
        still.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.kill()
        still.bind(("127.0.0.1", made.port))
        still.listen()
        expect(tab.locator("#away")).to_contain_text("asks for it every second", timeout=SOON)
        for _ in range(2):
            tab.wait_for_event("request", lambda request: request.url.endswith("/api/health"), timeout=SOON)
    made.start("--port", str(made.port))
    expect(tab.locator("html[data-state=live]")).to_be_attached(timeout=SOON)


@pytest.mark.browser
def test_another_project_s_daemon_at_the_same_port_is_not_taken_for_this_one_s(
    made: Project, tab: Page, tmp_path_factory: pytest.TempPathFactory
):
    made.configure()
    made.start()
    tab.goto(f"http://127.0.0.1:{made.port}/")
    expect(tab.locator("html[data-state=live]")).to_be_attached(timeout=SOON)
    made.stop()
    with project(tmp_path_factory.mktemp("other")) as other:
        other.configure()
        other.start("--port", str(made.port))
        expect(tab.locator("#away")).to_contain_text("another project", timeout=SOON)
        expect(tab.locator("html[data-state=away]")).to_be_attached()
