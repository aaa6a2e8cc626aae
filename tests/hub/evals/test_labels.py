"""A label says what, of which class, from when to when; what says less is refused with a reason."""

import pytest

from hub.evals.labels import Class, LabelledFact, Way, fact, norm


def test_a_fact_holds_from_its_first_moment_to_its_last():
    made = fact({"class": "failures", "text": "Make  `test`", "exit": 2, "from": 3, "to": 4}, 9)
    assert made == LabelledFact(Class.FAILURES, ("make test",), 3, 4, 2)
    assert [made.holds(moment) for moment in (2, 3, 4, 5)] == [False, True, True, False]


def test_a_fact_that_says_no_moments_holds_always():
    assert fact({"class": "plan", "text": ["a", "b"]}, 9) == LabelledFact(Class.PLAN, ("a", "b"), 1, 9)


def test_a_fact_may_be_known_on_one_way_only():
    """A protocol may not tell what the agent's own files have: nobody can keep what was not said."""
    made = fact({"class": "plan", "text": "a", "way": "store"}, 9)
    assert [made.holds(1, way) for way in (Way.STORE, Way.CONTRACT)] == [True, False]
    both = fact({"class": "plan", "text": "a"}, 9)
    assert [both.holds(1, way) for way in Way] == [True, True]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("plan", "a table"),
        ({"class": "plan", "text": "a", "until": 2}, "no until"),
        ({"class": "mood", "text": "a"}, "no class 'mood'"),
        ({"class": "plan"}, "words of the session"),
        ({"class": "plan", "text": " `` "}, "words of the session"),
        ({"class": "plan", "text": []}, "words of the session"),
        ({"class": "plan", "text": "a", "from": "1"}, "whole numbers"),
        ({"class": "plan", "text": "a", "exit": True}, "whole numbers"),
        ({"class": "plan", "text": "a", "from": 3, "to": 2}, "1 to 9, not 3 to 2"),
        ({"class": "plan", "text": "a", "way": "air"}, "no way 'air'"),
        ({"class": "plan", "text": "a", "to": 10}, "1 to 9, not 1 to 10"),
    ],
)
def test_a_label_that_says_nothing_is_refused(value, why):
    with pytest.raises(ValueError, match=why):
        fact(value, 9)


def test_marks_case_and_spaces_make_no_difference():
    assert norm("Don\u2019t  **touch** `a.py`\n") == norm("don't touch A.PY")
