"""Plain lines: what a pipe and a file are given."""

from hypothesis import given
from hypothesis import strategies as st

from hub.cli.terminal.items import Heading, PlanItem, Said, ToldItem, ToolItem
from hub.cli.terminal.plain import lines
from hub.domain.text.safe import clean


def test_each_item():
    assert list(lines(Heading("claude/work", "opus"))) == ["", "claude/work (opus)"]
    assert list(lines(Said("a\n\nb"))) == ["  a", "", "  b"]
    assert list(lines(Said("hm\nwell", thinking=True))) == ["  (hm well)"]
    assert list(lines(ToolItem("npm test", "3 passed", folded=2))) == ["  npm test  ->  3 passed (+2 lines)"]
    assert list(lines(ToolItem("make", "exit 2", failed=True))) == ["  make  ->  failed, exit 2"]
    assert list(lines(ToolItem("make"))) == ["  make"]
    assert list(lines(ToldItem("it failed", "bad", ("why",)))) == ["it failed", "  why"]


def test_a_plan_is_listed_once_and_then_ticked():
    tasks = (("a", True), ("b", False))
    assert list(lines(PlanItem(tasks, ("a",)))) == ["  plan: 1 of 2 done", "  [x] a", "  [ ] b"]
    assert list(lines(PlanItem(tasks, ("a",), changed=False))) == ["  [x] a"]


@given(st.text(), st.text())
def test_no_line_holds_what_a_terminal_acts_on(what, result):
    """The conversation cleans; nothing is put back."""
    for line in lines(ToolItem(clean(what).replace("\n", " "), clean(result).replace("\n", " "))):
        assert clean(line) == line
