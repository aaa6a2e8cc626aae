"""How long to wait before a restart.

Owns: the delay as a pure function of the attempt. Must not: sleep, read a clock, draw a random number.
"""

from __future__ import annotations

import math

import attrs

_positive = attrs.validators.gt(0.0)


@attrs.frozen(kw_only=True)
class Backoff:
    """Exponential growth with jitter, a cap, and a reset after a quiet period.

    Attempt 1 is the first restart after a quiet period. `intensity` counts every restart all the same.
    """

    first: float = attrs.field(default=0.1, validator=_positive)
    """Seconds before the first restart."""
    factor: float = attrs.field(default=2.0, validator=attrs.validators.ge(1.0))
    """What each further attempt multiplies the delay by."""
    cap: float = attrs.field(default=30.0, validator=_positive)
    """No delay is longer, jitter included."""
    jitter: float = attrs.field(default=0.1, validator=[attrs.validators.ge(0.0), attrs.validators.le(1.0)])
    """The part of the delay that is random: 0.1 means 90 % to 110 %."""
    reset_after: float = attrs.field(default=60.0, validator=_positive)
    """An incarnation that was ready this long starts the count anew."""

    def delay(self, attempt: int, chance: float = 0.5) -> float:
        """Seconds to wait before restart number `attempt` (from 1), for a `chance` drawn from [0, 1)."""
        exponent = attempt - 1
        if self.factor > 1 and exponent * math.log(self.factor) > math.log(self.cap / self.first):
            plain = self.cap  # the power itself could overflow
        else:
            plain = self.first * self.factor**exponent
        return min(self.cap, plain * (1 + self.jitter * (2 * chance - 1)))

    def attempt(self, previous: int, ready_for: float) -> int:
        """The number of the next attempt, after an incarnation that was ready for so many seconds."""
        return 1 if ready_for >= self.reset_after else previous + 1
