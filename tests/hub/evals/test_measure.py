"""Recall counts a fact at each moment it holds; precision counts what is told and is none."""

import pytest

from hub.evals.labels import Class, LabelledFact
from hub.evals.lifting import LiftedItem
from hub.evals.measure import Tally, Way, compare, fits
from hub.evals.recording import Moment, Recording


def recorded(*facts, moments=3):
    """A recording with nothing but labels."""
    return Recording(
        provider="p",
        name="r",
        task="t",
        model="",
        worktree="/r",
        env={},
        stream=(),
        files={},
        moments=(Moment(0, {}),) * moments,
        facts=facts,
    )


def test_a_fact_that_is_found_late_is_missing_before():
    plan = LiftedItem(Class.PLAN, "read the code")
    measured = compare(recorded(LabelledFact(Class.PLAN, ("read",), 1, 3)), Way.STORE, [[], [plan], [plan]])
    assert measured.tallies[Class.PLAN] == Tally(facts=3, found=2, items=2, right=2)
    assert [(fault.text, fault.moments) for fault in measured.missed] == [("read", (1,))]
    assert measured.cuts == 3


def test_what_was_true_only_before_is_wrong():
    """A failure that is told after it was mended sends the next agent to mend it again."""
    failure = LiftedItem(Class.FAILURES, "make test ended with exit status 2: no")
    fact = LabelledFact(Class.FAILURES, ("make test",), 1, 1, 2)
    measured = compare(recorded(fact), Way.CONTRACT, [[failure], [failure], []])
    assert measured.tallies[Class.FAILURES] == Tally(facts=1, found=1, items=2, right=1)
    assert [(fault.text, fault.moments) for fault in measured.wrong] == [(failure.text, (2,))]
    assert (measured.tallies[Class.FAILURES].recall, measured.tallies[Class.FAILURES].precision) == (1, 0.5)


def test_what_nobody_labelled_is_wrong():
    """A decision out of a tool's output is one that nobody took."""
    measured = compare(recorded(), Way.STORE, [[LiftedItem(Class.DECISIONS, "floats everywhere")], [], []])
    assert measured.tallies[Class.DECISIONS].precision == 0
    assert measured.tallies[Class.DECISIONS].recall is None


@pytest.mark.parametrize(
    ("item", "fitting"),
    [
        (LiftedItem(Class.COMMANDS, "make test", 2), True),
        (LiftedItem(Class.COMMANDS, "make test", 0), False),
        (LiftedItem(Class.COMMANDS, "make test"), False),
        (LiftedItem(Class.COMMANDS, "remake test", 2), False),
        (LiftedItem(Class.COMMANDS, "make tests", 2), False),
        (LiftedItem(Class.FAILURES, "make test", 2), False),
        (LiftedItem(Class.COMMANDS, "make test ended with exit status 2"), True),
        (LiftedItem(Class.COMMANDS, "make test ended with exit status 20"), False),
    ],
)
def test_an_item_tells_a_fact_by_class_words_and_exit_status(item, fitting):
    assert fits(LabelledFact(Class.COMMANDS, ("make test",), 1, 1, 2), item) is fitting


def test_a_command_without_its_exit_status_is_too_little_and_not_false():
    """Some agents do not tell it: the fact is missed, and what is told is true all the same."""
    fact = LabelledFact(Class.COMMANDS, ("make",), 1, 1, 0)
    measured = compare(recorded(fact, moments=1), Way.CONTRACT, [[LiftedItem(Class.COMMANDS, "make")]])
    assert measured.tallies[Class.COMMANDS] == Tally(facts=1, found=0, items=1, right=1)
