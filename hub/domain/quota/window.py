"""How much of a quota window is used.

Owns: `QuotaReading`, how one is read from an event, which readings are the newest, and when they call for a
handoff.
Must not: ask a provider, or forecast.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.domain.value import Value

FULL = 1000
_LATEST = 253_402_300_000
"""The last instant a calendar knows, epoch seconds: a later reset is a mistake, or milliseconds."""


@attrs.frozen(eq=False, repr=False)
class QuotaReading(Value):
    """What an agent said of one of its quota windows.

    Attributes:
        provider: The provider's name.
        account: The account's label.
        window: The window's name, `five_hour`, `seven_day`...; "" where the agent does not say.
        used_permille: Used part of the window; over 1000 is possible where overage is granted.
        resets_at: When the window begins anew, epoch seconds; None when nothing told.
        source: Where it was read: `stream` (what the agent said), `limit` (a usage limit it met), `store` (the
            agent's own files), `endpoint` (its maker's server), `declared` (a cap the user told).
        at: When it was read, epoch seconds.
    """

    provider: str
    account: str
    window: str
    used_permille: int
    resets_at: float | None = None
    source: str = "stream"
    at: float = 0.0

    @property
    def key(self) -> tuple[str, str, str]:
        """Which window of whom this is about."""
        return self.provider, self.account, self.window


def reading_of(
    event: Event, provider: str, account: str, at: float, source: str = "stream"
) -> QuotaReading | None:
    """The reading that a `quota` event carries; None for any other event or one without a usable figure."""
    used = event.meta.get("used")
    if event.type is not EventType.QUOTA or type(used) is not int or used < 0:
        return None
    return QuotaReading(provider, account, _window(event.meta), used, _instant(event.meta), source, at)


def limit_of(meta: Mapping[str, Any], provider: str, account: str, at: float) -> QuotaReading | None:
    """The reading that a usage limit makes, where its reset is known: the window is full until then.

    Some agents tell nothing of a window before they have reached its end.
    """
    resets_at = _instant(meta)
    if meta.get("failure") != FailureClass.USAGE_LIMIT or resets_at is None:
        return None
    return QuotaReading(provider, account, _window(meta), FULL, resets_at, "limit", at)


def newest(
    readings: Iterable[QuotaReading], now: float | None = None
) -> dict[tuple[str, str, str], QuotaReading]:
    """The newest reading of each window; of two of the same moment the later in order.

    With `now`, a window that has begun anew since it was read is left out: nobody knows what is used of it.
    """
    found: dict[tuple[str, str, str], QuotaReading] = {}
    for reading in readings:
        known = found.get(reading.key)
        if known is None or reading.at >= known.at:
            found[reading.key] = reading
    return {
        key: reading
        for key, reading in found.items()
        if now is None or reading.resets_at is None or reading.resets_at > now
    }


def breach(readings: Iterable[QuotaReading], threshold: float) -> QuotaReading | None:
    """The fullest window at or over `threshold` (a fraction, 0 < threshold <= 1), or None.

    Of windows equally full, the one that resets last is the wall.
    """
    limit = round(threshold * FULL)
    over = [reading for reading in readings if reading.used_permille >= limit]
    return max(over, key=lambda reading: (reading.used_permille, reading.resets_at or 0.0), default=None)


def _instant(meta: Mapping[str, Any]) -> float | None:
    value = meta.get("resetsAt")
    return float(value) if isinstance(value, int | float) and 0 < value < _LATEST else None


def _window(meta: Mapping[str, Any]) -> str:
    value = meta.get("window")
    return value if isinstance(value, str) else ""
