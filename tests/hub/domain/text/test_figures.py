"""Spans, numbers, money and agents in words."""

import pytest

from hub.domain.text.figures import agent_name, agent_of, cost, counted, first_of, lowered, money, span


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-5, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (12_060, "3 h 21 min"), (43_260, "12 h"), (90_000, "25 h"), (172_800, "2 d")],
)  # fmt: skip
def test_a_span_is_in_the_unit_people_would_choose(seconds, words):
    """A clock that was set back is now."""
    assert span(seconds) == words


def test_of_many_the_first_are_named_and_the_others_counted():
    assert first_of([]) == ""
    assert first_of(["a", "b"], 2) == "a, b"
    assert first_of({"a": 1, "b": 2, "c": 3}, 2) == "a, b and 1 more"


def test_one_is_no_plural():
    """It said `1 files`."""
    assert [counted(n, "file") for n in (0, 1, 2, 1000)] == ["0 files", "1 file", "2 files", "1,000 files"]


def test_money_has_the_digits_that_tell_something():
    assert [money(n) for n in (0, 0.0123, 2, 1234.5)] == ["$0", "$0.0123", "$2.00", "$1,234.50"]
    assert [cost(None, whole=False), cost(2, whole=True), cost(2, whole=False)] == [
        "not known", "$2.00", "more than $2.00"
    ]  # fmt: skip


def test_an_account_is_named_where_it_has_a_name():
    given = (("claude", "work"), ("claude", "default"), ("claude", ""), ("", "work"))
    assert [agent_name(*one) for one in given] == ["claude/work", "claude", "claude", ""]
    assert agent_of({"provider": "claude", "account": "work"}) == "claude/work"


def test_why_a_score_is_lower():
    assert lowered([], []) == []
    assert lowered(["files: a"] * 9, ["next: done b"]) == [
        *["not handed over: files: a"] * 5,
        "said, but nothing shows it: next: done b",
    ]
