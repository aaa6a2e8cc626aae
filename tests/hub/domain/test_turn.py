"""Whose turn it is: by the record and a choice, without a daemon."""

from functools import partial

import attrs
import pytest

from hub.domain.failure import FailureClass
from hub.domain.handoff import State
from hub.domain.retry import Wait
from hub.domain.routing import Choice, Exclusion, PassedBy, Target
from hub.domain.session import Attempt, LeftOut, OnLimit, SessionRecord
from hub.domain.turn import (
    NOT_ACCEPTED,
    Begin,
    Go,
    HandOver,
    bound,
    free,
    left_out,
    may_return,
    nobody,
    question,
    situation,
    told_anew,
    turn,
    turn_after,
    wait_for,
)
from hub.errors import Code
from tests.refusals import refuses

MINE, OTHER = Target("a", "default"), Target("b", "work")
RECORD = SessionRecord(provider="a", account="default", max_handoffs=1)
LATER = Choice(passed=(
    PassedBy(MINE, Exclusion.LIMIT, "at its limit", until=90.0),
    PassedBy(OTHER, Exclusion.LIMIT, "at its limit", until=50.0),
))  # fmt: skip
NEVER = Choice(passed=(PassedBy(OTHER, Exclusion.LOGGED_OUT, "not logged in", hint="log in"),))
AT = "2026-11-21T08:00:00.000Z"
NOW = 1_795_248_000.0


def tried(*left):
    return tuple(Attempt(target.provider, target.account, str(failure), AT) for target, failure in left)


def test_who_has_the_work_and_may_goes_on_before_anybody_better():
    assert turn(RECORD, Choice((OTHER, MINE)), begun=True) == Go()


def test_another_one_begins_or_takes_over_what_was_begun():
    choice = Choice((OTHER,), (PassedBy(MINE, Exclusion.LIMIT, "at its limit"),))
    assert turn(RECORD, choice, begun=False) == Begin(OTHER, "at its limit")
    assert turn(RECORD, choice, begun=True) == HandOver("at its limit")


def test_where_nobody_may_now_it_waits_for_the_first_or_is_refused():
    wait = turn(RECORD, LATER, begun=True)
    assert isinstance(wait, Wait)
    assert (wait.until, wait.then, wait.ender, wait.unsure) == (50.0, "retry", "anybody", False)
    assert wait.reason.startswith("nobody can take the work now: a/default: at its limit")
    with refuses(Code.QUOTA_EXHAUSTED, "at its limit"):
        turn(attrs.evolve(RECORD, on_limit=OnLimit.STOP), LATER, begun=True)
    with refuses(Code.NO_FALLBACK, "not logged in") as caught:
        turn(RECORD, NEVER, begun=True)
    assert caught.value.hint == nobody(NEVER).hint == "log in"


BUSY = Choice(passed=(PassedBy(OTHER, Exclusion.BUSY, "in use", until=60.0),))


def test_nobody_knows_when_an_account_in_use_is_free():
    assert wait_for(BUSY, "").unsure
    assert wait_for(NEVER, "") is None


def test_a_wait_is_told_by_what_is_known_now():
    """Its reason and its time stayed those of its beginning: who came free, or was told another reset, did not show."""
    wait = wait_for(LATER, "nobody: ")
    other = attrs.evolve(LATER.passed[1], until=70.0)
    later = told_anew(wait, Choice(passed=(LATER.passed[0], other)))
    assert later.until == 70.0
    assert "b/work is free first, at 1970-01-01 00:01:10" in later.reason
    assert told_anew(later, LATER) == wait
    assert told_anew(wait_for(BUSY, "nobody: "), LATER) == wait, "nobody knew the time before"


def test_a_wait_keeps_its_time_where_no_other_is_known():
    wait = wait_for(LATER, "nobody: ")
    used = told_anew(wait, Choice(passed=(LATER.passed[0], *BUSY.passed)))
    assert (used.until, used.unsure) == (50.0, False), (
        "when an account in use comes free moves on with the clock"
    )
    assert "in use" in used.reason
    never = told_anew(wait, NEVER)
    assert (never.until, never.reason) == (50.0, "nobody: b/work: not logged in. Next: log in")


def test_of_a_wait_that_is_no_others_to_end_the_time_is_its_own():
    """A probe of its own account comes when it is due; a wait that names nobody says what it said."""
    probe = Wait(60.0, "probing. old", ender="others", why="probing. ")
    assert told_anew(probe, LATER) == attrs.evolve(probe, reason=f"probing. {LATER.said()}")
    assert told_anew(Wait(60.0, "backing off"), LATER) == Wait(60.0, "backing off")


def test_stop_on_a_limit_is_not_meant_for_an_account_in_use():
    """Its session ended as `quota_exhausted` where each account but one was only at work for another session."""
    choice = attrs.evolve(BUSY, passed=(*BUSY.passed, *LATER.passed[:1]))
    record = attrs.evolve(RECORD, on_limit=OnLimit.STOP, failure=FailureClass.CRASH)
    assert isinstance(turn(record, choice, begun=True), Wait)
    assert turn_after(record, choice).then == "handoff"
    assert choice.busy == (OTHER,)


@pytest.mark.parametrize(
    ("failure", "ender"),
    [(None, "anybody"), (FailureClass.OVERLOAD, "anybody"), (FailureClass.CRASH, "others")],
)
def test_a_handoff_without_a_receiver_waits_or_leaves_the_work_where_it_is(failure, ender):
    """Who crashed is no reason to end the wait; who met a limit that is over is."""
    record = attrs.evolve(RECORD, failure=failure)
    assert turn_after(record, Choice((MINE,))) is None
    wait = turn_after(record, LATER)
    assert (wait.then, wait.ender, may_return(record)) == ("handoff", ender, ender == "anybody")
    for choice, on_limit in ((NEVER, OnLimit.HANDOFF), (LATER, OnLimit.STOP)):
        with refuses(Code.NO_FALLBACK, "Nobody else may go on"):
            turn_after(attrs.evolve(record, on_limit=on_limit), choice)


def test_work_that_was_refused_stays_with_nobody_and_is_the_end_of_it():
    """Its session ended as `no_fallback` after it had waited for another, without a word of what refused the work."""
    record = attrs.evolve(
        RECORD,
        tried=tried((OTHER, "denied"), (MINE, NOT_ACCEPTED)),
        refused="$ make test\n(exit 2)\nbroken",
        on_limit=OnLimit.STOP,
    )
    assert not bound(record, begun=True)
    assert bound(attrs.evolve(record, provider="b", account="work"), begun=True)
    assert turn_after(record, BUSY).then == "handoff"
    for ask in (partial(turn, begun=True), turn_after):
        for choice in (NEVER, LATER):
            with refuses(Code.VERIFY_FAILED, "The acceptance commands failed") as caught:
                ask(record, choice)
            assert "(exit 2)\nbroken\n\n" in caught.value.detail
            assert caught.value.detail.endswith(choice.reasons())


def test_what_was_begun_stays_where_no_handoff_is_left_or_wanted():
    assert not bound(RECORD, begun=True)
    assert bound(attrs.evolve(RECORD, handoffs_done=1), begun=True)
    assert bound(attrs.evolve(RECORD, on_limit=OnLimit.WAIT), begun=True)
    assert not bound(attrs.evolve(RECORD, on_limit=OnLimit.WAIT), begun=False)


def test_who_met_its_limit_at_once_is_waited_for_until_a_handoff_is_asked_for():
    waits = attrs.evolve(RECORD, on_limit=OnLimit.WAIT, failure=FailureClass.USAGE_LIMIT)
    assert bound(waits, begun=False)
    assert not bound(attrs.evolve(waits, insisted=True), begun=False)


def test_who_waits_for_somebody_else_is_not_free_by_itself():
    others, anybody = (Wait(0.0, "", ender=ender) for ender in ("others", "anybody"))
    assert [free(RECORD, wait, Choice((MINE,))) for wait in (others, anybody)] == [None, MINE]
    assert [free(RECORD, wait, Choice((MINE, OTHER))) for wait in (others, anybody)] == [OTHER, MINE], (
        "whose own account might be probed again did not see that another one was free"
    )
    assert free(RECORD, anybody, LATER) is None


def test_who_did_not_take_over_is_not_asked_again_in_the_same_handoff():
    """Two that crash would be asked in turns for ever; in RUNNING, and after a wait, it is asked again."""
    third, fourth = Target("c", "default"), Target("d", "default")
    record = attrs.evolve(
        RECORD,
        state=State.ENVELOPE_BUILT,
        tried=tried((fourth, "crash"), (MINE, "usage_limit"), (OTHER, "crash"), (third, "usage_limit")),
    )
    assert question(record, NOW, order=("a",)).left == {OTHER: "it did not take over (crash)"}
    assert question(attrs.evolve(record, state=State.RUNNING), NOW, order=("a",)).left == {}
    waits = attrs.evolve(RECORD, wait=Wait(0.0, ""), tried=tried((OTHER, "crash")))
    assert list(question(waits, NOW, order=("a",)).left) == [OTHER]


@pytest.mark.parametrize("failure", ["auth", "dispatch_failed", "verify_failed", "denied"])
def test_who_could_not_do_this_task_is_not_asked_again(failure):
    asked = question(attrs.evolve(RECORD, tried=tried((OTHER, failure))), NOW, order=("a", "b"))
    assert list(asked.left) == [OTHER]
    assert (asked.current, asked.order) == (MINE, ("a", "b"))


def test_who_was_overloaded_rests_longer_each_time():
    def until(*failures, now=NOW):
        record = attrs.evolve(RECORD, tried=tried(*((OTHER, failure) for failure in failures)))
        return question(record, now, order=()).resting

    assert until("overload") == {OTHER: NOW + 1}
    assert until("overload", "overload", "overload") == {OTHER: NOW + 4}
    assert until("overload", "overload", now=NOW + 2) == {}
    assert until("overload", "crash") == {}


def test_a_refusal_is_counted_by_who_refused_and_others_by_runs_in_a_row():
    record = attrs.evolve(RECORD, failing=3, refused_by=("a",))
    for failure, attempt in ((FailureClass.REFUSAL, 1), (FailureClass.OVERLOAD, 4)):
        found = situation(
            record, failure, attrs.evolve(LATER, ranked=(OTHER,)), NOW,
            breaker_open=True, jitter=0.5, max_attempts=5,
        )  # fmt: skip
        assert (found.attempt, found.targets_left, found.handoffs_left) == (attempt, 1, 1)
        assert found.targets_busy == 0
        assert (found.earliest_reset, found.can_hand_off) == (50.0, True)


def test_who_was_passed_by_is_told_without_who_asks():
    mine, other = Target("a", "default"), Target("b", "work")
    choice = Choice(passed=(
        PassedBy(mine, Exclusion.LIMIT, "at its limit"),
        PassedBy(other, Exclusion.LIMIT, "at its limit", until=0.0, hint="wait"),
    ))  # fmt: skip
    told = LeftOut("b", choice.why(other), "wait", "work")
    assert left_out(choice, but=mine) == (told,)
    assert [one.provider for one in left_out(choice)] == ["a", "b"]
