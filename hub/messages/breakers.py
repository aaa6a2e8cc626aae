"""What the circuit breakers are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.failure import Failure


@attrs.frozen
class BreakerFailure:
    """A run on this provider and account failed."""

    provider: str
    account: str
    failure: Failure


@attrs.frozen
class BreakerSuccess:
    """A run on this provider and account works."""

    provider: str
    account: str


@attrs.frozen
class Shut:
    """A provider and account that must not be chosen now."""

    until: float
    """Epoch seconds at which it may be tried again."""
    limited: bool
    """Whether its usage limit is reached; else it failed too often."""


@attrs.frozen
class BreakerClosed:
    """Answers `{(provider, account): Shut}`: all that must not be chosen now."""


@attrs.frozen
class BreakerSnapshots:
    """Answers what `GET /api/circuit` serves."""
