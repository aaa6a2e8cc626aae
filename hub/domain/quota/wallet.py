"""The quota wallet: which of an account's windows is its wall, how near that is, and a line on it for people.

Owns: those rules.
Must not: keep anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum

import attrs

from hub.domain.quota import forecast
from hub.domain.quota.burn import Burn, Rise
from hub.domain.quota.forecast import Forecast, Outlook
from hub.domain.quota.window import FULL, QuotaReading, breach
from hub.domain.wallclock import iso

_SIGHT = 60.0
"""Minutes before a wall at which it is worth a word."""


class Alarm(IntEnum):
    """How near a window is to its wall; each is worth a word once."""

    QUIET = 0
    AHEAD = 1
    """The wall is expected within the hour, and before the window begins anew."""
    NEAR = 2
    """At the threshold."""
    FULL = 3


@attrs.frozen
class Prospect:
    """A window and its forecast, at one moment.

    Attributes:
        reading: The newest reading.
        forecast: When it will be used up.
        cap: Tokens in the whole window; None where the meter tells shares only.
        course: How the meter came to stand there, oldest first.
    """

    reading: QuotaReading
    forecast: Forecast
    cap: int | None = None
    course: Sequence[Rise] = ()

    def minutes_left(self, now: float) -> float | None:
        """Minutes until the window begins anew; None when nobody told."""
        resets_at = self.reading.resets_at
        return None if resets_at is None else max(0.0, (resets_at - now) / 60)

    def hits(self, now: float) -> bool:
        """Whether its wall is expected before it begins anew."""
        left = self.minutes_left(now)
        eta = self.forecast.eta
        return eta is not None and (left is None or eta < left)


def prospect(burn: Burn, now: float, cap: int | None = None) -> Prospect:
    """The window of a ledger, at the moment `now`."""
    return Prospect(burn.last, forecast.forecast(burn, now), cap, burn.course)


def wall(prospects: Sequence[Prospect], threshold: float, now: float) -> QuotaReading | None:
    """The window because of which the work must be handed over at the moment `now`, or None.

    A window at or over `threshold` (a fraction) is a wall unless it is expected, in nine cases of ten, to last
    until it begins anew. Where no pace is known, the threshold alone decides: a handoff too early loses nothing.
    """
    ending = (
        p.reading
        for p in prospects
        if p.reading.used_permille >= FULL or not forecast.lasts(p.forecast, p.minutes_left(now))
    )
    return breach(ending, threshold)


def binding(prospects: Sequence[Prospect], now: float) -> Prospect:
    """The window that ends the work first: the nearest expected wall, else the fullest one. At least one is given."""
    return min(prospects, key=lambda p: _urgency(p, now))


def _urgency(p: Prospect, now: float) -> tuple[float, float, float]:
    used = p.reading.used_permille
    if used >= FULL:
        return (0.0, -(p.reading.resets_at or math.inf), 0.0)
    eta = p.forecast.eta if p.hits(now) else None
    return (1.0 if eta is not None else 2.0, eta or 0.0, -float(used))


def alarm(p: Prospect, threshold: float, now: float) -> Alarm:
    """How near the window is to its wall."""
    used = p.reading.used_permille
    if used >= FULL:
        return Alarm.FULL
    if used >= round(threshold * FULL):
        return Alarm.NEAR
    eta = p.forecast.eta
    return Alarm.AHEAD if eta is not None and eta <= _SIGHT and p.hits(now) else Alarm.QUIET


def said(p: Prospect, now: float) -> str:
    """One line for people: how full, how fast, and when the wall is expected."""
    words = [f"{p.reading.window or 'quota'} {p.reading.used_permille / 10:g} % used"]
    found = p.forecast
    if found.outlook is Outlook.READY and found.rate is not None:
        words.append(f"burning {found.rate / 10:.2g} % a minute")
    if p.hits(now) and found.eta is not None:
        words.append(f"wall in about {found.eta:.0f} min ({found.low:.0f} to {found.high:.0f})")
    if p.reading.resets_at is not None:
        words.append(f"resets {iso(p.reading.resets_at)}")
    return ", ".join(words)
