"""The breaker: five failures or one usage limit open it; one attempt at a time closes it again."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hub.domain import breaker
from hub.domain.breaker import BreakerState, CircuitBreaker
from hub.domain.failure import FailureClass
from hub.domain.quota.window import Standing

T = 1_795_230_000.0
FRESH = CircuitBreaker("claude", "work")
COUNTED = sorted(breaker.COUNTED)


def failed(
    b: CircuitBreaker, times: int = 1, kind: FailureClass = FailureClass.OVERLOAD, now: float = T
) -> CircuitBreaker:
    for _ in range(times):
        b = breaker.on_failure(b, kind, now)
    return b


@pytest.mark.parametrize("kind", COUNTED)
def test_opens_after_five_failures_in_a_row(kind):
    four = failed(FRESH, 4, kind)
    assert (four.state, breaker.allow(four, T)) == (BreakerState.CLOSED, (four, True))
    five = failed(four, 1, kind)
    assert five.state is BreakerState.OPEN
    assert breaker.allow(five, T) == (five, False)


def test_it_is_called_as_its_account_is():
    assert FRESH.name == "claude/work"


def test_what_a_dispatch_came_to_is_heard_once():
    """After a crash it is told again."""
    once = breaker.on_failure(FRESH, FailureClass.OVERLOAD, T, dispatch="d-1")
    assert once.failures == 1
    assert breaker.on_failure(once, FailureClass.OVERLOAD, T + 1, dispatch="d-1") == once
    assert breaker.on_success(once, dispatch="d-1") == once
    assert breaker.on_failure(once, FailureClass.OVERLOAD, T + 1, dispatch="d-2").failures == 2
    done = breaker.on_success(once, "d-2")
    assert (done.failures, breaker.on_success(done, "d-2")) == (0, done)
    assert breaker.on_failure(done, FailureClass.CRASH, T, dispatch="d-2") == done


def test_a_success_forgets_the_failures_before_it():
    assert breaker.on_success(failed(FRESH, 4)) == FRESH


@pytest.mark.parametrize("kind", sorted(set(FailureClass) - breaker.COUNTED - {FailureClass.USAGE_LIMIT}))
def test_other_failures_say_nothing_about_the_provider(kind):
    assert failed(FRESH, 9, kind) == FRESH


def test_a_usage_limit_opens_at_once_until_its_reset():
    limited = breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, T + 18_000)
    assert limited.state is BreakerState.OPEN
    assert breaker.ready_at(limited, T) == T + 18_000
    assert breaker.allow(limited, T + 17_999)[1] is False
    half, allowed = breaker.allow(limited, T + 18_000)
    assert (half.state, allowed) == (BreakerState.HALF_OPEN, True)


@pytest.mark.parametrize("resets_at", [None, T - 5])
def test_a_usage_limit_without_a_usable_reset_cools_down_instead(resets_at):
    assert (
        breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, resets_at).until == T + breaker.FIRST_COOL_DOWN
    )


def test_a_later_reset_of_a_limit_holds_longer_and_an_earlier_one_changes_nothing():
    """An agent's last words may repeat the five-hour reset after the weekly one was read."""
    weekly = breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, T + 600_000)
    again = breaker.on_failure(weekly, FailureClass.USAGE_LIMIT, T + 1, T + 18_000)
    assert (again.until, again.opened_at, again.failures) == (T + 600_000, T, 2)
    assert breaker.on_failure(weekly, FailureClass.USAGE_LIMIT, T + 1, T + 700_000).until == T + 700_000


def test_the_cool_down_doubles_from_30_seconds_to_15_minutes():
    b, now, seen = failed(FRESH, 5), T, []
    for _ in range(8):
        wait = breaker.ready_at(b, now) - now
        seen.append(wait)
        now += wait
        b, allowed = breaker.allow(b, now)
        assert allowed
        b = breaker.on_failure(b, FailureClass.OVERLOAD, now)
    assert seen == [30, 60, 120, 240, 480, 900, 900, 900]
    assert breaker.on_success(breaker.allow(b, now + 900)[0]) == FRESH


def test_an_attempt_that_never_reported_frees_its_place():
    """The daemon died with the attempt out: the account must not be lost for ever."""
    half, _ = breaker.allow(failed(FRESH, 5), T + 30)
    assert breaker.allow(half, T + 30 + breaker.LEASE - 1)[1] is False
    assert breaker.allow(half, T + 30 + breaker.LEASE)[1] is True


@pytest.mark.parametrize("kind", sorted(breaker.ANSWERED))
def test_a_half_open_attempt_that_was_answered_closes(kind):
    half, _ = breaker.allow(failed(FRESH, 5), T + 30)
    assert breaker.on_failure(half, kind, T + 31) == FRESH


@pytest.mark.parametrize("kind", [FailureClass.SILENT, FailureClass.UNKNOWN])
def test_a_half_open_attempt_that_was_not_answered_opens_again(kind):
    half, _ = breaker.allow(failed(FRESH, 5), T + 30)
    again = breaker.on_failure(half, kind, T + 31)
    assert (again.state, again.failures, again.until) == (BreakerState.OPEN, 5, T + 31 + 60)


def test_a_clock_that_was_set_back_prolongs_no_cool_down_and_no_lease():
    opened = failed(FRESH, 5)
    before = T - 86_400
    assert breaker.set_back(opened, T) == opened
    assert breaker.ready_at(breaker.set_back(opened, before), before) == before + breaker.FIRST_COOL_DOWN
    trial, _ = breaker.allow(opened, T + 31)
    assert breaker.ready_at(breaker.set_back(trial, before), before) == before + breaker.LEASE
    limited = breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, T + 5 * 3600)
    assert breaker.ready_at(breaker.set_back(limited, before), before) == T + 5 * 3600
    assert breaker.set_back(FRESH, before) == FRESH


def test_a_late_outcome_of_an_earlier_attempt_does_not_move_an_open_breaker():
    opened = failed(FRESH, 5)
    assert breaker.on_success(opened) == opened
    late = failed(opened, 1, now=T + 20)
    assert (late.until, late.failures) == (opened.until, 6)


def test_a_restored_breaker_without_an_instant_is_ready():
    assert breaker.ready_at(CircuitBreaker("claude", state=BreakerState.OPEN), T) == T


class Life(RuleBasedStateMachine):
    """Whatever happens, the breaker keeps its promises."""

    def __init__(self):
        super().__init__()
        self.now = T
        self.b = FRESH
        self.out = 0

    @rule(seconds=st.floats(0, 2000))
    def time_passes(self, seconds):
        self.now += seconds

    @rule()
    def ask(self):
        ready = breaker.ready_at(self.b, self.now)
        self.b, allowed = breaker.allow(self.b, self.now)
        assert allowed == (ready == self.now)

    @rule(kind=st.sampled_from(FailureClass), reset=st.none() | st.floats(-100, 100_000))
    def fail(self, kind, reset):
        resets_at = None if reset is None else self.now + reset
        before = self.b
        self.b = breaker.on_failure(self.b, kind, self.now, resets_at)
        if kind is FailureClass.USAGE_LIMIT:
            assert self.b.state is BreakerState.OPEN
            assert self.b.until > self.now or before.state is BreakerState.OPEN
            assert resets_at is None or resets_at <= self.now or self.b.until >= resets_at
        if before.state is BreakerState.OPEN:
            assert self.b.state is BreakerState.OPEN

    @rule()
    def succeed(self):
        self.b = breaker.on_success(self.b)

    @invariant()
    def closed_is_clean_and_open_is_dated(self):
        if self.b.state is BreakerState.CLOSED:
            assert (self.b.opened_at, self.b.until, self.b.trial_at) == (None, None, None)
            assert self.b.failures < breaker.THRESHOLD
        else:
            assert self.b.opened_at is not None
            assert self.b.opened_at is not None
        assert (self.b.trial_at is not None) == (self.b.state is BreakerState.HALF_OPEN)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=40, stateful_step_count=30)


@given(st.lists(st.sampled_from(COUNTED), max_size=4))
def test_fewer_than_five_never_open(kinds):
    b = FRESH
    for kind in kinds:
        b = breaker.on_failure(b, kind, T)
    assert breaker.allow(b, T) == (b, True)


@pytest.mark.parametrize("kind", sorted(breaker.ANSWERED))
def test_what_the_provider_answered_ends_a_row(kind):
    """Consecutive failures only: a refusal comes from a provider that is well."""
    assert breaker.on_failure(failed(FRESH, 4), kind, T).failures == 0


def test_the_dispatch_with_the_attempt_may_ask_again_and_its_end_alone_decides():
    half, first = breaker.allow(failed(FRESH, 5), T + 30, "d-1")
    assert first
    assert [breaker.allow(half, T + 31, name)[1] for name in ("d-1", "d-2", "")] == [True, False, False]
    assert breaker.allow(half, T + 31, "d-2")[0] == half
    late = breaker.on_failure(half, FailureClass.CRASH, T + 32, dispatch="d-0")
    assert (late.state, late.failures) == (BreakerState.HALF_OPEN, 6)
    assert breaker.on_failure(half, FailureClass.CRASH, T + 32, dispatch="d-1").state is BreakerState.OPEN


def test_an_attempt_that_was_ended_unanswered_lets_another_one_through():
    half, _ = breaker.allow(failed(FRESH, 5), T + 30, "d-1")
    assert breaker.on_withdrawal(half, "d-2") == half
    free = breaker.on_withdrawal(half, "d-1")
    assert (free.trial, free.trial_at) == ("", None)
    assert breaker.allow(free, T + 31, "d-2")[1] is True
    assert breaker.on_withdrawal(FRESH, "") == FRESH


def test_time_alone_makes_an_open_breaker_half_open():
    """It stayed open to all who looked until somebody asked for an attempt."""
    opened = failed(FRESH, 5)
    assert breaker.at(opened, T + 29).state is BreakerState.OPEN
    assert breaker.at(opened, T + 30).state == "half-open"
    assert breaker.at(FRESH, T) == FRESH


def test_a_quota_that_is_used_up_opens_it_until_the_reset_and_counts_as_no_failure():
    full = Standing(full=True, until=T + 3600, at=T)
    opened = breaker.on_quota(FRESH, T, full)
    assert (opened.state, opened.until, opened.failures, opened.limited) == (
        BreakerState.OPEN,
        T + 3600,
        0,
        True,
    )
    assert breaker.on_quota(opened, T + 1, full) == opened
    later = breaker.on_quota(opened, T + 2, Standing(full=True, until=T + 7200, at=T + 2, cap=True))
    assert (later.until, later.cap) == (T + 7200, True)


def test_a_quota_that_is_back_sooner_changes_only_whose_it_is():
    opened = breaker.on_quota(FRESH, T, Standing(full=True, until=T + 3600, at=T))
    capped = breaker.on_quota(opened, T + 5, Standing(full=True, until=T + 60, at=T + 5, cap=True))
    assert capped == attrs.evolve(opened, cap=True, seen_at=T + 5)
    assert breaker.on_quota(capped, T + 6, Standing(full=True, until=T + 60, at=T)).seen_at == T + 5


def test_an_attempt_that_fails_after_a_limit_is_held_up_by_no_limit():
    """A quota seen to be free would have closed what failures had opened."""
    full = breaker.on_quota(FRESH, T, Standing(full=True, until=T + 60, at=T, cap=True))
    half, _ = breaker.allow(full, T + 60, "d-1")
    assert (half.trial, half.trial_at) == ("d-1", T + 60)
    again = breaker.on_failure(half, FailureClass.CRASH, T + 61, dispatch="d-1")
    assert (again.state, again.limited, again.cap, again.trial) == (BreakerState.OPEN, False, False, "")
    assert breaker.on_quota(again, T + 62, Standing(full=False, at=T + 62)) == again


def test_a_quota_seen_to_be_back_closes_it_and_nothing_older_does():
    opened = breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, T + 3600)
    assert breaker.on_quota(opened, T + 1, Standing(full=False, at=T - 1)) == opened
    assert breaker.on_quota(opened, T + 1, Standing(full=False, at=T + 1)).state is BreakerState.CLOSED
    crashed = failed(FRESH, 5)
    assert breaker.on_quota(crashed, T + 1, Standing(full=False, at=T + 1)) == crashed


def test_a_full_quota_without_a_reset_opens_it_once_for_each_time_it_is_seen():
    """Then attempts find out: nobody knows when it is back."""
    seen = Standing(full=True, at=T)
    opened = breaker.on_quota(FRESH, T, seen)
    assert opened.until == T + breaker.FIRST_COOL_DOWN
    closed = breaker.on_success(breaker.allow(opened, T + 30)[0])
    assert breaker.on_quota(closed, T + 32, seen) == closed
    assert breaker.on_quota(closed, T + 40, Standing(full=True, at=T + 40)).state is BreakerState.OPEN


def test_an_attempt_that_the_user_insists_on_goes_through_a_breaker_that_failures_opened():
    """A wait could not be ended by a word: the breaker said no until its time."""
    half, allowed = breaker.allow(failed(FRESH, 5), T + 1, "d-1", insisted=True)
    assert (half.state, allowed) == (BreakerState.HALF_OPEN, True)
    assert [breaker.allow(half, T + 2, name)[1] for name in ("d-1", "d-2")] == [True, False]
    assert breaker.on_success(half, "d-1").state is BreakerState.CLOSED
    again = breaker.on_failure(half, FailureClass.CRASH, T + 3, dispatch="d-1")
    assert (again.state, again.until) == (BreakerState.OPEN, T + 3 + 60)
    mine, allowed = breaker.allow(half, T + 2, "d-2", insisted=True)
    assert (allowed, mine.trial, breaker.allow(mine, T + 3, "d-1")[1]) == (True, "d-2", False)


def test_an_attempt_that_the_user_insists_on_leaves_a_breaker_that_a_quota_opened_as_it_is():
    """Everybody else is still kept out; its answer closes it, and its failure changes no instant."""
    full = breaker.on_failure(FRESH, FailureClass.USAGE_LIMIT, T, T + 3600, "d-0")
    tried, allowed = breaker.allow(full, T + 1, "d-1", insisted=True)
    assert (tried.state, tried.until, allowed) == (BreakerState.OPEN, T + 3600, True)
    assert [breaker.allow(tried, T + 2, name)[1] for name in ("d-1", "d-2")] == [True, False]
    assert breaker.on_success(tried, "d-2").state is BreakerState.OPEN
    assert breaker.on_success(tried, "d-1").state is BreakerState.CLOSED
    assert breaker.on_failure(tried, FailureClass.REFUSAL, T + 3, dispatch="d-1").state is BreakerState.CLOSED
    limited = breaker.on_failure(tried, FailureClass.USAGE_LIMIT, T + 3, T + 3600, "d-1")
    assert (limited.state, limited.until) == (BreakerState.OPEN, T + 3600)
    assert breaker.on_failure(tried, FailureClass.CRASH, T + 3, dispatch="d-1").until == T + 3600
    assert breaker.allow(full, T + 3600, "d-1", insisted=True)[0].state is BreakerState.HALF_OPEN
    assert breaker.allow(FRESH, T, "d-1", insisted=True) == (FRESH, True)


def test_work_before_a_failure_begins_a_new_row():
    """Five overloads over a day of good work shut an account that was well in between."""
    one = breaker.on_failure(
        breaker.on_work(failed(FRESH, 4), "d-5"), FailureClass.OVERLOAD, T, dispatch="d-5"
    )
    assert (one.state, one.failures) == (BreakerState.CLOSED, 1)
    assert breaker.on_work(one, "d-5") == one, "it is told again"
    opened = failed(FRESH, 5)
    assert breaker.on_work(opened, "d-6") == opened
    half, _ = breaker.allow(opened, T + 30, "d-7")
    assert breaker.on_work(half, "d-7").state is BreakerState.CLOSED
