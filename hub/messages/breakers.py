"""What the circuit breakers are asked and told.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

import attrs

from hub.domain.failure import Failure
from hub.domain.value import Value


@attrs.frozen(eq=False, repr=False)
class BreakerFailure(Value):
    """A run on this provider and account failed."""

    provider: str
    account: str
    failure: Failure


@attrs.frozen(eq=False, repr=False)
class BreakerSuccess(Value):
    """A run on this provider and account works."""

    provider: str
    account: str


@attrs.frozen(eq=False, repr=False)
class Shut(Value):
    """A provider and account that must not be chosen now."""

    until: float
    """Epoch seconds at which it may be tried again."""
    limited: bool
    """Whether its usage limit is reached; else it failed too often."""


@attrs.frozen(eq=False, repr=False)
class BreakerClosed(Value):
    """Answers `{(provider, account): Shut}`: all that must not be chosen now."""


@attrs.frozen(eq=False, repr=False)
class BreakerSnapshots(Value):
    """Answers what `GET /api/circuit` serves."""
