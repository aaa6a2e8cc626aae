"""No answer is larger than a model is given of it, and the parts of a long one are the whole."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.mcp.calling import words
from hub.mcp.pages import PAGE, page, size
from hub.mcp.tools import BY_NAME

DIFF, EVENTS, PROVIDERS = BY_NAME["hub_diff"], BY_NAME["hub_events"], BY_NAME["hub_providers"]
SLACK = 1000
"""Bytes for the members around the long one."""


def parts(tool, whole, name="cursor"):
    """Every part of an answer, asked for as a client would."""
    arguments = {}
    while True:
        part = page(tool, whole, arguments)
        yield part
        if not part["more"]:
            return
        assert part["next"] > arguments.get(name, -1), "it gets on"
        arguments = {name: part["next"]}


LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3000), max_size=60).map("\n".join)


@given(LINES, st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_the_parts_of_a_diff_are_the_diff(text, times):
    text *= times
    found = list(parts(DIFF, {"summary": "s", "diff": text}))
    assert "".join(part["diff"] for part in found) == text
    assert all(size(part) <= PAGE + SLACK for part in found)
    assert all(len(words(DIFF, part).encode()) <= PAGE + SLACK for part in found)


def test_a_line_longer_than_a_page_is_cut_all_the_same():
    text = "x" * (3 * PAGE)
    assert "".join(part["diff"] for part in parts(DIFF, {"summary": "", "diff": text})) == text


def test_parts_end_at_line_ends():
    found = list(parts(DIFF, {"summary": "", "diff": "+ a line\n" * 9000}))
    assert len(found) > 2
    assert all(part["diff"].endswith("\n") for part in found)


ITEMS = st.lists(st.text(max_size=400).map(lambda text: {"name": "x", "text": text * 20}), max_size=80)


@given(ITEMS)
@settings(max_examples=40, deadline=None)
def test_the_parts_of_a_list_are_the_list(items):
    found = list(parts(PROVIDERS, items))
    assert list(itertools.chain(*(part["providers"] for part in found))) == items
    assert all(size(part) <= PAGE + SLACK for part in found)


@pytest.mark.parametrize(
    "item",
    [
        {"name": "x", "text": "y" * 1_000_000},
        {"name": "x", "texts": ["y" * 3000] * 1000},
        {"name": "x", **{f"k{index}": "y" * 3000 for index in range(1000)}},
        {"name": "x", "deep": [[["y" * 50] * 50] * 50] * 50},
    ],
)
def test_one_thing_larger_than_a_page_is_cut_and_says_so(item):
    found = list(parts(PROVIDERS, [item, {"name": "next"}]))
    assert [len(part["providers"]) for part in found] in ([1, 1], [2])
    assert all(size(part) <= PAGE + SLACK for part in found)


def test_what_is_cut_in_a_text_is_counted():
    status = page(BY_NAME["hub_status"], {"sessionId": "s", "taskGoal": "g" * 100_000}, {})
    assert status["taskGoal"].endswith("[96000 more characters]") or "more characters]" in status["taskGoal"]
    assert size(status) <= PAGE


def records(first, last, text="hello"):
    return [
        {"id": id_, "ts": "00:00:00.000", "tag": "sys", "msg": text, "meta": {}} for id_ in range(first, last)
    ]


def test_events_go_on_after_the_last_one_told():
    told = page(EVENTS, records(1, 201, "x" * 1000), {})
    assert told["more"]
    assert told["next"] == told["events"][-1]["id"] < 200
    assert page(EVENTS, records(7, 9), {"since": 6}) == {"events": records(7, 9), "more": False, "next": 8}
    assert page(EVENTS, [], {"since": 6}) == {"events": [], "more": False, "next": 6}


def test_as_many_events_as_were_asked_for_may_not_be_all():
    assert page(EVENTS, records(1, 201), {})["more"]
    assert not page(EVENTS, records(1, 200), {})["more"]


def test_what_is_not_known_is_left_out():
    """The output schema has no null."""
    assert page(BY_NAME["hub_cost"], {"sessionUsd": None, "tokensIn": 0}, {}) == {"tokensIn": 0}


def test_a_cursor_behind_the_end_finds_nothing():
    assert page(PROVIDERS, [{"name": "x"}], {"cursor": 2**53 - 1}) == {"providers": [], "more": False}
