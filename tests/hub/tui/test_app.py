"""The app against a real daemon: what is seen, what a key does, and a daemon that goes and comes."""

import asyncio
import json
import threading
import time
from functools import partial
from itertools import pairwise

import pytest
from textual import events

from hub.errors import Code, HubError
from hub.tui.cost import CostPage
from hub.tui.daemon import LocalDaemon
from hub.tui.page import PAGES
from tests.faults.harness import git
from tests.hub.tui.kit import answers, sees, shows, text
from tests.waiting import PATIENCE, Gate, until

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
        await sees(app, pilot, "How is it known to be done?", "as hub.toml says")
        await pilot.press(*"true", "enter")
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
        over = (" verified  ", "not taken yet", "you: sqlite", "session completed", "t Take")
        await sees(app, pilot, *over, lacks="x Stop")  # nothing can be told to an agent that is gone
        await pilot.press("home", *["down"] * 5, "f")
        await sees(app, pilot, "seen-below\n")
        await pilot.press("escape")
        shown = await sees(app, pilot, "Done (1)", "verified", "t Take", lacks="x Stop")
        assert "a Allow" not in shown, "what is over asks nothing"

    shows(work.root, story)


def test_a_daemon_that_is_away_is_named_and_waited_for(work):
    """None yet, one that comes, one that is killed, and the next one on another port."""
    work.script("demo-first", {"say": "first"}, {"done": "finished"})
    work.configure()

    async def story(app, pilot):
        await sees(app, pilot, "No daemon runs for this project yet", "hub daemon")
        await sees(app, pilot, lacks="n New")  # there is nobody to give an order to
        api = await asyncio.to_thread(work.start)
        await sees(app, pilot, "no session yet", "n New")
        await asyncio.to_thread(api.post, "/api/run", {"task": "one task"})
        await sees(app, pilot, "Done (1)")
        await asyncio.to_thread(work.kill)
        shown = await sees(app, pilot, "The daemon is away")
        assert "one task" in shown, "what is known stays on the screen"
        api = await asyncio.to_thread(work.start)
        await asyncio.to_thread(api.post, "/api/run", {"task": "another task"})
        await sees(app, pilot, "Done (2)", "another task", lacks="is away")

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
        await sees(app, pilot, "no session yet", lacks="Start")

    shows(work.root, story, start=start)


def test_only_keys_that_do_something_are_offered(work):
    """Nothing waited and there was Allow, what was paused could be paused, what worked be taken, and nothing be opened."""
    api = begin(work, {"ask": "go on?"}, {"approve": "make all"}, {"done": "finished"})

    async def story(app, pilot):
        await sees(app, pilot, "no session yet", "\nn New ? Help q Quit")
        for page, keys in (("pipelines", ""), ("history", "t Timeline "), ("graph", "/ Ask i Index ")):
            app.action_page(page)
            await sees(app, pilot, f"\n{keys}? Help q Quit")
        app.action_page("board")
        await pilot.press("question_mark")
        shown = await sees(app, pilot, "On this page", "Start a session")
        assert "Answer the agent" not in shown
        await pilot.press("escape")
        await asyncio.to_thread(api.post, "/api/run", {"task": "one task"})
        # Its keys are offered from its first moment on; who is answered has to have asked.
        keys = "\nenter Open e Reply p Pause h Handoff x Stop n New ? Help q Quit"
        await sees(app, pilot, "needs a reply", keys)
        await pilot.press("p")
        await sees(app, pilot, "stands still", "e Reply p Resume h Handoff")
        await pilot.press("enter")
        await sees(
            app, pilot, "[s Stream]", "\ne Reply p Resume h Handoff x Stop n New esc Back ? Help q Quit"
        )
        await pilot.press("p")
        await sees(app, pilot, "The agent goes on", "p Pause")
        await pilot.press("e", *"yes", "enter")
        await sees(app, pilot, "a Allow e Reply p Pause")
        await pilot.press("escape")
        await sees(app, pilot, "enter Open a Allow e Reply p Pause")
        await pilot.press("a")
        await answers(app, pilot, "y")
        await sees(app, pilot, "\nenter Open n New t Take ? Help q Quit", "Done (1)")
        await pilot.press("4")
        await sees(app, pilot, "enter Open b Branch here t Timeline")
        await pilot.press("t")
        await sees(app, pilot, "session_ended", "\nt Timeline ? Help q Quit")

    shows(work.root, story, size=(90, 30))


def test_what_is_paused_while_it_is_verified_is_let_go_on_from_the_board(work):
    """Its row says `verifying` all the while: the second `p` paused it again, and the keys below said Pause."""
    gate = Gate(work.root.parent / "gate")
    api = begin(work, {"done": "finished"})
    api.post("/api/run", {"task": "one task", "verify": [gate.command]})

    async def story(app, pilot):
        await sees(app, pilot, "verifying", "p Pause")
        await pilot.press("p")
        await sees(app, pilot, "The agent stands still", "verifying", "p Resume")
        await pilot.press("p")
        await sees(app, pilot, "The agent goes on", "p Pause")

    with gate:
        shows(work.root, story)
    assert api.get("/api/status")["paused"] is False


def test_keys_typed_ahead_reach_the_screen_that_is_opening(work):
    """Typed faster than it opens, as a terminal sends them: each is for what the ones before it have opened."""
    work.script("demo-second", {"done": "finished"})
    api = begin(work, {"write": {"path": "a.py", "text": "a = 1\n"}}, {"ask": "go on?"}, {"done": "finished"})
    api.post("/api/run", {"task": "write it"})

    def ahead(app, *keys):
        for key in keys:
            app.post_message(events.Key(key, key if len(key) == 1 else None))

    async def story(app, pilot):
        await sees(app, pilot, "needs a reply")
        ahead(app, "enter", "d")
        await sees(app, pilot, "[d Diff]", "a = 1", ">a.py")
        ahead(app, "x", "n", "n", *"xenops", "escape", "e", *"paint", "enter")
        await sees(app, pilot, "Sent.")
        ahead(app, "escape", "2", "1", "n", *"pax")
        await sees(app, pilot, "What is to be done?", "pax")

    shows(work.root, story, size=(100, 30))
    assert "paint" in [
        one["msg"] for one in api.get("/api/events", {"limit": 1000}) if one["meta"].get("role") == "user"
    ]


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
        await sees(app, pilot, "Taken: 1 file", "taken as ", " on main")
        await asyncio.to_thread(git, work.root, "reset", "-q", "--hard", "HEAD~1")
        await pilot.press("r")
        await sees(app, pilot, lacks="taken as ")  # it said for ever that it was
        (worktree,) = (work.root / ".hub/worktrees").iterdir()
        (worktree / "later.txt").write_text("somebody went on in it")
        await pilot.press("t")
        await sees(app, pilot, "Take the result?", "a.py")
        await pilot.press("y")
        await sees(app, pilot, "taken as ", ".hub/worktrees/s-")  # what its worktree has more
        (worktree / "later.txt").unlink()
        await pilot.press("D")
        await sees(app, pilot, "Discard this session's files?")
        await pilot.press("y")
        await sees(app, pilot, "Gone: hub/s-", "discarded ")

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
        await pilot.press("n", *"build", "enter", "enter")
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


def test_in_few_columns_help_and_the_way_out_stay_in_sight(work):
    """At 40 columns the keys below ended in the middle of a word before them, and the pages above after the fourth."""
    begin(work, {"ask": "go on?"}).post("/api/run", {"task": "one task"})

    async def story(app, pilot):
        await sees(app, pilot, "Needs you (1)", "enter Open", "n New ? Help q Quit", "7Events 8Graph 9Cost")
        await pilot.resize_terminal(40, 20)
        shown = await sees(app, pilot, "enter Open e Reply p Pause ? Help q Quit", "needs a reply")
        pages, *_, keys = shown.split("\n")
        assert pages == "[1Board] 2Quota 3Pipelines 4 5 6 7 8 9"
        assert len(keys) <= 40
        assert "(A\n all projects)" in shown, "the heading goes on below"
        await pilot.click("Bar", offset=(10, 0))
        await sees(app, pilot, "1Board[2Quota] 3")
        await pilot.resize_terminal(80, 24)
        await pilot.press("1")
        await sees(app, pilot, "enter Open", "n New ? Help q Quit", "2Quota")

    shows(work.root, story, size=(80, 24))


def test_the_palette_has_every_order_of_the_page_in_sight(work):
    """Each once, with its own sentence; without a daemon none that nobody could carry out."""
    api = begin(work, {"done": "finished"})
    api.post("/api/run", {"task": "one task"})

    async def story(app, pilot):
        await sees(app, pilot, "Done (1)")
        for page in (None, *(name for _, name, _, _ in PAGES)):
            if page:
                app.action_page(page)
                await pilot.pause()
            else:
                await pilot.press("enter")
                await sees(app, pilot, "not taken yet")  # the daemon has said that the session is over
            offered = list(app.get_system_commands(app.screen))
            assert len({one.title for one in offered}) == len(offered)
            for one in offered:
                assert one.help
                assert one.help != one.title
            titles = {one.title for one in offered}
            assert ("Discard" in titles) == (page in (None, "board"))
            assert "Allow" not in titles, "the session is over: nothing of it waits"
        app.action_page("history")
        await sees(app, pilot, "Snapshots, the newest first")
        await pilot.press("ctrl+p", *"timeline")
        await sees(app, pilot, "The audit timeline")
        await pilot.press("enter", "enter")
        await sees(app, pilot, "Timeline, the newest first")
        app.action_page("board")
        await asyncio.to_thread(work.kill)
        await sees(app, pilot, "The daemon is away")
        assert "Allow" not in {one.title for one in app.get_system_commands(app.screen)}

    shows(work.root, story)


def test_a_page_that_forgot_a_part_of_itself_is_not_passed_over(work):
    """That its parts are missing is expected only of a page that is being left."""
    begin(work)

    class Forgetful(CostPage):
        def body(self):
            return ()

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await app.push_screen(Forgetful())
        late = time.monotonic() + PATIENCE
        while app.is_running and time.monotonic() < late:
            await pilot.pause(0.05)

    with pytest.raises(Exception, match="Rows"):
        shows(work.root, story)


def test_a_session_that_is_longer_than_its_stream_keeps_its_handoffs(work, monkeypatch):
    """Their beginning is asked for when they are looked at; where the stream was cut is said."""
    monkeypatch.setattr("hub.tui.session._PAST", 15)
    work.script("demo-second", {"say": "one of many", "times": 60}, {"done": "finished"})
    work.script("demo-first", {"say": "I begin."}, {"limit": {"resetsIn": 7200}})
    work.configure('[[profiles]]\nname = "three"\nchain = ["demo-first", "demo-second", "codex"]\n')
    work.start().post("/api/run", {"task": "say a lot", "profile": "three"})
    until(work.ended, "the session is over")

    async def story(app, pilot):
        await sees(app, pilot, "Done (1)")
        await pilot.press("enter")
        await sees(app, pilot, "session completed")
        await pilot.press("home")
        shown = await sees(app, pilot, "What came before is in the log")
        assert "I begin." not in shown
        await pilot.press("w")
        await sees(app, pilot, "demo-first ──→ demo-second", "the usage limit is reached", "PAUSING")
        await sees(app, pilot, "Passed by at the start", "codex: ")

    shows(work.root, story, size=(100, 30))


def test_a_pipeline_is_run_and_its_node_leads_to_its_session(work):
    """While one runs, another run was offered and then refused."""
    gate = Gate(work.root.parent / "gate")
    work.script("demo-first", {"say": "I write it."}, {"run": gate.command}, {"done": "written"})
    work.configure(
        '[[pipelines]]\nname = "feature"\n'
        '[[pipelines.nodes]]\nid = "spec"\nprovider = "demo-first"\ntask = "Write the spec"\n'
    )
    work.start()

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("3")
        await sees(app, pilot, "feature", "spec", "Write the spec")
        await pilot.press("n")
        await sees(app, pilot, "Run the pipeline feature?")
        await pilot.press("y")
        await sees(app, pilot, "feature: running", "\nenter Open ? Help")
        gate.open()
        await sees(app, pilot, "feature: done, not verified", "█", "enter Open n Run")
        await pilot.press("down", "enter")
        await sees(app, pilot, "I write it.", "session completed")

    with gate:
        shows(work.root, story)


def test_a_started_session_has_the_cursor(work):
    """Enter opens what was just asked for, whatever else there is."""
    begin(work, {"say": "I begin."}, {"ask": "go on?"}, {"done": "finished"})

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("n", *"first", "enter", "enter")
        await sees(app, pilot, "Needs you (1)")
        await pilot.press("n", *"second", "enter", "enter")
        await sees(app, pilot, "> number 1           second")

    shows(work.root, story)


def test_many_events_are_few_repaints(work):
    """At most ten a second for events, beside what the keys and the page's own questions ask for."""
    api = begin(
        work, *[{"say": "a line of work"}, {"sleep": 0.01}] * 400, {"ask": "go on?"}, {"done": "finished"}
    )

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        news, drawn = [], []
        take, display = app._take_news, app._display
        app._take_news = lambda: (news.append(time.monotonic()), take())[1]
        app._display = lambda *words: (drawn.append(time.monotonic()), display(*words))[1]
        await asyncio.to_thread(api.post, "/api/run", {"task": "work"})
        await sees(app, pilot, "Working (1)")
        await pilot.press("enter")
        await sees(app, pilot, "The agent asks you")
        assert app.taken > 400
        assert len(news) > 1
        assert min(after - one for one, after in pairwise(news)) > 0.09
        assert len(drawn) < app.taken / 2, "each takes what came into one repaint"

    shows(work.root, story)


def test_a_session_whose_history_cannot_be_read_is_shown_all_the_same(work, monkeypatch):
    """What became of its work is not known then; how it stands is."""
    api = begin(work, {"done": "finished"})
    api.post("/api/run", {"task": "one task"})
    until(work.ended, "the session is over")
    get = LocalDaemon.get

    async def unreadable(self, shape, path, *more, **named):
        if path == "/api/history":
            raise HubError(Code.AUDIT_UNREADABLE, "The audit log cannot be read.")
        return await get(self, shape, path, *more, **named)

    monkeypatch.setattr(LocalDaemon, "get", unreadable)

    async def story(app, pilot):
        await sees(app, pilot, "Done (1)")
        await pilot.press("enter")
        await sees(app, pilot, "done, not verified", "session completed", lacks="taken")

    shows(work.root, story)
