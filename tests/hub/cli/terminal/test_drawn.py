"""The look of a conversation on a terminal, and its bottom line."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from hub.cli.terminal.clock import Clock
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.drawn import Drawn, bottom
from hub.cli.terminal.items import Heading, PlanItem, Said, ToldItem, ToolItem

NOON = 1_795_435_200.0


def console(width=80, **more):
    kind = {"TERM": "xterm"}  # whatever the tests themselves run in: a dumb terminal has no lines that follow
    return Console(file=io.StringIO(), width=width, height=30, force_terminal=True, _environ=kind, **more)


def drawn(*items, width=80, **more):
    """What stands on the terminal."""
    view = Drawn(Conversation(), console(width, **more))
    view.show(items)
    return view.console.file.getvalue()


def plain(*items, width=80):
    return drawn(*items, width=width, no_color=True, color_system=None)


def test_markdown_is_drawn_and_nothing_of_it_is_lost():
    """Rich leaves out what looks like HTML."""
    text = plain(
        Said("# Title\n\nA `list<int>` and a List<String> with **weight** <b>x</b>.\n\n- one\n- two")
    )
    for words in ("Title", "list<int>", "List<String>", "weight", "<b>x</b>", "• one"):
        assert words in text
    assert "**" not in text
    assert text.splitlines()[0].startswith("  Title"), "to the left"


def test_no_line_is_filled_up_with_blanks():
    """They were copied with the words, and in a window made narrower each line had an empty one below it."""
    said = Said("Hello there.\n\n```python\nprint(1)\n```\n\n- one\n- two " + "long " * 30)
    text = plain(said, ToldItem("so", "dim"), Heading("claude", ""), ToolItem("make", "ok"))
    assert [line for line in text.splitlines() if line != line.rstrip()] == []
    assert text.splitlines()[-1] == "  ● make  ok"
    assert "there.\n\n   print(1)\n\n   • one\n" in text, "one empty line is enough"


def test_an_address_is_written_out():
    """A link whose words say another place than it goes to would be a trap."""
    assert "https://evil.example" in plain(Said("[https://good.example](https://evil.example)"))


@pytest.mark.parametrize("width", [20, 40, 80, 120])
def test_a_tool_is_one_line(width):
    text = plain(ToolItem("Bash " + "x" * 200, "y" * 200, folded=3), width=width)
    assert len(text.splitlines()) == 1
    assert len(text.rstrip("\n")) <= width


def test_the_marks():
    assert plain(Heading("claude/work", "opus")).split() == ["claude/work", "opus"]
    assert "● make  ok" in plain(ToolItem("make", "ok"))
    assert "✗ make  failed, exit 2" in plain(ToolItem("make", "exit 2", failed=True))
    assert plain(PlanItem((("a", True), ("b", False)), ("a",))).strip() == "✓ a"
    assert plain(ToldItem("it failed", "bad", ("why",))) == "it failed\n  why\n"
    assert "\x1b[31m" in drawn(ToldItem("it failed", "bad"), color_system="standard")


def known(**more):
    found = Conversation(clock=Clock(NOON), since="2026-11-23T11:58:48.000Z", doing="Bash npm test", **more)
    found.take(
        usage := {
            "id": 1,
            "ts": "12:00:00.000",
            "tag": "quota",
            "msg": "x",
            "meta": {"type": "usage", "provider": "c", "tokensIn": 42_000, "tokensOut": 310},
        }
    )
    found.take({**usage, "meta": {"type": "quota", "provider": "c", "used": 720, "window": "five_hour"}})
    return found


def test_the_bottom_line():
    line = bottom(known(), 80, keys=True).plain
    assert line[2:] == "1 min 12 s · Bash npm test · 42,310 tokens · 5-hour 72 % · ? keys"
    assert "waiting for the daemon" in bottom(known(), 80, note="waiting for the daemon").plain


@given(st.integers(20, 200))
def test_it_is_one_line_however_narrow(width):
    """What is under way keeps its place longest."""
    line = bottom(known(), width, keys=True).plain
    assert "Bash" in line
    assert len(line) <= max(width, 30)


def test_the_lines_below_follow_and_leave_nothing():
    told = known()
    told.partial = "\n".join(f"line {n}" for n in range(50))
    told.tasks = (("a", True), ("b", False))
    view = Drawn(told, console(no_color=True, color_system=None))
    view.prompt = lambda: ("reply: ", "blue")
    view.start()
    view.stop()
    text = view.console.file.getvalue()
    for words in ("line 49", "☐ b", "reply: blue", "42,310 tokens"):
        assert words in text
    assert "line 30\n" not in text, "only the end of what is still written"
    assert text.endswith("\x1b[?25h") or "\x1b[?25h" in text.split("tokens")[-1], "the cursor is shown again"
