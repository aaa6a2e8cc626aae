"""What to do after a failure: hand off, wait, or tell the user.

Owns: the decision, as one pure function of the failure and the situation.
Must not: read a clock, draw a random number, choose the receiver, or keep state.

Rules, in order:
 1. An unknown failure fails closed: it is told, never run again blindly.
 2. Handing off needs somebody to take the work and a handoff left; otherwise the second-best is taken.
 3. A wait ends at an absolute instant, always later than now, so it survives a restart and never spins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import attrs

from hub.domain.failure import Failure, FailureClass
from hub.errors import Code

OnLimit = Literal["handoff", "wait", "stop"]
Then = Literal["retry", "handoff"]
Ender = Literal["", "others", "anybody"]

SHORT_RESET = 90.0
"""Seconds: a reset this near is waited for rather than handed off."""
LAST_BACKOFF = 60.0
FIRST_PROBE = 60.0
LAST_PROBE = 900.0
"""Where nobody knows the reset, the quota is probed after 1, 2, 4... at most 15 minutes."""
JITTER = 0.25
"""Jitter adds up to this part of a backoff; it never shortens one."""
SHORT = "a short limit: it is over in a moment"
SHORT_WINDOWS = frozenset({"minute", "second"})


def backoff(failures: int, first: float = 1.0, last: float = LAST_BACKOFF) -> float:
    """Seconds to leave somebody alone after so many failures in a row: doubling, capped."""
    return min(last, first * 2.0 ** min(failures - 1, 30))


@attrs.frozen
class HandOff:
    """Give the work to another account or provider; after a refusal, `hub.domain.routing` takes another provider only."""

    reason: str
    """For people."""


@attrs.frozen
class Wait:
    """Wait until an instant (epoch seconds), then run the same agent again or hand off.

    Attributes:
        until: The instant, a whole second: as it is kept.
        reason: For people.
        then: What follows.
        ender: Who ends it before its time, by being free for the work: a login that was added, a quota that came back.
        unsure: Whether nobody knows when somebody is free: the instant is when it is looked at again at the latest.
        why: What of the reason stands before who was passed by and why, which may change while it waits; "" = it names
            nobody.
    """

    until: float = attrs.field(converter=math.ceil)
    reason: str
    then: Then = "retry"
    ender: Ender = ""
    unsure: bool = False
    why: str = ""


@attrs.frozen
class Surface:
    """Stop and tell the user."""

    code: Code
    reason: str


Decision = HandOff | Wait | Surface


@attrs.frozen(kw_only=True)
class Situation:
    """All that a decision depends on besides the failure.

    Attributes:
        attempt: Which failure of this kind in a row this is, from 1; for a refusal: how many providers
            refused this task, this one included.
        now: Epoch seconds.
        on_limit: The user's wish for a usage limit.
        targets_left: How many other accounts and providers could take the work; for a refusal: how many other
            providers.
        targets_busy: How many more could, once another session is through with them.
        breaker_open: Whether this account's breaker is open after this failure.
        jitter: In [0, 1), drawn by the caller.
        handoffs_left: How many handoffs the session may still make.
        max_attempts: How many overloads or short limits in a row are waited out.
        earliest_reset: The earliest reset of the other targets that are out of quota, where known.
    """

    attempt: int
    now: float
    on_limit: OnLimit
    targets_left: int
    targets_busy: int
    breaker_open: bool
    jitter: float
    handoffs_left: int
    max_attempts: int
    earliest_reset: float | None

    @property
    def can_hand_off(self) -> bool:
        """Whether somebody can take the work."""
        return self.targets_left > 0 and self.handoffs_left > 0

    @property
    def may_leave(self) -> bool:
        """Whether somebody can take the work now or in a while: who works for another session is waited for."""
        return self.targets_left + self.targets_busy > 0 and self.handoffs_left > 0

    @property
    def why_not(self) -> str:
        """Why nobody can, in a user's words."""
        if self.may_leave:
            return "everybody else works for another session"
        return "there is nobody else" if self.handoffs_left > 0 else "no handoff is left (maxHandoffs)"

    def backoff(self, first: float = 1.0, last: float = LAST_BACKOFF) -> float:
        """Seconds to wait after this attempt: doubling, capped, with jitter on top."""
        return backoff(self.attempt, first, last) * (1 + JITTER * self.jitter)

    def later(self, delay: float, not_before: float | None = None) -> float:
        """The instant `delay` from now, or `not_before` if that is later."""
        return max(self.now + delay, not_before or 0.0)


def decide(failure: Failure, situation: Situation) -> Decision:
    """Decide what follows a failure."""
    return _RULES[failure.kind](failure, situation)


def _usage_limit(failure: Failure, s: Situation) -> Decision:
    per_minute = failure.window in SHORT_WINDOWS
    if s.on_limit == "stop" and not per_minute:
        return Surface(Code.QUOTA_EXHAUSTED, "the usage limit is reached and onLimit is stop")
    near = failure.resets_at is not None and failure.resets_at - s.now <= SHORT_RESET
    if (per_minute or near) and s.attempt <= s.max_attempts:
        until = s.later(s.backoff(), failure.resets_at)
        return Wait(until, SHORT)
    if s.on_limit == "stop":
        return Surface(Code.QUOTA_EXHAUSTED, "the short limit does not end and onLimit is stop")
    if s.on_limit != "wait" and s.can_hand_off:
        return HandOff("the usage limit is reached")
    return _await_reset(failure.resets_at, s)


def _await_reset(own: float | None, s: Situation) -> Wait:
    """Wait for the earliest reset that is known, or probe with a growing pause where none is."""
    own = own if own is not None and own > s.now else None
    other = s.earliest_reset if s.on_limit != "wait" and s.handoffs_left > 0 else None
    if other is not None and other > s.now and (own is None or other < own):
        return Wait(other, "nobody has quota left; another account's comes back first", "handoff", "anybody")
    if own is not None:
        return Wait(own, "the usage limit is reached; waiting for its reset", ender="anybody")
    probe = s.backoff(FIRST_PROBE, LAST_PROBE)
    why = "the usage limit is reached and its reset is unknown; trying again now and then"
    return Wait(s.now + probe, why, ender="others")


def _overload(failure: Failure, s: Situation) -> Decision:
    if s.can_hand_off and (s.breaker_open or s.attempt >= s.max_attempts):
        return HandOff("the provider stays overloaded")
    return Wait(s.later(s.backoff(), failure.resets_at), "the provider is overloaded; backing off")


def _refusal(_: Failure, s: Situation) -> Decision:
    if s.attempt == 1 and s.may_leave:
        return HandOff("the model refused the task; one other provider is asked")
    return Surface(Code.REFUSED, "the model refused the task")


def _crash(_: Failure, s: Situation) -> Decision:
    if s.can_hand_off:
        return HandOff("the agent ended unexpectedly")
    if s.attempt == 1 and not s.breaker_open:
        return Wait(s.now + s.backoff(), f"the agent ended unexpectedly; once more, as {s.why_not}")
    if s.may_leave:
        return HandOff("the agent ended unexpectedly again")
    return Surface(Code.AGENT_EXITED, f"the agent ended unexpectedly again, and {s.why_not}")


def _hand_off_or(code: Code, reason: str) -> Callable[[Failure, Situation], Decision]:
    def rule(_: Failure, s: Situation) -> Decision:
        return HandOff(reason) if s.may_leave else Surface(code, f"{reason}, and {s.why_not}")

    return rule


def _unknown(_: Failure, __: Situation) -> Decision:
    return Surface(Code.AGENT_EXITED, "the agent stopped for a reason that hub does not know")


_RULES: dict[FailureClass, Callable[[Failure, Situation], Decision]] = {
    FailureClass.USAGE_LIMIT: _usage_limit,
    FailureClass.OVERLOAD: _overload,
    FailureClass.REFUSAL: _refusal,
    FailureClass.AUTH: _hand_off_or(Code.AUTH_NEEDED, "the agent is not logged in, or its key is wrong"),
    FailureClass.CONTEXT_OVERFLOW: _hand_off_or(
        Code.CONTEXT_OVERFLOW, "the model's context is full; a fresh one is needed"
    ),
    FailureClass.CRASH: _crash,
    FailureClass.SILENT: _hand_off_or(Code.AGENT_SILENT, "the agent said nothing for too long"),
    FailureClass.UNKNOWN: _unknown,
}
