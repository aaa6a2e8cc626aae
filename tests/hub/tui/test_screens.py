"""Every screen at two sizes, of a real daemon that has seen a handoff and a pipeline: as text, and dark, light and in plain
ASCII with the colour of each letter.

`HUB_TEST_SCREENS=write` writes them anew, and as SVG below `build/screens`: look at what has changed before you keep it.
"""

import os
import re
import time
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from hub.tui.approval import ApprovalBox
from hub.tui.daemon import LocalDaemon
from hub.tui.look import ASCII
from hub.tui.page import PAGES as EVERY
from tests.faults.harness import git, project, until
from tests.hub.tui.kit import cells, drawn, masked, sees, shows, text
from tests.hub.tui.test_approval import request
from tests.hub.tui.test_pages import NO_SESSION, detected
from tests.waiting import Gate

HERE = Path(__file__).parent / "screens"
BUILD = Path(__file__).parents[3] / "build" / "screens"
SIZES = ((80, 24), (140, 40))
PIPELINE = """
[[pipelines]]
name = "feature"
[[pipelines.nodes]]
id = "spec"
provider = "demo-second"
task = "Write the spec"
[[pipelines.nodes]]
id = "code"
provider = "demo-second"
task = "Write the code"
dependsOn = ["spec"]
[[pipelines.nodes]]
id = "docs"
provider = "demo-second"
task = "Write the docs"
dependsOn = ["spec"]
"""
FIRST = (
    {"say": "I look at the code first."},
    {"run": "echo one; echo two"},
    {"quota": {"used": 0.4, "resetsIn": 7200}},
    {"quota": {"used": 0.6, "resetsIn": 7200}},
    {"write": {"path": "a.py", "text": "print('a')\n"}},
    {"limit": {"resetsIn": 7200}},
)
SECOND = (
    {"say": "I go on."},
    {"write": {"path": "b.py", "text": "print('b')\n"}},
    {"run": "false"},
    {"done": "all done"},
)
PAGES = (
    ("2", "quota", "100 % used", ""),
    ("3", "pipelines", "done, not verified", "enter Open n Run "),
    ("4", "history", "at the end", "enter Open b Branch here t Timeline "),
    ("5", "detected", "2 running", "enter Open r Look again o Adopt "),
    ("6", "providers", "Demo agent 2", "enter Open "),
    ("7", "events", "of the newest", "enter Open / Filter t Tag "),
    ("8", "graph", "ready", "/ Ask i Index "),
    ("9", "cost", "nothing was used yet", ""),
)
"""The key, the name, a word of each page, and the keys below: they are drawn after the rows that they are for."""
PARTS = (
    ("w", "handoffs", "RESUMING"),
    ("d", "diff", "+print('b')"),
    ("c", "session-cost", "Told by"),
)
OVER = "\nenter Open n New t Take ? Help"
"""Of a session that is over."""
THEMES = {"dark": "textual-dark", "light": "textual-light"}
WRITE = os.environ.get("HUB_TEST_SCREENS") == "write"
_MOVING = (
    (re.compile(r" +█+ +\d+ s"), " (bar)"),
    (re.compile(r"[█░]{8,}"), "(bar)"),
    (re.compile(r"snapshot (end-t|h)-"), "snapshot of-"),
    (re.compile(r"read _ < \S*"), "read _ < gate"),
    (re.compile(r"-[0-9a-f]{4}$", re.MULTILINE), "-0000"),
    (re.compile(r"-[0-9a-f]{2}\.\."), "-00.."),
    (re.compile(r"in \d+ h \d+ min|in \d+ min"), "in 0 min"),
    (re.compile(r"\d+ nodes"), "0 nodes"),
    (re.compile(r"\d[\d,]* of the newest [\d,]+"), "0 of the newest 0"),
    (re.compile(r"0\.\d+ percent/min"), "0 percent/min"),
    (re.compile(r" +[▁▂▃▄▅▆▇█]+$", re.MULTILINE), ""),
)
_LOOSE = (
    (re.compile(r" +[█#]+ +\d+ s"), " (bar)"),
    (re.compile(r"[#.░]{6,}[#.█░]*|[#█]+[.░]{6,}"), "(bar)"),
    (re.compile(r"  [▁▂▃▄▅▆▇█_.:#-]+(?= *$)"), ""),
    (re.compile(r"-[0-9a-f]{4}(?= *$)"), "-0000"),
    (re.compile(r" {3,}"), "   "),
)
"""More where looks are kept: bars of ASCII, and how far apart what is beside them stands. The letters' own files have that."""


@pytest.fixture(scope="module")
def lived(tmp_path_factory):
    """A project with a session that changed hands, and a pipeline that ran; local time is UTC."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    folder = tmp_path_factory.mktemp("lived")
    with project(folder) as work, Gate(folder / "gate") as gate:
        (work.root / "app.py").write_text("def retry_delay(n):\n    return 2**n\n")
        work.script("demo-first", *FIRST)
        work.script("demo-second", SECOND[0], {"run": gate.command}, *SECOND[1:])
        work.configure(PIPELINE)
        api = work.start(PATH="/usr/bin:/bin", HOME=str(work.state))
        api.post("/api/run", {"task": "Add retries to the client"})
        work.says("fidelity")  # told beside the work: it is to have one place
        gate.open()
        until(work.ended, "the session is over")
        for _ in range(3):
            gate.open()
        api.post("/api/pipelines/run", {"name": "feature"})
        until(lambda: api.get("/api/pipelines/run")["state"] == "completed", "the pipeline is over")
        yield work


@pytest.fixture
def seen_agents(monkeypatch):
    """What the daemon finds on a machine with these agents: the tests' own has others each time."""
    before = int(time.time()) - 330  # one instant: they are shown in its order
    found = [
        detected(lastActive=before),
        detected(
            id="codex:pid:7", displayName="Codex", running=True, pid=7, session=NO_SESSION, lastActive=0
        ),
        detected(id="claude:pid:8", running=True, pid=8, lastActive=before),
        detected(id="z", displayName="Goose", alarm="too large", lastActive=before),
    ]
    get = LocalDaemon.get

    async def answered(self, shape, path, *more, **named):
        return found if path == "/api/detect" else await get(self, shape, path, *more, **named)

    monkeypatch.setattr(LocalDaemon, "get", answered)


def test_every_page_is_kept():
    assert {name for _, name, _, _ in EVERY} == {"board", *(name for _, name, _, _ in PAGES)}


def still(shown):
    """Without what is another on each machine."""
    shown = masked(shown)
    for pattern, instead in _MOVING:
        shown = pattern.sub(instead, shown)
    return "\n".join(line.rstrip() for line in settled(shown.splitlines(), str)) + "\n"


def letters(row):
    """The letters of a row of cells."""
    return "".join(letter for letter, _ in row)


def settled(lines, words):
    """The next agent's first step and hub's word that it goes on: which of them is told first is chance."""
    for at, (line, below) in enumerate(pairwise(list(lines))):
        if "goes on with the work" in words(line) and "read _ <" in words(below):
            lines[at : at + 2] = below, line
    return lines


def compare(path, shown):
    """With the kept one."""
    if WRITE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(shown)
    assert shown == path.read_text(), path.name


class Taken:
    """What a walk through the pages has seen."""

    def __init__(self, size, *looks):
        self.size, self.looks = f"{size[0]}x{size[1]}", looks
        self.texts, self.drawings = {}, {}

    async def take(self, name, app, pilot, *words):
        """The screen that shows these words, in each look."""
        self.texts[name] = await sees(app, pilot, *words)
        for look in self.looks:
            if look in THEMES:
                app.theme = THEMES[look]
                await pilot.pause()
            self.drawings[name, look] = drawn(settled(cells(app), letters), (*_MOVING, *_LOOSE))
            if WRITE:
                BUILD.mkdir(parents=True, exist_ok=True)
                (BUILD / f"{name}-{self.size}-{look}.svg").write_text(app.export_screenshot(title=name))
        if self.looks[-1] in THEMES:
            app.theme = THEMES[self.looks[0]]

    def compare(self):
        """With what is kept."""
        for (name, look), shown in self.drawings.items():
            compare(HERE / look / f"{name}-{self.size}.txt", shown)


async def walk(taken, app, pilot):
    """Through every page, and a session's parts."""
    await taken.take("board", app, pilot, "Done (4)", "Add retries", OVER)
    for key, name, word, keys in PAGES:
        await pilot.press(key)
        await taken.take(name, app, pilot, word, f"\n{keys}? Help")
    await pilot.press("1")
    await sees(app, pilot, "Done (4)", OVER)
    await pilot.press("end", "enter")
    await taken.take(
        "stream", app, pilot, "session completed", "done, not verified", "\nn New t Take esc Back ? Help"
    )
    for key, name, word in PARTS:
        await pilot.press(key)
        await taken.take(name, app, pilot, word, "? Help")
    await pilot.press("question_mark")
    head = "Everywhere" if taken.size == "140x40" else "On this page"
    await taken.take("help", app, pilot, head, "\nesc Back")
    await pilot.press("escape")
    await app.push_screen(ApprovalBox([request("Bash: make clean", command="make clean", folder="src")]))
    await taken.take("approval", app, pilot, "make clean", "y Allow once")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_page_at_this_size(lived, seen_agents, size):
    """Its letters, and how it looks dark and light."""
    taken = Taken(size, "dark", "light")
    shows(lived.root, partial(walk, taken), size=size)
    for name, shown in taken.texts.items():
        compare(HERE / f"{name}-{taken.size}.txt", still(shown))
    taken.compare()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_page_in_plain_ascii(lived, seen_agents, size):
    taken = Taken(size, "ascii")
    shows(lived.root, partial(walk, taken), size=size, look=ASCII)
    for name, shown in taken.texts.items():
        assert shown.isascii(), (name, shown)
    taken.compare()


def test_plain_ascii_is_all_there_is_where_it_was_asked_for(lived):
    async def story(app, pilot):
        await sees(app, pilot, "Done (4)")
        await pilot.press("end", "enter")
        await sees(app, pilot, "+ run false x", "session completed")
        for key in ("f", "w", "d", "question_mark"):
            await pilot.press(key)
            await pilot.pause()
            assert text(app).isascii(), text(app)
        await pilot.press("escape", "escape", "n")
        assert (await sees(app, pilot, "What is to be done?")).isascii()
        await pilot.press("escape", "ctrl+p", *"cost")
        assert (await sees(app, pilot, "Go to Cost", "By agent and by session")).isascii()

    shows(lived.root, story, look=ASCII)


def test_a_screen_that_is_made_smaller_and_larger_again(lived):
    async def story(app, pilot):
        await sees(app, pilot, "Done (4)")
        await pilot.press("end", "enter")
        await sees(app, pilot, "session completed")
        await pilot.resize_terminal(40, 12)
        await sees(app, pilot, "session completed")
        await pilot.resize_terminal(140, 40)
        await sees(app, pilot, "session started: Add retries to the client", "session completed")

    shows(lived.root, story)


def test_the_mouse_opens_a_page_and_a_session(lived):
    async def story(app, pilot):
        await sees(app, pilot, "Done (4)")
        await pilot.click("Bar", offset=(13, 0))
        await sees(app, pilot, "Quota  times are")
        await pilot.click("Bar", offset=(2, 0))
        await sees(app, pilot, "Done (4)")
        await pilot.click("Rows", offset=(5, 4))
        await pilot.click("Rows", offset=(5, 4))
        await sees(app, pilot, "session completed")
        shown = text(app).splitlines()
        at = next(place for place, line in enumerate(shown) if "w Handoffs" in line)
        await pilot.click(offset=(shown[at].index("w Handoffs") + 3, at))
        shown = (await sees(app, pilot, "[w Handoffs]", "demo-first ──→ demo-second", "t Take")).splitlines()
        await pilot.click(offset=(shown[-1].index("Take"), len(shown) - 1))
        await sees(app, pilot, "Take the result?")
        await pilot.press("n")

    shows(lived.root, story)


def test_a_branch_at_a_snapshot_and_code_that_is_found(work):
    """In a project of its own: a branch is told on the pages that others compare."""
    (work.root / "app.py").write_text("def retry_delay(n):\n    return 2**n\n")
    work.script("demo-first", FIRST[0], FIRST[1], FIRST[4], {"done": "all done"})
    work.configure()
    work.start().post("/api/run", {"task": "Add retries to the client"})
    until(work.ended, "the session is over")

    def branches():
        return git(work.root, "branch", "--list", "hub/rewind/*").split()

    async def story(app, pilot):
        await sees(app, pilot, "Done (1)")
        await pilot.press("4")
        await sees(app, pilot, "at the end")
        await pilot.press("end", "enter")
        await sees(app, pilot, "Snapshot ", "+print('")
        assert not branches()
        await pilot.press("escape", "b")
        await sees(app, pilot, "Make a branch here?", "nothing else moves")
        await pilot.press("y")
        await sees(app, pilot, "hub/rewind/")
        assert len(branches()) == 1
        await pilot.press("t")
        await sees(app, pilot, "Timeline, the newest first", "rewind")
        await pilot.press("8", "slash", *"retry delay", "enter")
        await sees(app, pilot, "app.py:1-2", "return 2**n")
        await pilot.press("enter")
        await sees(app, pilot, "     1 def retry_delay(n):")
        await pilot.press("escape")
        await pilot.press("7", "slash", *"all done", "enter")
        await sees(app, pilot, "with 'all done'", lacks="echo one")
        await pilot.press("enter")
        await sees(app, pilot, "Event ", "sessionId: s-", "all done")
        await pilot.press("escape", "t")
        await sees(app, pilot, "0 of the newest", "only text", "no event passes")
        await pilot.press("slash", *["backspace"] * 8, "enter")
        await sees(app, pilot, "I look at the code first.", "only text", lacks="tool_use")

    shows(work.root, story)


def _contrast(one, other):
    """As the guidelines for web content compute it."""

    def light(triplet):
        parts = [part / 255 for part in triplet]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
def test_every_letter_can_be_read_on_its_ground(lived, seen_agents, theme):
    """Muted words were white on a light ground: a colour that Textual works out has no meaning in a part of a line."""

    async def story(app, pilot):
        await sees(app, pilot, "Done (4)", "? Help")
        for key, _, word, _ in PAGES:
            await pilot.press(key)
            await sees(app, pilot, word, "? Help")
            _readable(app)
        await pilot.press("1")
        await sees(app, pilot, "Done (4)")
        await pilot.press("end", "enter")
        await sees(app, pilot, "session completed", "? Help")
        _readable(app)

    shows(lived.root, story, theme=theme)


def _readable(app):
    for strip in app.screen._compositor.render_strips():
        for line_filter in app.get_line_filters():
            strip = strip.apply_filter(line_filter, app.screen.styles.background)  # noqa: PLW2901  # one after the other
        for words, style, _ in strip:
            if words.strip() and not re.fullmatch(r"[\s█░▁-█]*", words) and style.color and style.bgcolor:
                pair = (style.color.triplet, style.bgcolor.triplet)
                assert _contrast(*(pair[::-1] if style.reverse else pair)) >= 3, (words, style)
