"""A plan in prose: a list that says it is one, and which of its steps are done."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.intent.listed import MAX_STEPS, Listed, finished, listed

AB = ("Read it", "Write it")


@pytest.mark.parametrize(
    "text",
    [
        "Plan:\n1. Read it\n2. Write it",
        "I looked around.\n\n## Plan\n\n- Read it\n- Write it\n\nI begin.",
        "Here's my approach:\n\n1) **Read it**\n\n   It is short.\n2) `Write it`",
        "I will do this in two steps:\n* Read it\n  - line by line\n* Write it",
        "- [ ] Read it\n- [ ] Write it",
        "**To-do**\n- Read it\n- Write it",
        "Tasks:\n- Other\n- Things\n\nOn second thought, the steps:\n- Read it\n- Write it",
    ],
)
def test_a_list_that_says_it_is_a_plan(text):
    assert listed(text) == Listed(AB, AB, whole=True)


@pytest.mark.parametrize(
    "text",
    [
        "1. Read it\n2. Write it",
        "I found two things:\n1. A\n2. B",
        "The steps I took:\n1. Read it\n2. Wrote it",
        "Steps to reproduce:\n1. Start it\n2. Stop it",
        "What you may do next:\n- Push\n- Merge",
        "Next steps for you:\n- Push\n- Merge",
        "Plan:\n1. Only one",
        "A plan is needed.\n1. A\n2. B",
        "Plan:\n```\n1. Read it\n2. Write it\n```",
        "Plan: none.",
        "",
        "Plan:\n- ~~ ~~\n- ",
    ],
)
def test_a_list_that_is_something_else(text):
    assert listed(text) is None


@pytest.mark.parametrize(
    "first",
    [
        "- [x] Read it",
        "- [X] **Read it**",
        "- ✅ Read it",
        "- Read it ✅",
        "- ~~Read it~~",
        "- Read it (done)",
        "- Read it - done.",
    ],
)
def test_a_step_that_is_marked_done(first):
    assert listed(f"The plan so far:\n{first}\n- Write it") == Listed(AB, ("Write it",), whole=True)


@pytest.mark.parametrize(
    "title", ["Remaining:", "What's left:", "### Still to do", "Next steps:", "Left to do:"]
)
def test_a_list_of_what_is_left(title):
    assert listed(f"{title}\n- Write it") == Listed(("Write it",), ("Write it",), whole=False)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Step 1 is done.", {1}),
        ("Steps 1 and 2 are complete, on to step 3.", {1, 2}),
        ("Steps 1-3 done.", {1, 2, 3}),
        ("step 2 of 4 is now finished", {2}),
        ("Step 2 is next.", set()),
        ("Once step 1 fails, it is done.", set()),
    ],
)
def test_steps_that_are_said_to_be_done(text, numbers):
    assert finished(text) == numbers


def test_a_long_list_is_cut():
    found = listed("Plan:\n" + "\n".join(f"- {number}" for number in range(MAX_STEPS + 5)))
    assert len(found.steps) == MAX_STEPS


@given(st.text(alphabet="Plan:ne- [x]1.2)#*~ \n\u2705", max_size=200))
@settings(max_examples=100)
def test_what_is_open_is_a_part_of_the_steps_in_their_order(text):
    found = listed(text)
    if found is not None:
        assert [step for step in found.steps if step in found.open] == list(found.open)
        assert all(step.strip() for step in found.steps)


@pytest.mark.parametrize("unit", ["- ", "- [ ] a", "step 1 ", "~~", "what is ", "1. a\n"])
def test_no_text_makes_it_slow(unit):
    started = time.process_time()
    listed("Plan:\n" + unit * 20_000)
    finished(unit * 20_000)
    assert time.process_time() - started < 2
