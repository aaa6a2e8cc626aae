"""The circuit breaker of one provider account.

Owns: the states, what opens and closes them, and how long they hold.
Must not: read a clock, keep timers, or decide what follows a failure (`hub.domain.retry` does).

    closed     -- 5 counted failures in a row, or a quota used up -->  open
    open       -- the cool-down has passed, or the reset          -->  half-open, one attempt let through
    open       -- the quota is seen to be back before its reset   -->  closed
    half-open  -- that attempt succeeds, or the provider answers  -->  closed
    half-open  -- that attempt fails                              -->  open, twice as long (15 min at most)

A user may insist on one attempt before the time has come. Where failures opened it, that makes it half-open; one that a
quota opened stays open, for the quota is still known to be used up, and closes when that attempt is answered.

A quota is used up when the agent says so, before or at the limit error, or when the user's own cap is spent. The end of
an attempt carries its dispatch: the same end counts once, however often it is told.
"""

from __future__ import annotations

from enum import StrEnum

import attrs

from hub.domain.failure import FailureClass
from hub.domain.quota.window import Standing
from hub.domain.retry import backoff

THRESHOLD = 5
FIRST_COOL_DOWN = 30.0
LAST_COOL_DOWN = 900.0
LEASE = LAST_COOL_DOWN
"""A half-open attempt that never reported back (its daemon died) frees its place after this long."""

COUNTED = frozenset({FailureClass.OVERLOAD, FailureClass.AUTH, FailureClass.CRASH})
"""Failures that say something about the provider."""
ANSWERED = frozenset({FailureClass.REFUSAL, FailureClass.CONTEXT_OVERFLOW})
"""Failures of the task at hand: the provider itself is well."""


class BreakerState(StrEnum):
    """What the breaker lets through: all, nothing, or one attempt."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@attrs.frozen
class CircuitBreaker:
    """A breaker as a value. The functions of this module make the next one; times are epoch seconds.

    Attributes:
        provider: The provider's name.
        account: The account's label.
        state: See `BreakerState`.
        failures: Counted failures since the last success.
        opened_at: When it opened; None while closed.
        until: When an open breaker lets an attempt through again; None while closed.
        trips: Openings since the last success: each doubles the cool-down.
        trial_at: When the half-open attempt was let through; None when none is out.
        limited: Whether a quota that is used up opened it.
        cap: Whether that quota is the cap which the user declared.
        trial: The dispatch of the half-open attempt, or of the one that a user insisted on; "" where it was not told.
        heard: The dispatch whose end was counted last; "" for none.
        seen_at: The moment of the newest reading of the quota that changed it.
    """

    provider: str
    account: str = "default"
    state: BreakerState = BreakerState.CLOSED
    failures: int = 0
    opened_at: float | None = None
    until: float | None = None
    trips: int = 0
    trial_at: float | None = None
    limited: bool = False
    cap: bool = False
    trial: str = ""
    heard: str = ""
    seen_at: float = 0.0

    @property
    def name(self) -> str:
        """The name under which faces show it."""
        return f"{self.provider}/{self.account}"


def on_failure(
    b: CircuitBreaker, kind: FailureClass, now: float, resets_at: float | None = None, dispatch: str = ""
) -> CircuitBreaker:
    """The breaker after an attempt failed.

    A usage limit opens it at once, until `resets_at` where that is known. While it is open, late failures of
    earlier attempts count but prolong nothing, except that a usage limit's reset holds it open. What the provider
    itself answered (`ANSWERED`) ends a row of failures.
    """
    if dispatch and dispatch == b.heard:
        return b
    b = attrs.evolve(b, heard=dispatch or b.heard)
    if kind is FailureClass.USAGE_LIMIT:
        return _limited(b, now, resets_at)
    if kind in ANSWERED and _decides(b, dispatch):
        return closed(b)
    counted = attrs.evolve(b, failures=b.failures + (kind in COUNTED))
    tried = b.state is BreakerState.HALF_OPEN and (not b.trial or dispatch in ("", b.trial))
    in_a_row = b.state is BreakerState.CLOSED and counted.failures >= THRESHOLD
    return _open(counted, now) if tried or in_a_row else counted


def on_success(b: CircuitBreaker, dispatch: str = "") -> CircuitBreaker:
    """The breaker after an attempt succeeded. An open one stays, unless a user insisted on it: it began before that."""
    if dispatch and dispatch == b.heard:
        return b
    b = attrs.evolve(b, heard=dispatch or b.heard)
    return closed(b) if _decides(b, dispatch) else b


def _decides(b: CircuitBreaker, dispatch: str) -> bool:
    """Whether an answer of the provider to this dispatch closes it."""
    return b.state is not BreakerState.OPEN or (dispatch != "" and dispatch == b.trial)


def on_work(b: CircuitBreaker, dispatch: str) -> CircuitBreaker:
    """The breaker when an attempt has done work before it failed: what failed before that is no row with it."""
    return b if dispatch == b.heard or not _decides(b, dispatch) else closed(b)


def on_withdrawal(b: CircuitBreaker, dispatch: str) -> CircuitBreaker:
    """The breaker when an attempt was ended before the provider answered: a half-open one lets another through."""
    return attrs.evolve(b, trial="", trial_at=None) if b.trial_at is not None and b.trial == dispatch else b


def on_quota(b: CircuitBreaker, now: float, standing: Standing) -> CircuitBreaker:
    """The breaker when its quota stands so: open while it is used up, closed when it is seen to be back.

    A quota whose reset nobody told opens it once for each time that it is seen; then attempts find out.
    """
    if not standing.full:
        back = (
            b.limited
            and b.state is BreakerState.OPEN
            and b.opened_at is not None
            and standing.at > b.opened_at
        )
        return closed(b) if back else b
    if standing.until is None and standing.at <= b.seen_at:
        return b
    if b.state is BreakerState.OPEN and b.limited and (b.until or 0.0) >= (standing.until or 0.0):
        return attrs.evolve(b, cap=standing.cap, seen_at=max(b.seen_at, standing.at))
    opened = _limited(attrs.evolve(b, failures=b.failures - 1), now, standing.until)
    return attrs.evolve(opened, cap=standing.cap, seen_at=max(b.seen_at, standing.at))


def closed(b: CircuitBreaker) -> CircuitBreaker:
    """The breaker closed and its failures forgotten: after a success, a good probe, or a quota seen to be back."""
    return CircuitBreaker(b.provider, b.account, heard=b.heard, seen_at=b.seen_at)


def allow(
    b: CircuitBreaker, now: float, dispatch: str = "", *, insisted: bool = False
) -> tuple[CircuitBreaker, bool]:
    """Ask for one attempt: the breaker after the answer, and the answer.

    Guarantees that of all callers at a half-open breaker one gets True, until that attempt's outcome is told
    or its lease of 15 minutes is over. The dispatch that has the attempt may ask again. Whom the user `insisted` on is
    let through at any time.
    """
    if b.state is BreakerState.CLOSED or (dispatch and dispatch == b.trial):
        return b, True
    if insisted and b.limited and now < ready_at(b, now):
        return attrs.evolve(b, trial=dispatch), True
    if insisted:
        return attrs.evolve(b, state=BreakerState.HALF_OPEN, trial_at=now, trial=dispatch), True
    if now < ready_at(b, now):
        return b, False
    return attrs.evolve(b, state=BreakerState.HALF_OPEN, trial_at=now, trial=dispatch), True


def ready_at(b: CircuitBreaker, now: float) -> float:
    """The first moment from `now` on at which `allow` will say yes, if nothing else happens before."""
    if b.state is BreakerState.CLOSED:
        return now
    gate = b.until if b.trial_at is None else b.trial_at + LEASE
    return now if gate is None else max(now, gate)


def at(b: CircuitBreaker, now: float) -> CircuitBreaker:
    """The breaker as time makes it: an open one is half-open when its cool-down has passed or its reset has come."""
    over = b.state is BreakerState.OPEN and ready_at(b, now) <= now
    return attrs.evolve(b, state=BreakerState.HALF_OPEN) if over else b


def set_back(b: CircuitBreaker, now: float) -> CircuitBreaker:
    """The breaker when the clock was set to a time before it opened: it holds as long as it would have, from now on.

    What holds longer than any cool-down is a quota's reset, an instant that its vendor told: it stays.
    """
    if b.opened_at is None or b.opened_at <= now:
        return b
    trial_at = None if b.trial_at is None else min(b.trial_at, now)
    cools = b.until is not None and b.until - b.opened_at <= LAST_COOL_DOWN
    until = now + b.until - b.opened_at if b.until is not None and cools else b.until
    return attrs.evolve(b, opened_at=now, until=until, trial_at=trial_at)


def _open(b: CircuitBreaker, now: float) -> CircuitBreaker:
    return attrs.evolve(
        b,
        state=BreakerState.OPEN,
        opened_at=now,
        until=now + backoff(b.trips + 1, FIRST_COOL_DOWN, LAST_COOL_DOWN),
        trips=b.trips + 1,
        trial_at=None,
        trial="",
        limited=False,
        cap=False,
    )


def _limited(b: CircuitBreaker, now: float, resets_at: float | None) -> CircuitBreaker:
    if (
        b.state is BreakerState.OPEN
        and b.limited
        and b.until is not None
        and (resets_at is None or resets_at <= b.until)
    ):
        return attrs.evolve(b, failures=b.failures + 1)
    opened = _open(attrs.evolve(b, failures=b.failures + 1), now)
    until = opened.until if resets_at is None or resets_at <= now else resets_at
    return attrs.evolve(opened, until=until, limited=True)
