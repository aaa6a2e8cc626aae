"""Plain lines: what a pipe and a file are given."""

from hypothesis import given
from hypothesis import strategies as st

from hub.cli.items import Heading, Plan, Said, Told, Tool
from hub.cli.plain import lines
from hub.domain.text.safe import clean


def test_each_item():
    assert list(lines(Heading("claude/work", "opus"))) == ["", "claude/work (opus)"]
    assert list(lines(Said("a\n\nb"))) == ["  a", "", "  b"]
    assert list(lines(Said("hm\nwell", thinking=True))) == ["  (hm well)"]
    assert list(lines(Tool("npm test", "3 passed", folded=2))) == ["  npm test  ->  3 passed (+2 lines)"]
    assert list(lines(Tool("make", "exit 2", failed=True))) == ["  make  ->  failed, exit 2"]
    assert list(lines(Tool("make"))) == ["  make"]
    assert list(lines(Told("it failed", "bad", ("why",)))) == ["it failed", "  why"]


def test_a_plan_is_listed_once_and_then_ticked():
    tasks = (("a", True), ("b", False))
    assert list(lines(Plan(tasks, ("a",)))) == ["  plan: 1 of 2 done", "  [x] a", "  [ ] b"]
    assert list(lines(Plan(tasks, ("a",), changed=False))) == ["  [x] a"]


@given(st.text(), st.text())
def test_no_line_holds_what_a_terminal_acts_on(what, result):
    """The conversation cleans; nothing is put back."""
    for line in lines(Tool(clean(what).replace("\n", " "), clean(result).replace("\n", " "))):
        assert clean(line) == line
