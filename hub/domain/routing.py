"""Who works next: one question with all the facts, one answer with a reason for each that is passed by.

Owns: the rule by which a session's start, a retry, a handoff, a pipeline's node and an adoption choose; the runtime
status that follows from the same facts; and the words for both.
Must not: find out a fact, read a clock, or decide whether to hand over or to wait (`hub.domain.retry` does).

Rules, in order:
 1. A candidate is an account of a provider in the order asked for. It is either ranked or has exactly one reason.
 2. Reasons that only a person can mend come before those that time mends: of a candidate that waits for its reset,
    nothing else is wrong.
 3. Another account of the same provider comes first (the same model, another quota), then the providers after it in
    the order, then, from its head, those before it.
 4. Whose quota is at the threshold too comes after all others: it would hand the work on at once.
 5. Of whom hub is sure that it has no login is passed by. Whom the user named comes after those with a login that is
    seen, and else keeps its place: there may be a login that hub cannot see. Whom the user asked for at this start
    comes after its own other accounts only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum

import attrs

from hub.domain.failure import FailureClass

MAX_REFUSALS = 2
"""After a refusal one other provider is asked; when it refuses too, a person must look at the task."""


class Availability(StrEnum):
    """The runtime status of a provider."""

    ACTIVE = "active"
    STANDBY = "standby"
    EXHAUSTED = "exhausted"
    ERROR = "error"


class Exclusion(StrEnum):
    """Why a candidate is passed by. Of several that hold, the first in this order is its reason."""

    UNKNOWN = "unknown"
    DISABLED = "disabled"
    NOT_INSTALLED = "not_installed"
    UNFIT = "unfit"
    REFUSED = "refused"
    LEFT = "left"
    LOGGED_OUT = "logged_out"
    HAS_IT = "has_it"
    LIMIT = "limit"
    CAP = "cap"
    BREAKER = "breaker"
    TRIAL = "trial"
    OVERLOADED = "overloaded"
    BUSY = "busy"
    WORN = "worn"


_EXHAUSTED = frozenset({Exclusion.LIMIT, Exclusion.CAP})
_TIME_MENDS = frozenset(
    {Exclusion.LIMIT, Exclusion.CAP, Exclusion.BREAKER, Exclusion.TRIAL, Exclusion.OVERLOADED, Exclusion.BUSY}
)
WORDS: Mapping[Exclusion, str] = {
    Exclusion.UNKNOWN: "there is no such agent",
    Exclusion.DISABLED: "turned off in hub.toml",
    Exclusion.NOT_INSTALLED: "not installed",
    Exclusion.REFUSED: "the model refused this task",
    Exclusion.LOGGED_OUT: "not logged in",
    Exclusion.HAS_IT: "it has the work already",
    Exclusion.LIMIT: "its usage limit is reached",
    Exclusion.CAP: "its declared cap of tokens is spent for today",
    Exclusion.BREAKER: "it failed too often; its circuit breaker is open",
    Exclusion.TRIAL: "the one attempt after its failures is under way",
    Exclusion.OVERLOADED: "its provider was overloaded a moment ago",
    Exclusion.BUSY: "another session works with it",
    Exclusion.WORN: "its quota is at the threshold too",
}


@attrs.frozen(order=True)
class Target:
    """A provider under one of its accounts."""

    provider: str
    account: str

    def __str__(self) -> str:
        return f"{self.provider}/{self.account}" if self.account else self.provider


@attrs.frozen(kw_only=True)
class AccountFacts:
    """What the choice must know of one account. Times are epoch seconds.

    Attributes:
        provider: The provider's name.
        account: The account's label.
        enabled: Whether the user wants the provider.
        installed: Whether its program can be started.
        unfit: Why it cannot work here although it is installed, in a user's words: it cannot be held to an approval
            rule, or refuses this user. "" = it can.
        logged_in: Whether it has a login; False only where that is sure, None = nobody can know.
        shut: What keeps its breaker from letting an attempt through: LIMIT, CAP, BREAKER or TRIAL; None = nothing.
        until: When it lets one through again.
        worn: Whether a quota window of it is at the threshold.
        busy: Until when it need not be asked again, for other sessions work with it, as many as may; None = not so.
        hint: What mends what only a person can mend.
    """

    provider: str
    account: str
    enabled: bool = True
    installed: bool = True
    unfit: str = ""
    logged_in: bool | None = None
    shut: Exclusion | None = None
    until: float | None = None
    worn: bool = False
    busy: float | None = None
    hint: str = ""

    @property
    def target(self) -> Target:
        """Whom they are about."""
        return Target(self.provider, self.account)


@attrs.frozen(kw_only=True)
class Question:
    """Who is asked for, and for what.

    Attributes:
        order: Provider names by priority.
        current: Who has the work; None at a session's start.
        stay: Whether `current` itself may go on: at a start, and when a wait is over.
        failure: Why `current` stopped; None when it was asked to.
        refused_by: Providers whose model refused this task before.
        left: Who is not asked again for this task, with the reason in a user's words.
        resting: Who met an overload when the work was offered to it, and until when it is left alone.
        named: The providers that the user named, login or not.
        wanted: The provider that the user asked for by name; no login that is seen elsewhere comes before it.
        fresh: Whether who is at its threshold is passed by as well.
        insisted: Whether the user wants it tried now: nobody is passed by for what time alone mends.
    """

    order: Sequence[str]
    current: Target | None = None
    stay: bool = False
    failure: FailureClass | None = None
    refused_by: Collection[str] = ()
    left: Mapping[Target, str] = attrs.field(factory=dict)
    resting: Mapping[Target, float] = attrs.field(factory=dict)
    named: Collection[str] = ()
    wanted: str = ""
    fresh: bool = False
    insisted: bool = False


@attrs.frozen
class PassedBy:
    """A candidate that is not chosen.

    Attributes:
        target: Who.
        bar: Why.
        reason: The same in a user's words.
        until: When it may be chosen again; None where waiting does not help.
        hint: What helps instead; "" = nothing is known to.
    """

    target: Target
    bar: Exclusion
    reason: str
    until: float | None = None
    hint: str = ""


@attrs.frozen
class Choice:
    """The answer: who may go on, the best first, and everybody else with a reason."""

    ranked: tuple[Target, ...] = ()
    passed: tuple[PassedBy, ...] = ()
    alone: bool = False
    """Whether the work stays with whom was asked for, so that no other login helps."""

    @property
    def first(self) -> Target | None:
        """Who goes on; None when nobody can now."""
        return self.ranked[0] if self.ranked else None

    @property
    def busy(self) -> tuple[Target, ...]:
        """Who could go on if it did not work for another session."""
        return tuple(p.target for p in self.passed if p.bar is Exclusion.BUSY)

    def why(self, target: Target) -> str:
        """Why it is passed by; "" where it is ranked, or was no candidate."""
        return next((f"{p.reason}{_until(p)}" for p in self.passed if p.target == target), "")

    def until(self, but: Target | None = None) -> float | None:
        """When the first of those passed by may be looked at again, `but` left out; None when waiting helps nobody."""
        return min((p.until for p in self.passed if p.until is not None and p.target != but), default=None)

    def reset(self, but: Target | None = None) -> float | None:
        """When the first of them is free again, `but` left out; None where nobody knows: it works for another session."""
        return attrs.evolve(self, passed=self._known).until(but)

    @property
    def _known(self) -> tuple[PassedBy, ...]:
        return tuple(p for p in self.passed if p.until is not None and p.bar is not Exclusion.BUSY)

    def reasons(self) -> str:
        """Each that was passed by and why, and which of several is free again first; for people."""
        if not self.passed:
            return "No agent is enabled and installed."
        each = "; ".join(f"{p.target}: {p.reason}{_until(p)}" for p in self.passed)
        first = min(self._known, key=lambda p: p.until or math.inf, default=None)
        if first is None or len(self.passed) == 1:
            return f"{each}."
        return f"{each}. {first.target} is free first, at {utc(first.until or 0.0)}."

    def said(self) -> str:
        """The reasons, and the next step, for what shows one text."""
        return f"{self.reasons()} Next: {self.next_step()}" if self.passed else self.reasons()

    def next_step(self) -> str:
        """What a person can do about it."""
        hints = dict.fromkeys(p.hint for p in self.passed if p.hint)
        other = "hand it over: hub handoff" if self.alone else "add a login: hub account add PROVIDER LABEL"
        return "; ".join(hints) or f"{other}, or end it: hub stop"


def choose(question: Question, facts: Sequence[AccountFacts]) -> Choice:
    """Who works next.

    Args:
        question: Who is asked for.
        facts: Of every account of every known provider; the active account of each first.

    Returns:
        Every account in the order asked for, ranked or with a reason. The same question gives the same answer.
    """
    refused = set(question.refused_by)
    if question.current is not None and question.failure is FailureClass.REFUSAL:
        refused.add(question.current.provider)
    known = {each.provider for each in facts}
    passed = [
        PassedBy(
            Target(name, ""),
            Exclusion.UNKNOWN,
            WORDS[Exclusion.UNKNOWN],
            hint="see the agents there are: hub providers",
        )
        for name in _order(question)
        if name not in known
    ]
    free = []
    for each in _candidates(question, facts):
        why = _bar(each, question, refused)
        if why is None:
            free.append(each)
        else:
            passed.append(_passed(each, why, question))
    seen = {each.provider for each in free if each.logged_in}
    free.sort(key=lambda each: _rank(each, question, seen))
    return Choice(tuple(each.target for each in free), tuple(passed))


def _rank(facts: AccountFacts, question: Question, seen: Collection[str]) -> int:
    """How late who may go on is asked, the order apart; `seen`: the providers with a login that is seen."""
    if facts.logged_in is False and (facts.provider in seen if facts.provider == question.wanted else seen):
        return 3
    return 2 if facts.target == question.current and not question.stay else int(facts.worn)


def default_order(facts: Sequence[AccountFacts]) -> tuple[str, ...]:
    """The order where nobody named one: every enabled, installed provider. Who cannot work here is passed by, with why."""
    return tuple(dict.fromkeys(f.provider for f in facts if f.enabled and f.installed))


def standing(
    facts: AccountFacts, working: Collection[Target] = (), *, named: bool = False
) -> tuple[Availability, str]:
    """The status of an account, and its reason in a user's words; by the same facts as the choice.

    Args:
        facts: Of the account.
        working: Whose agents are up at this moment.
        named: Whether the user named its provider in the chain, login or not.
    """
    if facts.target in working:
        return Availability.ACTIVE, ""
    bar = next(iter(_bars(facts)), None)
    if bar is None:
        return Availability.STANDBY, ""
    if bar is Exclusion.LOGGED_OUT and named:
        return Availability.STANDBY, "no login of it is seen: it is asked after those with one"
    return (
        Availability.EXHAUSTED if bar in _EXHAUSTED else Availability.ERROR,
        facts.unfit if bar is Exclusion.UNFIT else WORDS[bar],
    )


def utc(at: float) -> str:
    """An instant for people, to the second."""
    return datetime.fromtimestamp(math.ceil(at), UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _bars(facts: AccountFacts) -> list[Exclusion]:
    """Every bar that the facts alone make, in order."""
    holds = (
        (Exclusion.DISABLED, not facts.enabled),
        (Exclusion.NOT_INSTALLED, not facts.installed),
        (Exclusion.UNFIT, bool(facts.unfit)),
        (Exclusion.LOGGED_OUT, facts.logged_in is False),
    )
    found = [bar for bar, there in holds if there]
    return found if facts.shut is None else [*found, facts.shut]


def _bar(facts: AccountFacts, question: Question, refused: Collection[str]) -> Exclusion | None:
    found = set(_bars(facts)) | ({Exclusion.OVERLOADED} if facts.target in question.resting else set())
    if question.insisted:
        found -= _TIME_MENDS
    if facts.busy is not None:
        found.add(Exclusion.BUSY)
    if facts.provider in question.named:
        found.discard(Exclusion.LOGGED_OUT)
    if facts.provider in refused or len(refused) >= MAX_REFUSALS:
        found.add(Exclusion.REFUSED)
    if facts.target in question.left:
        found.add(Exclusion.LEFT)
    # A context that overflowed is cured by a fresh one: the contract is far shorter than what it replaces.
    cured = question.stay or question.failure is FailureClass.CONTEXT_OVERFLOW
    if facts.target == question.current and not cured:
        found.add(Exclusion.HAS_IT)
    if question.fresh and facts.worn:
        found.add(Exclusion.WORN)
    # Its own limit says more of who has the work than that it has it.
    if found & {Exclusion.LIMIT, Exclusion.CAP, Exclusion.BREAKER}:
        found.discard(Exclusion.HAS_IT)
    return next((bar for bar in Exclusion if bar in found), None)


def _passed(facts: AccountFacts, bar: Exclusion, question: Question) -> PassedBy:
    words = (
        facts.unfit
        if bar is Exclusion.UNFIT
        else question.left[facts.target]
        if bar is Exclusion.LEFT
        else WORDS[bar]
    )
    until = {Exclusion.OVERLOADED: question.resting.get(facts.target), Exclusion.BUSY: facts.busy}.get(
        bar, facts.until
    )
    mends = bar in {Exclusion.NOT_INSTALLED, Exclusion.UNFIT, Exclusion.LOGGED_OUT}
    hint = facts.hint if mends else ""
    return PassedBy(facts.target, bar, words, until if bar in _TIME_MENDS else None, hint)


def _until(passed: PassedBy) -> str:
    return (
        f" until {utc(passed.until)}" if passed.until is not None and passed.bar is not Exclusion.BUSY else ""
    )


def _order(question: Question) -> list[str]:
    names = list(dict.fromkeys(question.order))
    if question.current is None:
        return names
    mine = question.current.provider
    place = names.index(mine) if mine in names else -1
    return [mine, *names[place + 1 :], *names[: max(place, 0)]]


def _candidates(question: Question, facts: Sequence[AccountFacts]) -> list[AccountFacts]:
    """In order of priority; who may stay comes before its provider's other accounts."""
    places = {name: place for place, name in enumerate(_order(question))}
    mine = question.current if question.stay else None
    found = [each for each in facts if each.provider in places]
    return sorted(found, key=lambda each: (places[each.provider], each.target != mine))
