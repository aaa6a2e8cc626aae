"""What the circuit breakers are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.api.observability import Breaker
from hub.domain.failure import Failure
from supervisors import Call


@attrs.frozen
class BreakerFailure(Call[None]):
    """A run on this provider and account failed. The end of a dispatch counts once, however often it is told."""

    provider: str
    account: str
    failure: Failure
    dispatch_id: str = ""
    worked: bool = False
    """Whether it did its part before: then this is the first failure of a new row."""


@attrs.frozen
class BreakerSuccess(Call[None]):
    """A run on this provider and account works: it came to its end, or was ended while it did."""

    provider: str
    account: str
    dispatch_id: str = ""


@attrs.frozen
class BreakerAttempt(Call[bool]):
    """Answers whether this dispatch may be started: of all that ask a half-open breaker, one. May be repeated."""

    provider: str
    account: str
    dispatch_id: str
    insisted: bool = False
    """Whether the user wants it tried before its time."""


@attrs.frozen
class BreakerWithdrawn(Call[None]):
    """The dispatch was ended before the provider answered: it says nothing, and another one may be let through."""

    provider: str
    account: str
    dispatch_id: str


@attrs.frozen
class Shut:
    """A provider and account that must not be chosen now."""

    until: float
    """Epoch seconds at which it may be tried again."""
    limited: bool
    """Whether a quota of it is used up; else it failed too often."""
    cap: bool = False
    """Whether that quota is the cap which the user declared."""
    trial: bool = False
    """Whether the one attempt of a half-open breaker is under way."""


@attrs.frozen
class BreakerClosed(Call[Mapping[tuple[str, str], Shut]]):
    """Answers `{(provider, account): Shut}`: all that must not be chosen now."""


@attrs.frozen
class BreakerSnapshots(Call[list[Breaker]]):
    """How every breaker stands."""


BreakersInbox = (
    BreakerAttempt | BreakerClosed | BreakerFailure | BreakerSnapshots | BreakerSuccess | BreakerWithdrawn
)
