"""The circuit breaker of one provider account.

Owns: the states, what opens and closes them, how long they hold, and their durable form.
Must not: read a clock, keep timers, or decide what follows a failure (`hub.domain.retry` does).

    closed     -- 5 counted failures in a row, or one usage limit -->  open
    open       -- the cool-down has passed, or the quota is back  -->  half-open, one attempt let through
    half-open  -- that attempt succeeds, or the provider answers  -->  closed
    half-open  -- that attempt fails                              -->  open, twice as long (15 min at most)
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import attrs

from hub.domain.failure import FailureClass

THRESHOLD = 5
FIRST_COOL_DOWN = 30.0
LAST_COOL_DOWN = 900.0
LEASE = LAST_COOL_DOWN
"""A half-open attempt that never reported back (its daemon died) frees its place after this long."""

COUNTED = frozenset({FailureClass.OVERLOAD, FailureClass.AUTH, FailureClass.CRASH})
"""Failures that say something about the provider."""
ANSWERED = frozenset({FailureClass.REFUSAL, FailureClass.CONTEXT_OVERFLOW})
"""Failures of the task at hand: the provider itself is well."""


class State(StrEnum):
    """What the breaker lets through: all, nothing, or one attempt."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


@attrs.frozen
class Breaker:
    """A breaker as a value. The functions of this module make the next one; times are epoch seconds.

    Attributes:
        provider: The provider's name.
        account: The account's label.
        state: See `State`.
        failures: Counted failures since the last success.
        opened_at: When it opened; None while closed.
        until: When an open breaker lets an attempt through again; None while closed.
        trips: Openings since the last success: each doubles the cool-down.
        trial_at: When the half-open attempt was let through; None when none is out.
        limited: Whether a usage limit opened it.
    """

    provider: str
    account: str = "default"
    state: State = State.CLOSED
    failures: int = 0
    opened_at: float | None = None
    until: float | None = None
    trips: int = 0
    trial_at: float | None = None
    limited: bool = False

    @property
    def name(self) -> str:
        """The name under which faces show it."""
        return f"{self.provider}/{self.account}"


def on_failure(b: Breaker, kind: FailureClass, now: float, resets_at: float | None = None) -> Breaker:
    """The breaker after an attempt failed.

    A usage limit opens it at once, until `resets_at` where that is known. While it is open, late failures of
    earlier attempts count but prolong nothing, except that a usage limit's reset holds it open.
    """
    if kind is FailureClass.USAGE_LIMIT:
        return _limited(b, now, resets_at)
    if b.state is State.HALF_OPEN:
        if kind in ANSWERED:
            return closed(b)
        return _open(attrs.evolve(b, failures=b.failures + (kind in COUNTED)), now)
    if kind not in COUNTED:
        return b
    counted = attrs.evolve(b, failures=b.failures + 1)
    if b.state is State.CLOSED and counted.failures >= THRESHOLD:
        return _open(counted, now)
    return counted


def on_success(b: Breaker, now: float) -> Breaker:  # noqa: ARG001  # every event comes with its time
    """The breaker after an attempt succeeded. An open one stays: that attempt began before it opened."""
    return b if b.state is State.OPEN else closed(b)


def closed(b: Breaker) -> Breaker:
    """The breaker closed and all forgotten: after a success, a good probe, or a quota seen to be back."""
    return Breaker(b.provider, b.account)


def allow(b: Breaker, now: float) -> tuple[Breaker, bool]:
    """Ask for one attempt: the breaker after the answer, and the answer.

    Guarantees that of all callers at a half-open breaker one gets True, until that attempt's outcome is told
    or its lease of 15 minutes is over.
    """
    if b.state is State.CLOSED:
        return b, True
    if now < ready_at(b, now):
        return b, False
    return attrs.evolve(b, state=State.HALF_OPEN, trial_at=now), True


def ready_at(b: Breaker, now: float) -> float:
    """The first moment from `now` on at which `allow` will say yes, if nothing else happens before."""
    if b.state is State.CLOSED:
        return now
    gate = b.until if b.trial_at is None else b.trial_at + LEASE
    return now if gate is None else max(now, gate)


def snapshot(b: Breaker) -> dict[str, Any]:
    """The `{name, state, failures, openedAt?}` of the API; `openedAt` only while it is not closed."""
    body: dict[str, Any] = {"name": b.name, "state": b.state.value, "failures": b.failures}
    if b.opened_at is not None:
        moment = datetime.fromtimestamp(b.opened_at, UTC)
        body["openedAt"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return body


def to_json(b: Breaker) -> dict[str, Any]:
    """The durable form; `from_json` reads it back equal."""
    return attrs.asdict(b, value_serializer=lambda _, __, v: v.value if isinstance(v, State) else v)


def from_json(body: Mapping[str, Any]) -> Breaker:
    """Read the durable form.

    Raises:
        ValueError: The form is not one that `to_json` writes.
    """
    try:
        return Breaker(**{**body, "state": State(body["state"])})
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a breaker: {error}") from error


def _cool_down(trips: int) -> float:
    return min(LAST_COOL_DOWN, FIRST_COOL_DOWN * 2.0 ** min(trips, 10))


def _open(b: Breaker, now: float) -> Breaker:
    return attrs.evolve(
        b,
        state=State.OPEN,
        opened_at=now,
        until=now + _cool_down(b.trips),
        trips=b.trips + 1,
        trial_at=None,
        limited=False,
    )


def _limited(b: Breaker, now: float, resets_at: float | None) -> Breaker:
    if (
        b.state is State.OPEN
        and b.limited
        and b.until is not None
        and (resets_at is None or resets_at <= b.until)
    ):
        return attrs.evolve(b, failures=b.failures + 1)
    opened = _open(attrs.evolve(b, failures=b.failures + 1), now)
    until = opened.until if resets_at is None or resets_at <= now else resets_at
    return attrs.evolve(opened, until=until, limited=True)
