"""The app against a real daemon: what is seen, what a key does, and a daemon that goes and comes."""

from __future__ import annotations

import asyncio

from tests.hub.tui.kit import sees, shows, text

SCRIPT = (
    {"say": "I look at [red]the code[/red] first."},
    {"run": "echo seen-below"},
    {"approve": "make clean && make all"},
    {"ask": "sqlite or postgres?"},
    {"done": "finished"},
)


def begin(work, *steps):
    work.script("demo-first", *(steps or SCRIPT))
    work.configure()
    return work.start()


def test_a_session_from_the_board_to_its_end(work):
    """Started, approved and answered by keys alone; what an agent writes is text, never markup."""
    begin(work)

    async def story(app, pilot):
        await sees(app, pilot, "no session yet", "n New task")
        await pilot.press("n")
        await sees(app, pilot, "What is to be done?")
        await pilot.press(*"tidy up", "enter")
        await sees(app, pilot, "Needs you (1)", "needs your word", "tidy up")
        await pilot.press("enter")
        await sees(app, pilot, "It waits for your word", "[red]the code[/red]", "run echo seen-below")
        assert "echo seen-below\n" not in text(app)
        await pilot.press("a")
        await sees(app, pilot, "make clean && make all", "y Allow once", "n Deny")
        await pilot.press("y")
        await sees(app, pilot, "The agent asks you")
        await pilot.press("e")
        await sees(app, pilot, "Your answer to the agent", "sqlite or postgres?")
        await pilot.press(*"sqlite", "enter")
        await sees(app, pilot, "done, not verified", "you: sqlite", "session completed")
        await pilot.press("home", *["down"] * 5, "f")
        await sees(app, pilot, "seen-below\n")
        await pilot.press("escape")
        await sees(app, pilot, "Done (1)", "done, unverified")

    shows(work.root, story)


def test_a_daemon_that_is_away_is_named_and_waited_for(work):
    """None yet, one that comes, one that is killed, and the next one on another port."""
    work.script("demo-first", {"say": "first"}, {"done": "finished"})
    work.configure()

    async def story(app, pilot):
        await sees(app, pilot, "No daemon runs for this project yet", "hub daemon")
        api = await asyncio.to_thread(work.start)
        await sees(app, pilot, "no session yet")
        await asyncio.to_thread(api.post, "/api/run", {"task": "one task"})
        await sees(app, pilot, "Done (1)")
        await asyncio.to_thread(work.kill)
        shown = await sees(app, pilot, "The daemon is away")
        assert "one task" in shown, "what is known stays on the screen"
        api = await asyncio.to_thread(work.start)
        await asyncio.to_thread(api.post, "/api/run", {"task": "another task"})
        shown = await sees(app, pilot, "Done (2)", "another task")
        assert "is away" not in shown

    shows(work.root, story)


def test_help_lists_the_keys_of_the_page(work):
    begin(work)

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("question_mark")
        await sees(app, pilot, "On this page", "See what waits for your word", "Answer the agent")
        await pilot.press("escape")
        await sees(app, pilot, "no session yet")

    shows(work.root, story)


def test_orders_without_a_session_say_so(work):
    begin(work)

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("x")
        await sees(app, pilot, "No session to stop")
        await pilot.press("a")
        await sees(app, pilot, "Nothing waits for your word")

    shows(work.root, story)
