"""Who is next: every candidate is ranked or has one reason, and the same facts make the status that people see."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.failure import FailureClass
from hub.domain.routing import (
    AccountFacts,
    Availability,
    Choice,
    Exclusion,
    Question,
    Target,
    choose,
    default_order,
    standing,
)

T = 1_795_230_000.0
WORK, HOME = Target("claude", "work"), Target("claude", "home")
CODEX, GEMINI = Target("codex", "default"), Target("gemini", "default")
ORDER = ("claude", "codex", "gemini")


def of(target: Target, **fields) -> AccountFacts:
    return AccountFacts(provider=target.provider, account=target.account, **fields)


def team(**changes) -> list[AccountFacts]:
    """All four are well but for what `changes` say of `work`, `home`, `codex` and `gemini`."""
    who = {"work": WORK, "home": HOME, "codex": CODEX, "gemini": GEMINI}
    return [of(target, **changes.get(name, {})) for name, target in who.items()]


def asked(current: Target | None = None, **fields) -> Question:
    return Question(order=fields.pop("order", ORDER), current=current, **fields)


LIMIT = {"shut": Exclusion.LIMIT, "until": T + 3600}
OUT = {"logged_in": False, "hint": "Log in: x"}


def reasons(choice: Choice) -> dict[Target, Exclusion]:
    return {p.target: p.bar for p in choice.passed}


def test_a_start_takes_the_order_as_it_is():
    assert choose(asked(), team()).ranked == (WORK, HOME, CODEX, GEMINI)
    assert choose(asked(order=("gemini", "claude", "gemini")), team()).ranked == (GEMINI, WORK, HOME)


def test_a_start_passes_by_who_is_used_up_and_says_until_when():
    choice = choose(asked(), team(work=LIMIT))
    assert choice.first == HOME
    (passed,) = choice.passed
    assert (passed.target, passed.bar, passed.until) == (WORK, Exclusion.LIMIT, T + 3600)
    assert choice.why(WORK) == "its usage limit is reached until 2026-11-21 04:00:00 UTC"
    assert choice.why(HOME) == ""


def test_the_other_account_comes_first_then_the_rest_of_the_chain_then_its_head():
    assert choose(asked(WORK), team()).ranked == (HOME, CODEX, GEMINI)
    assert choose(asked(CODEX), team()).ranked == (GEMINI, WORK, HOME)
    assert choose(asked(GEMINI), team()).ranked == (WORK, HOME, CODEX)


def test_who_is_outside_of_the_order_is_followed_by_its_head():
    assert choose(asked(WORK, order=("codex", "gemini")), team()).ranked == (HOME, CODEX, GEMINI)


def test_who_is_not_known_has_a_reason_too():
    choice = choose(asked(Target("gone", "a"), order=("nobody", "codex")), team())
    assert choice.ranked == (CODEX,)
    assert reasons(choice) == {Target("gone", ""): Exclusion.UNKNOWN, Target("nobody", ""): Exclusion.UNKNOWN}


@pytest.mark.parametrize(
    ("fields", "bar", "said"),
    [
        ({"enabled": False}, Exclusion.DISABLED, "turned off in hub.toml"),
        ({"installed": False, "hint": "Install it: x"}, Exclusion.NOT_INSTALLED, "not installed"),
        ({"unfit": "it refuses root", "hint": "Be nobody"}, Exclusion.UNFIT, "it refuses root"),
        (OUT, Exclusion.LOGGED_OUT, "not logged in"),
        (LIMIT, Exclusion.LIMIT, "its usage limit is reached"),
        ({"shut": Exclusion.CAP, "until": T}, Exclusion.CAP, "its declared cap of tokens is spent for today"),
        (
            {"shut": Exclusion.BREAKER, "until": T},
            Exclusion.BREAKER,
            "it failed too often; its circuit breaker is open",
        ),
        (
            {"shut": Exclusion.TRIAL, "until": T},
            Exclusion.TRIAL,
            "the one attempt after its failures is under way",
        ),
    ],
)
def test_each_fact_is_a_reason_and_is_the_status_as_well(fields, bar, said):
    """The choice and `GET /api/providers` cannot disagree: whom the one passes by, the other shows in words."""
    choice = choose(asked(), team(codex=fields))
    (passed,) = choice.passed
    assert (passed.target, passed.bar, passed.reason) == (CODEX, bar, said)
    waits = bar in {Exclusion.LIMIT, Exclusion.CAP, Exclusion.BREAKER, Exclusion.TRIAL}
    assert (passed.until is not None) == waits
    assert bool(passed.hint) == ("hint" in fields)
    status = Availability.EXHAUSTED if bar in {Exclusion.LIMIT, Exclusion.CAP} else Availability.ERROR
    assert standing(of(CODEX, **fields)) == (status, said)


def test_the_status_of_who_works_and_of_who_is_well():
    assert standing(of(WORK, **LIMIT), [HOME, WORK]) == (Availability.ACTIVE, "")
    assert standing(of(WORK), [HOME]) == (Availability.STANDBY, "")


def test_a_login_that_nobody_sees_comes_after_one_that_is_seen_where_the_user_named_it():
    """A local model asks for none, and the user may know of a login that hub cannot see."""
    facts = team(work=OUT, home={"logged_in": True}, codex=OUT)
    assert choose(asked(named=ORDER), facts).ranked == (HOME, GEMINI, WORK, CODEX)
    assert choose(asked(named=("claude",)), facts).ranked == (HOME, GEMINI, WORK)
    assert choose(asked(order=("codex", "claude"), named=("codex",), wanted="codex"), facts).first == CODEX
    assert choose(asked(named=("claude",), wanted="claude"), facts).ranked == (HOME, GEMINI, WORK)
    nobody_seen = team(work=OUT, codex=OUT)
    assert choose(asked(named=ORDER), nobody_seen).ranked == (WORK, HOME, CODEX, GEMINI)
    assert choose(asked(), facts).ranked == (HOME, GEMINI)
    assert standing(of(CODEX, **OUT), named=True) == (
        Availability.STANDBY,
        "no login of it is seen: it is asked after those with one",
    )


def test_whose_quota_is_at_the_threshold_too_comes_late_or_never():
    facts = team(home={"worn": True})
    assert choose(asked(WORK), facts).ranked == (CODEX, GEMINI, HOME)
    fresh = choose(asked(WORK, fresh=True), facts)
    assert (fresh.ranked, reasons(fresh)[HOME]) == ((CODEX, GEMINI), Exclusion.WORN)


def test_who_left_the_task_is_told_with_why():
    choice = choose(asked(WORK, left={CODEX: "it could not be started"}), team())
    assert (choice.ranked, choice.why(CODEX)) == ((HOME, GEMINI), "it could not be started")


def test_who_has_the_work_is_passed_by_unless_it_may_stay():
    assert reasons(choose(asked(WORK), team())) == {WORK: Exclusion.HAS_IT}
    assert choose(asked(HOME, stay=True), team()).first == HOME
    limited = choose(asked(WORK), team(work=LIMIT))
    assert reasons(limited) == {WORK: Exclusion.LIMIT}, "its limit says more than that it has the work"


def test_a_refusal_leaves_the_provider_and_a_second_one_everybody():
    choice = choose(asked(WORK, failure=FailureClass.REFUSAL), team())
    assert choice.ranked == (CODEX, GEMINI)
    assert reasons(choice) == {WORK: Exclusion.REFUSED, HOME: Exclusion.REFUSED}
    assert choose(asked(CODEX, refused_by=("claude",)), team()).ranked == (GEMINI,)
    second = choose(asked(CODEX, failure=FailureClass.REFUSAL, refused_by=("claude",)), team())
    assert (second.first, second.until()) == (None, None)


def test_a_context_overflow_may_start_afresh_with_the_same_when_nobody_else_is_there():
    overflow = FailureClass.CONTEXT_OVERFLOW
    assert choose(asked(WORK, failure=overflow), team()).ranked == (HOME, CODEX, GEMINI, WORK)
    assert choose(asked(GEMINI, failure=overflow, order=("gemini",)), team()).first == GEMINI
    assert choose(asked(GEMINI, failure=overflow, order=("gemini",)), team(gemini=LIMIT)).first is None


def test_nobody_left_says_each_why_the_first_reset_and_a_next_step():
    facts = team(
        work=LIMIT, home={"shut": Exclusion.BREAKER, "until": T + 60}, codex=OUT, gemini={"enabled": False}
    )
    choice = choose(asked(), facts)
    assert choice.first is None
    assert (choice.until(), choice.until(but=HOME)) == (T + 60, T + 3600)
    assert choice.reasons() == (
        "claude/work: its usage limit is reached until 2026-11-21 04:00:00 UTC; "
        "claude/home: it failed too often; its circuit breaker is open until 2026-11-21 03:01:00 UTC; "
        "codex/default: not logged in; gemini/default: turned off in hub.toml. "
        "claude/home is free first, at 2026-11-21 03:01:00 UTC."
    )
    assert choice.said() == f"{choice.reasons()} Next: Log in: x"


def test_the_only_one_there_is_is_not_said_to_be_free_first():
    """`claude/work: its usage limit is reached until 04:00. claude/work is free first, at 04:00.`"""
    choice = choose(asked(order=("codex",)), team(codex=LIMIT))
    assert choice.reasons() == "codex/default: its usage limit is reached until 2026-11-21 04:00:00 UTC."


def test_where_no_hint_is_known_a_login_or_the_end_is():
    choice = choose(asked(order=("gemini",)), team(gemini={"enabled": False}))
    assert choice.said() == (
        "gemini/default: turned off in hub.toml. Next: add a login: hub account add PROVIDER LABEL, or end it: hub stop"
    )
    assert Choice(alone=True).next_step() == "hand it over: hub handoff, or end it: hub stop"
    assert Choice().said() == "No agent is enabled and installed."
    assert str(Target("gone", "")) == "gone"


def test_the_default_order_has_all_that_are_there_so_that_each_has_its_reason():
    facts = team(work={"installed": False}, home={"installed": False}, codex={"unfit": "no"}, gemini=OUT)
    assert default_order(facts) == ("codex", "gemini")
    assert default_order(team(gemini={"enabled": False})) == ("claude", "codex")


BARS = [None, Exclusion.LIMIT, Exclusion.CAP, Exclusion.BREAKER, Exclusion.TRIAL]
TARGETS = st.builds(Target, st.sampled_from("abcd"), st.sampled_from("xyz"))


@st.composite
def accounts(draw):
    target, shut = draw(TARGETS), draw(st.sampled_from(BARS))
    return of(
        target,
        enabled=draw(st.booleans()),
        installed=draw(st.booleans()),
        unfit=draw(st.sampled_from(["", "it cannot"])),
        logged_in=draw(st.sampled_from([None, False, True])),
        shut=shut,
        until=None if shut is None else draw(st.floats(T, T + 9999)),
        worn=draw(st.booleans()),
    )


FACTS = st.lists(accounts(), max_size=9, unique_by=lambda f: f.target)
QUESTIONS = st.builds(
    Question,
    order=st.lists(st.sampled_from("abcde"), max_size=6),
    current=st.none() | TARGETS,
    stay=st.booleans(),
    failure=st.none() | st.sampled_from(FailureClass),
    refused_by=st.sets(st.sampled_from("abcde"), max_size=2),
    left=st.dictionaries(TARGETS, st.just("it could not"), max_size=3),
    named=st.sets(st.sampled_from("abcde")),
    wanted=st.sampled_from(["", "a", "b"]),
    fresh=st.booleans(),
)


@given(QUESTIONS, FACTS)
@settings(max_examples=300)
def test_every_candidate_is_ranked_or_has_exactly_one_reason(question, facts):
    choice = choose(question, facts)
    names = {*question.order, *([question.current.provider] if question.current else [])}
    candidates = {f.target for f in facts if f.provider in names}
    unknown = {Target(name, "") for name in names - {f.provider for f in facts}}
    told = [*choice.ranked, *(p.target for p in choice.passed)]
    assert sorted(told) == sorted(candidates | unknown), "each once, and nobody else"
    assert all(p.reason for p in choice.passed)


@pytest.mark.no_cover
@given(QUESTIONS, FACTS)
@settings(max_examples=300)
def test_nobody_is_chosen_with_a_fact_against_it_while_somebody_without_one_is_there(question, facts):
    choice = choose(question, facts)
    known = {f.target: f for f in facts}
    for target in choice.ranked:
        found = known[target]
        assert found.enabled
        assert found.installed
        assert not found.unfit
        assert found.shut is None
        assert target.provider not in question.refused_by
        assert target not in question.left
        assert found.logged_in is not False or target.provider in question.named
    seen = any(known[t].logged_in for t in choice.ranked)
    mine = {t for t in choice.ranked if t.provider == question.wanted}
    own = any(known[t].logged_in for t in mine)
    well = [t for t in choice.ranked if known[t].logged_in is not False or not (own if t in mine else seen)]
    assert choice.ranked[: len(well)] == tuple(well), "a login that is seen comes before one that is not"
    fresh = [t for t in well if not known[t].worn and (t != question.current or question.stay)]
    assert not fresh or choice.first == fresh[0], "and a quota below the threshold before one at it"


@given(QUESTIONS, FACTS, st.randoms())
def test_the_order_is_stable(question, facts, random):
    """The same facts give the same answer; the order of the providers they come in says nothing, that of accounts does."""
    assert choose(question, facts) == choose(question, facts)
    names = sorted({f.provider for f in facts})
    random.shuffle(names)
    moved = [f for name in names for f in facts if f.provider == name]
    assert choose(question, moved).ranked == choose(question, facts).ranked


@given(QUESTIONS, FACTS)
def test_waiting_is_promised_only_where_it_helps(question, facts):
    """At the instant that is told, with nothing else changed, somebody who waited is ranked."""
    until = choose(question, facts).until()
    if until is None:
        return
    later = [attrs.evolve(f, shut=None, until=None) if (f.until or T) <= until else f for f in facts]
    calm = attrs.evolve(question, fresh=False, stay=True)
    assert choose(calm, later).first is not None


@given(FACTS)
def test_the_status_says_the_same_as_the_choice(facts):
    """decisions, section 2: a provider in error or exhausted is never chosen."""
    order = tuple({f.provider for f in facts})
    ranked = choose(Question(order=order), facts).ranked
    for each in facts:
        status, reason = standing(each)
        assert (status is Availability.STANDBY) == (each.target in ranked)
        assert bool(reason) == (status is not Availability.STANDBY)


@pytest.mark.parametrize("bar", [Exclusion.LIMIT, Exclusion.CAP, Exclusion.BREAKER, Exclusion.TRIAL])
def test_whom_the_user_insists_on_is_not_passed_by_for_what_time_mends(bar):
    """What only a person can mend stays a reason; who has the work comes first, as ever."""
    shut = {"shut": bar, "until": T + 60}
    facts = team(work=shut, home=shut, codex={**shut, **OUT}, gemini={"enabled": False, **shut})
    assert choose(asked(WORK, stay=True), facts).ranked == ()
    choice = choose(asked(WORK, stay=True, insisted=True), facts)
    assert choice.ranked == (WORK, HOME)
    assert reasons(choice) == {CODEX: Exclusion.LOGGED_OUT, GEMINI: Exclusion.DISABLED}
    assert choose(asked(WORK, insisted=True), facts).ranked == (HOME,)


def test_who_was_overloaded_a_moment_ago_is_left_alone_for_it():
    """A receiver's overload was the end of it for this task; now the others come first, and then it."""
    resting = {CODEX: T + 4}
    choice = choose(asked(WORK, resting=resting), team(home=LIMIT))
    assert (choice.ranked, choice.until()) == ((GEMINI,), T + 4)
    assert reasons(choice)[CODEX] is Exclusion.OVERLOADED
    assert choose(asked(WORK, resting=resting), team(codex=LIMIT)).until() == T + 3600
    assert choose(asked(WORK, resting=resting, insisted=True), team()).ranked == (HOME, CODEX, GEMINI)


def test_who_works_for_others_waits_for_none_of_a_persons_doing():
    """No login is used twice at once: it is passed by, also against the user's word, until it is free; no time is told."""
    facts = team(work={"busy": 900.0}, home={"busy": 900.0}, codex={"busy": 900.0}, gemini={"busy": 900.0})
    choice = choose(asked(insisted=True), facts)
    assert (choice.first, choice.until(), choice.reset()) == (None, 900.0, None)
    assert {passed.bar for passed in choice.passed} == {Exclusion.BUSY}
    assert "another session works with it" in choice.said()
    assert "UTC" not in choice.said()
    assert standing(facts[0]) == (Availability.STANDBY, "")
    mixed = choose(asked(WORK), team(home={"busy": T + 60.0}, codex=LIMIT, gemini={"busy": T + 60.0}))
    assert (mixed.until(but=WORK), mixed.reset(but=WORK)) == (T + 60.0, T + 3600)
