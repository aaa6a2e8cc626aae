"""The choice of the next provider and account."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.failure import FailureClass
from hub.domain.profile import (
    ProviderStatus,
    Status,
    Target,
    accounts_of,
    chain,
    guidance,
    next_target,
    unavailable,
)

CLAUDE = ProviderStatus("claude", Status.ACTIVE, ("work", "home"))
CODEX = ProviderStatus("codex", Status.STANDBY)
GEMINI = ProviderStatus("gemini", Status.EXHAUSTED, ("one", "two"))
AIDER = ProviderStatus("aider", Status.ERROR, ("a", "b"))
ALL = [CLAUDE, CODEX, GEMINI, AIDER]
ACCOUNTS = accounts_of(ALL)
CHAIN = chain([], ["claude", "codex", "gemini"], ALL)
WORK, HOME = Target("claude", "work"), Target("claude", "home")
CODEX_T, GEMINI_1 = Target("codex", "default"), Target("gemini", "one")

providers = st.lists(
    st.builds(
        ProviderStatus,
        st.sampled_from("abcde"),
        st.sampled_from(Status),
        st.lists(st.sampled_from("xyz"), min_size=1, unique=True).map(tuple),
    ),
    unique_by=lambda provider: provider.name,
    max_size=5,
)


def test_the_profiles_chain_comes_before_the_configured_one():
    assert chain(["codex", "claude"], ["claude"], ALL) == [CODEX_T, WORK]


def test_the_configured_chain_comes_before_the_default():
    assert chain([], ["gemini", "codex", "gemini"], ALL) == [GEMINI_1, CODEX_T]


def test_without_a_chain_every_usable_provider_is_in_it():
    assert chain([], [], ALL) == [WORK, CODEX_T, GEMINI_1]


def test_a_provider_that_is_not_enabled_is_left_out():
    assert chain(["nobody", "codex"], [], ALL) == [CODEX_T]


def test_a_session_starts_with_the_first_of_the_chain_that_is_available():
    assert next_target(None, CHAIN, ACCOUNTS, ()) == WORK
    assert next_target(None, CHAIN, ACCOUNTS, {WORK}) == HOME
    assert next_target(None, CHAIN, ACCOUNTS, {WORK, HOME}) == CODEX_T


def test_another_account_of_the_same_provider_is_tried_before_another_provider():
    assert next_target(WORK, CHAIN, ACCOUNTS, {WORK}, FailureClass.USAGE_LIMIT) == HOME
    assert next_target(HOME, CHAIN, ACCOUNTS, {WORK, HOME}, FailureClass.USAGE_LIMIT) == CODEX_T


def test_after_the_last_of_the_chain_its_head_comes_again():
    assert next_target(Target("gemini", "two"), CHAIN, ACCOUNTS, {GEMINI_1}) == WORK


def test_a_provider_outside_the_chain_is_followed_by_the_chains_head():
    outside = Target("aider", "a")
    assert next_target(outside, CHAIN, ACCOUNTS, {Target("aider", "b")}) == WORK


def test_a_chain_member_without_listed_accounts_keeps_the_one_it_has():
    assert next_target(None, [Target("x", "only")], {}, ()) == Target("x", "only")
    assert next_target(Target("gone", "a"), [], {}, ()) is None


def test_a_refusal_leaves_the_provider_with_all_its_accounts():
    assert next_target(WORK, CHAIN, ACCOUNTS, (), FailureClass.REFUSAL) == CODEX_T


def test_a_provider_that_refused_is_never_asked_again_for_the_task():
    assert (
        next_target(CODEX_T, CHAIN, ACCOUNTS, {GEMINI_1, Target("gemini", "two")}, refused_by=["claude"])
        is None
    )


def test_a_second_refusal_is_surfaced():
    assert next_target(CODEX_T, CHAIN, ACCOUNTS, (), FailureClass.REFUSAL, refused_by=["claude"]) is None


def test_nobody_left_is_none():
    assert next_target(WORK, CHAIN[:1], {"claude": ["work"]}, ()) is None


def test_a_context_overflow_may_start_afresh_with_the_same_when_nobody_else_is_there():
    alone = {"claude": ["work"]}
    assert next_target(WORK, CHAIN[:1], alone, (), FailureClass.CONTEXT_OVERFLOW) == WORK
    assert next_target(WORK, CHAIN[:1], alone, {WORK}, FailureClass.CONTEXT_OVERFLOW) is None
    assert next_target(WORK, CHAIN, ACCOUNTS, (), FailureClass.CONTEXT_OVERFLOW) == HOME


def test_unavailable_is_error_with_all_accounts_exhausted_with_its_active_one_and_open_breakers():
    assert unavailable(ALL, [("claude", "home")]) == {
        HOME,
        GEMINI_1,
        Target("aider", "a"),
        Target("aider", "b"),
    }


@given(
    providers,
    st.lists(st.sampled_from("abcdef"), max_size=6),
    st.tuples(st.sampled_from("abcdef"), st.sampled_from("xyz")),
    st.none() | st.sampled_from(FailureClass),
    st.sets(st.sampled_from("abcde"), max_size=1),
)
@settings(max_examples=200)
def test_nobody_is_chosen_who_must_not_be(listed, names, pair, failure, refused_by):
    """A provider in error or exhausted is never chosen; a refused one never again."""
    current = Target(*pair)
    barred = unavailable(listed)
    order = chain(names, [], listed)
    target = next_target(current, order, accounts_of(listed), barred, failure, refused_by=refused_by)
    if target is None:
        return
    assert target not in barred
    assert target.provider not in refused_by
    assert target.provider in {t.provider for t in order} | {current.provider}
    if failure is FailureClass.REFUSAL:
        assert target.provider != current.provider
    if failure is not FailureClass.CONTEXT_OVERFLOW:
        assert target != current


@pytest.mark.parametrize("failure", sorted(set(FailureClass) - {FailureClass.REFUSAL}))
def test_walking_on_visits_every_account_once_and_then_ends(failure):
    seen, current = [WORK], WORK
    while following := next_target(current, CHAIN, ACCOUNTS, seen, failure):
        seen.append(following)
        current = following
    assert seen == [WORK, HOME, CODEX_T, GEMINI_1, Target("gemini", "two")]


def test_what_a_profile_tells_every_agent():
    assert guidance("p", "", ()) == ""
    assert guidance("p", " \n", ()) == ""
    assert guidance("p", "Be brief.\n", ()) == "Context, from the user's profile p:\n\nBe brief."
    assert guidance("p", "", ("a", "b")) == "Use these skills where you have them: a, b."
    assert guidance("p", "Be brief.", ("a",)).endswith(
        "Be brief.\n\nUse these skills where you have them: a."
    )
