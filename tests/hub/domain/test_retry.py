"""The decision after a failure, case by case and for every situation."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.failure import ErrorNote, Failure, FailureClass
from hub.domain.retry import Decision, HandOff, Situation, Surface, Wait, decide
from hub.errors import Code, HubError

T = 1_795_230_000.0
HOUR = 3600.0


def ask(kind: FailureClass, *, resets_in: float | None = None, window: str = "", **situation) -> Decision:
    defaults = {
        "attempt": 1,
        "now": T,
        "on_limit": "handoff",
        "targets_left": 1,
        "targets_busy": 0,
        "breaker_open": False,
        "jitter": 0.0,
        "handoffs_left": 5,
        "max_attempts": 5,
        "earliest_reset": None,
    }
    failure = Failure(kind, "words", None if resets_in is None else T + resets_in, window)
    return decide(failure, Situation(**(defaults | situation)))


LIMIT = FailureClass.USAGE_LIMIT
NOBODY = [{"targets_left": 0}, {"handoffs_left": 0}]


def test_usage_limit_hands_off():
    assert isinstance(ask(LIMIT, resets_in=5 * HOUR), HandOff)
    assert isinstance(ask(LIMIT), HandOff)


@pytest.mark.parametrize("nobody", NOBODY)
def test_usage_limit_with_nobody_left_waits_for_the_reset(nobody):
    decision = ask(LIMIT, resets_in=5 * HOUR, **nobody)
    assert isinstance(decision, Wait)
    assert (decision.until, decision.then) == (T + 5 * HOUR, "retry")


def test_usage_limit_with_nobody_left_waits_for_the_earliest_reset_of_all():
    decision = ask(LIMIT, resets_in=5 * HOUR, targets_left=0, earliest_reset=T + HOUR)
    assert (decision.until, decision.then) == (T + HOUR, "handoff")
    assert ask(LIMIT, targets_left=0, earliest_reset=T + HOUR).until == T + HOUR
    own = ask(LIMIT, resets_in=HOUR, targets_left=0, earliest_reset=T + 5 * HOUR)
    assert (own.until, own.then) == (T + HOUR, "retry")


def test_the_reset_of_another_is_of_no_use_without_a_handoff_left():
    decision = ask(LIMIT, resets_in=5 * HOUR, targets_left=0, handoffs_left=0, earliest_reset=T + HOUR)
    assert (decision.until, decision.then) == (T + 5 * HOUR, "retry")


def test_an_unknown_reset_is_probed_with_a_growing_pause():
    pauses = [ask(LIMIT, targets_left=0, attempt=n).until - T for n in range(1, 8)]
    assert pauses == [60, 120, 240, 480, 900, 900, 900]


def test_a_reset_that_is_past_is_no_reset():
    """The same stale words again and again must not make hub spin."""
    assert ask(LIMIT, resets_in=-5, targets_left=0, attempt=6).until > T


@pytest.mark.parametrize(
    "reset", [{"resets_in": 90.0}, {"window": "minute"}, {"resets_in": 2.0, "window": "minute"}]
)
def test_a_short_limit_is_waited_for_even_when_somebody_could_take_over(reset):
    decision = ask(LIMIT, **reset)
    assert isinstance(decision, Wait)
    assert decision.then == "retry"
    assert decision.until >= T + reset.get("resets_in", 1)
    assert isinstance(ask(LIMIT, resets_in=91), HandOff)


def test_short_limits_in_a_row_back_off_and_end_in_a_handoff():
    pauses = [ask(LIMIT, window="minute", attempt=n).until - T for n in range(1, 6)]
    assert pauses == [1, 2, 4, 8, 16]
    assert isinstance(ask(LIMIT, window="minute", attempt=6), HandOff)


def test_on_limit_wait_never_hands_off():
    assert ask(LIMIT, resets_in=5 * HOUR, on_limit="wait", earliest_reset=T + 1) == Wait(
        T + 5 * HOUR, "the usage limit is reached; waiting for its reset", ender="anybody"
    )
    assert isinstance(ask(LIMIT, on_limit="wait"), Wait)


def test_only_a_wait_for_a_quota_ends_before_its_time():
    """Who backs off waits it out; where nobody knows the reset, the agent itself is probed at its time."""
    assert ask(LIMIT, resets_in=5 * HOUR, targets_left=0).ender == "anybody"
    assert ask(LIMIT, targets_left=0).ender == "others"
    assert ask(LIMIT, window="minute").ender == ""
    assert ask(FailureClass.OVERLOAD).ender == ""


def test_on_limit_stop_tells_the_user_but_sits_out_a_per_minute_throttle():
    for reset in (None, 30.0, 5 * HOUR):
        assert ask(LIMIT, resets_in=reset, on_limit="stop").code is Code.QUOTA_EXHAUSTED
    assert isinstance(ask(LIMIT, window="minute", on_limit="stop"), Wait)
    assert ask(LIMIT, window="minute", on_limit="stop", attempt=6).code is Code.QUOTA_EXHAUSTED, (
        "it does not end"
    )


def test_overload_backs_off_then_hands_off_after_five():
    pauses = [ask(FailureClass.OVERLOAD, attempt=n).until - T for n in range(1, 5)]
    assert pauses == [1, 2, 4, 8]
    assert isinstance(ask(FailureClass.OVERLOAD, attempt=5), HandOff)
    assert isinstance(ask(FailureClass.OVERLOAD, attempt=3, max_attempts=3), HandOff)


def test_overload_hands_off_at_once_when_the_breaker_is_open():
    assert isinstance(ask(FailureClass.OVERLOAD, breaker_open=True), HandOff)


def test_overload_with_nobody_else_backs_off_to_a_minute_and_goes_on():
    pauses = [ask(FailureClass.OVERLOAD, attempt=n, targets_left=0).until - T for n in range(1, 10)]
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_overload_is_not_tried_before_the_server_says_so():
    assert ask(FailureClass.OVERLOAD, resets_in=20).until == T + 20
    assert ask(FailureClass.OVERLOAD, resets_in=-20).until == T + 1


def test_refusal_asks_one_other_provider_then_tells():
    assert ask(FailureClass.REFUSAL).reason == "the model refused the task; one other provider is asked"
    assert ask(FailureClass.REFUSAL, attempt=2).code is Code.REFUSED


def test_crash_hands_off_or_runs_once_more_when_there_is_nobody_else():
    assert isinstance(ask(FailureClass.CRASH), HandOff)
    assert ask(FailureClass.CRASH, targets_left=0).then == "retry"
    assert ask(FailureClass.CRASH, targets_left=0, attempt=2).code is Code.AGENT_EXITED
    assert ask(FailureClass.CRASH, targets_left=0, breaker_open=True).code is Code.AGENT_EXITED


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (FailureClass.AUTH, Code.AUTH_NEEDED),
        (FailureClass.CONTEXT_OVERFLOW, Code.CONTEXT_OVERFLOW),
        (FailureClass.SILENT, Code.AGENT_SILENT),
        (FailureClass.REFUSAL, Code.REFUSED),
    ],
)
@pytest.mark.parametrize("nobody", NOBODY)
def test_what_another_could_do_better_is_handed_off_or_told(kind, code, nobody):
    assert isinstance(ask(kind), HandOff)
    assert ask(kind, **nobody).code is code


@pytest.mark.parametrize(
    "kind", [FailureClass.AUTH, FailureClass.CONTEXT_OVERFLOW, FailureClass.SILENT, FailureClass.REFUSAL]
)
def test_who_works_for_another_session_is_waited_for(kind):
    """The session ended with `there is nobody else`, minutes before the other account came free."""
    others = {"targets_left": 0, "targets_busy": 1}
    assert isinstance(ask(kind, **others), HandOff)
    assert isinstance(ask(kind, **others, handoffs_left=0), Surface)
    again = ask(FailureClass.CRASH, **others)
    assert (again.then, again.reason.rpartition(", ")[2]) == (
        "retry",
        "as everybody else works for another session",
    )
    assert isinstance(ask(FailureClass.CRASH, **others, attempt=2), HandOff)
    assert isinstance(ask(LIMIT, resets_in=HOUR, **others), Wait), "it ends as soon as somebody is free"


def test_an_unknown_failure_fails_closed():
    decision = ask(FailureClass.UNKNOWN)
    assert isinstance(decision, Surface)
    assert "hub does not know" in decision.reason


situations = st.fixed_dictionaries(
    {
        "attempt": st.integers(1, 10_000),
        "on_limit": st.sampled_from(["handoff", "wait", "stop"]),
        "targets_left": st.integers(0, 3),
        "targets_busy": st.integers(0, 3),
        "breaker_open": st.booleans(),
        "jitter": st.floats(0, 1, exclude_max=True),
        "handoffs_left": st.integers(0, 3),
        "earliest_reset": st.none() | st.floats(T - 10, T + 1e6),
    }
)
kinds = st.sampled_from(FailureClass)
resets = st.none() | st.floats(-1e4, 1e6)
windows = st.sampled_from(["", "minute", "five_hour"])


@given(kinds, resets, windows, situations)
def test_every_failure_has_a_decision_that_keeps_the_laws(kind, resets_in, window, situation):
    decision = ask(kind, resets_in=resets_in, window=window, **situation)
    if isinstance(decision, HandOff):
        waits = kind not in (LIMIT, FailureClass.OVERLOAD)
        assert situation["targets_left"] + waits * situation["targets_busy"] > 0
        assert situation["handoffs_left"] > 0
        assert not (kind is LIMIT and situation["on_limit"] != "handoff")
    if isinstance(decision, Wait):
        assert decision.until > T
        assert kind in (LIMIT, FailureClass.OVERLOAD, FailureClass.CRASH)
        assert decision.then == "retry" or situation["handoffs_left"] > 0
    if kind is FailureClass.UNKNOWN:
        assert isinstance(decision, Surface)
    assert decision.reason


@given(kinds, resets, windows, situations)
def test_jitter_moves_no_decision_and_only_later(kind, resets_in, window, situation):
    plain = ask(kind, resets_in=resets_in, window=window, **(situation | {"jitter": 0.0}))
    moved = ask(kind, resets_in=resets_in, window=window, **situation)
    if isinstance(plain, Wait):
        assert plain.until <= moved.until <= plain.until + 0.25 * 900
        moved = attrs.evolve(moved, until=plain.until)
    assert moved == plain


def test_whoever_has_no_handoff_left_is_not_said_to_be_alone():
    """`there is nobody else`, where the other agent was free and the session had made its five handoffs."""
    spent = {"handoffs_left": 0, "targets_left": 1}
    assert ask(FailureClass.SILENT, **spent).reason.endswith(", and no handoff is left (maxHandoffs)")
    assert ask(FailureClass.CRASH, **spent).reason.endswith("once more, as no handoff is left (maxHandoffs)")
    alone = ask(FailureClass.SILENT, handoffs_left=1, targets_left=0)
    assert alone.reason.endswith(", and there is nobody else")


def test_a_reset_is_a_whole_second():
    """As an event and the wallet keep it: an account's breaker was told twice of one limit, 0.8 seconds apart."""
    assert Failure(FailureClass.USAGE_LIMIT, "", 5000.2).resets_at == 5001.0
    assert Failure(FailureClass.USAGE_LIMIT, "", 5001).resets_at == 5001.0
    assert Failure(FailureClass.CRASH, "").resets_at is None


def test_the_next_step_of_an_error_can_be_typed():
    """`hub run --continue ID` was shown beside the session's own id."""
    error = HubError(Code.AGENT_EXITED, "It ended.")
    assert ErrorNote.of(error, "s-12").hint.endswith("hub run --continue s-12")
    assert ErrorNote.of(error).hint.endswith("hub run --continue SESSION")
