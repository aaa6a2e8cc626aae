"""The app against a real daemon: what is seen, what a key does, and a daemon that goes and comes."""

from __future__ import annotations

import asyncio
import json
import threading
from functools import partial

from hub.errors import Code, HubError
from tests.hub.tui.kit import answers, sees, shows, text
from tests.waiting import until

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
        await sees(app, pilot, "no session yet", "n New")
        await pilot.press("n")
        await sees(app, pilot, "What is to be done?")
        await pilot.press(*"tidy up", "enter")
        await sees(app, pilot, "Needs you (1)", "needs approval", "tidy up")
        await pilot.press("enter")
        await sees(app, pilot, "It waits for your word", "[red]the code[/red]", "run echo seen-below")
        assert "echo seen-below\n" not in text(app)
        await pilot.press("a")
        await sees(app, pilot, "make clean && make all", "y Allow once", "n Deny")
        await answers(app, pilot, "y")
        await sees(app, pilot, "The agent asks you")
        await pilot.press("e")
        await sees(app, pilot, "Your answer to the agent", "sqlite or postgres?")
        await pilot.press(*"sqlite", "enter")
        await sees(app, pilot, "done, not verified", "you: sqlite", "session completed")
        await pilot.press("home", *["down"] * 5, "f")
        await sees(app, pilot, "seen-below\n")
        await pilot.press("escape")
        await sees(app, pilot, "Done (1)", "done, not verified")

    shows(work.root, story)


def test_a_daemon_that_is_away_is_named_and_waited_for(work):
    """None yet, one that comes, one that is killed, and the next one on another port."""
    work.script("demo-first", {"say": "first"}, {"done": "finished"})
    work.configure()

    async def story(app, pilot):
        shown = await sees(app, pilot, "No daemon runs for this project yet", "hub daemon")
        assert "Handoff" not in shown, "there is nobody to give an order to"
        api = await asyncio.to_thread(work.start)
        await sees(app, pilot, "no session yet", "h Handoff")
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


def test_a_daemon_is_started_by_a_key_and_that_is_said_until_it_is_there(work):
    """What keeps it from starting stays on the screen too."""
    work.script("demo-first", {"done": "finished"})
    work.configure()
    gate, tries = threading.Event(), []

    def start():
        tries.append(1)
        if len(tries) == 1:
            raise HubError(Code.PORT_IN_USE, "The port is in use.", hint="Name another one.")
        assert gate.wait(60)
        work.start()

    async def story(app, pilot):
        await sees(app, pilot, "No daemon runs for this project yet", "S Start a daemon")
        await pilot.press("S")
        await sees(app, pilot, "The port is in use. Name another one.")
        await pilot.press("S")
        await sees(app, pilot, "Starting a daemon for this project ...")
        gate.set()
        shown = await sees(app, pilot, "no session yet")
        assert "Start" not in shown

    shows(work.root, story, start=start)


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


def test_pause_handoff_stop_take_and_discard_by_their_keys(work):
    """Each order as the daemon carries it out; what it refuses is said with its next step."""
    first = (
        {"say": "I begin."},
        {"write": {"path": "a.py", "text": "print('a')\n"}},
        {"ask": "go on?"},
        {"done": "finished"},
    )
    work.script("demo-second", {"say": "I go on."}, {"ask": "really?"}, {"done": "finished"})
    api = begin(work, *first)
    api.post("/api/run", {"task": "write it"})

    async def story(app, pilot):
        await sees(app, pilot, "needs a reply")
        await pilot.press("enter")
        await sees(app, pilot, "The agent asks you")
        await pilot.press("p")
        await sees(app, pilot, "paused")
        await pilot.press("p")
        await sees(app, pilot, "The agent goes on")
        await pilot.press("h")
        await sees(app, pilot, "Hand the work to the next agent now?")
        await pilot.press("y")
        await sees(app, pilot, "demo-second", "1 handoff,", "I go on.")
        await pilot.press("w")
        await sees(app, pilot, "demo-first ──→ demo-second")
        await pilot.press("x")
        await sees(app, pilot, "End this session?")
        await pilot.press("n")
        await pilot.press("x", "y")
        await sees(app, pilot, "stopped")
        await pilot.press("D")
        await sees(app, pilot, "Discard this session's files?")
        await pilot.press("y")
        await sees(app, pilot, "hub take")
        await pilot.press("t")
        await sees(app, pilot, "Take the result?", "a.py")
        await pilot.press("y")
        await sees(app, pilot, "Taken: 1 file")
        await pilot.press("D")
        await sees(app, pilot, "Discard this session's files?")
        await pilot.press("y")
        await sees(app, pilot, "Gone: hub/s-")

    shows(work.root, story, size=(120, 40))
    assert (work.root / "a.py").read_text() == "print('a')\n"


def test_an_approval_is_denied_with_a_note_and_one_holds_for_the_session(work):
    """What is asked is seen whole; a note reaches the agent; what was allowed for the session is not asked again."""
    long = "make " + " ".join(f"target-{number}" for number in range(60))
    api = begin(
        work, {"approve": long}, {"approve": "make all"}, {"approve": "make all"}, {"done": "finished"}
    )

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("n", *"build", "enter")
        await sees(app, pilot, "needs approval")
        await pilot.press("a")
        await sees(app, pilot, "target-0 ", "target-59", "t Note")
        await pilot.press("t", *"not now", "enter")
        await sees(app, pilot, "you say: not now")
        await pilot.press("n")
        await sees(app, pilot, "Denied.")
        waiting = partial(api.get, "/api/approvals")
        await asyncio.to_thread(
            until, lambda: any(one["action"].endswith("make all") for one in waiting()), "asked"
        )
        await pilot.press("a")
        await sees(app, pilot, "make all", "A Always")
        await answers(app, pilot, "A")
        await sees(app, pilot, "Done (1)")

    shows(work.root, story, size=(120, 40))
    assert any("not now" in json.dumps(event) for event in work.events())
