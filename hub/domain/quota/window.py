"""How much of a quota window is used.

Owns: `QuotaReading`, how one is read from an event, which readings are the newest, when they call for a handoff,
and how an account stands by them (`Standing`).
Must not: ask a provider, or forecast.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

import attrs

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.domain.meta import EventMeta

Source = Literal["stream", "limit", "store", "endpoint", "declared", "none"]
FULL = 1000
NEARLY = 900
"""From this part on a window is taken for the one whose limit was met, and a limit that was met for still there."""
DECLARED: Final = "declared"
"""The source of a reading that was counted against a cap of the user's."""
LIMIT: Final = "limit"
"""The source of a reading that a usage limit made."""
_SHORT = {"minute": 60.0, "second": 1.0}
_LATEST = 253_402_300_000
"""The last instant a calendar knows, epoch seconds: a later reset is a mistake, or milliseconds."""


@attrs.frozen
class QuotaReading:
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
    source: Source = "stream"
    at: float = 0.0

    @property
    def key(self) -> tuple[str, str, str]:
        """Which window of whom this is about."""
        return self.provider, self.account, self.window


@attrs.frozen
class Standing:
    """How an account stands by all its windows: the one fact that wallet, breaker and choice share.

    Attributes:
        full: Whether one of its windows is used up: it must not be chosen.
        until: When the last of those begins anew, epoch seconds; None when nobody told.
        at: When that was read, epoch seconds.
        cap: Whether the only quota that is used up is the cap which the user declared.
    """

    full: bool
    until: float | None = None
    at: float = 0.0
    cap: bool = False


def standing(readings: Iterable[QuotaReading]) -> Standing:
    """How an account stands by the newest readings of its windows."""
    known = list(readings)
    over = [reading for reading in known if reading.used_permille >= FULL]
    if not over:
        return Standing(full=False, at=max((reading.at for reading in known), default=0.0))
    resets = [reading.resets_at for reading in over if reading.resets_at is not None]
    return Standing(
        full=True,
        until=max(resets, default=None),
        at=max(reading.at for reading in over),
        cap=all(reading.source == DECLARED for reading in over),
    )


def reading_of(
    event: Event, provider: str, account: str, at: float, source: Source = "stream"
) -> QuotaReading | None:
    """The reading that a `quota` event carries; None for any other event or one without a usable figure."""
    used = event.meta.get("used")
    if event.type is not EventType.QUOTA or type(used) is not int or used < 0:
        return None
    return QuotaReading(provider, account, _window(event.meta), used, _instant(event.meta), source, at)


def limit_of(
    meta: EventMeta, known: Iterable[QuotaReading], provider: str, account: str, at: float
) -> QuotaReading | None:
    """The reading that a usage limit makes: its window is full until the reset that it tells, where that lies ahead.

    Some agents tell nothing of a window before they have reached its end. Of a limit that says nothing of its reset, or
    one that has passed: a window of a minute is over in a minute. Of any other the reset is what an earlier reading told
    of the same window, or, where the limit names none, of the fullest one that is nearly used up (`known`, of this
    account). Where nothing told it is None: it is never guessed.
    """
    if meta.get("failure") != FailureClass.USAGE_LIMIT:
        return None
    resets_at = _instant(meta)
    if resets_at is not None and resets_at > at:
        return QuotaReading(provider, account, _window(meta), FULL, resets_at, LIMIT, at)
    window = _window(meta)
    if window in _SHORT:
        return QuotaReading(provider, account, window, FULL, at + _SHORT[window], LIMIT, at)
    fits = [
        each
        for each in known
        if (each.window == window or (not window and each.used_permille >= NEARLY))
        and each.resets_at is not None
        and each.resets_at > at
    ]
    best = max(fits, key=lambda each: each.used_permille, default=None)
    if best is None:
        return QuotaReading(provider, account, window, FULL, None, LIMIT, at)
    return QuotaReading(provider, account, best.window, FULL, best.resets_at, LIMIT, at)


def newest(readings: Iterable[QuotaReading], now: float) -> dict[tuple[str, str, str], QuotaReading]:
    """The newest reading of each window; of two of the same moment the later in order.

    A window that has begun anew since it was read is left out: nobody knows what is used of it.
    """
    found: dict[tuple[str, str, str], QuotaReading] = {}
    for reading in readings:
        known = found.get(reading.key)
        if known is None or reading.at >= known.at:
            found[reading.key] = reading
    return {
        key: reading for key, reading in found.items() if reading.resets_at is None or reading.resets_at > now
    }


def breach(readings: Iterable[QuotaReading], threshold: float) -> QuotaReading | None:
    """The fullest window at or over `threshold` (a fraction, 0 < threshold <= 1), or None.

    Of windows equally full, the one that resets last is the wall.
    """
    limit = round(threshold * FULL)
    over = [reading for reading in readings if reading.used_permille >= limit]
    return max(over, key=lambda reading: (reading.used_permille, reading.resets_at or 0.0), default=None)


def _instant(meta: EventMeta) -> float | None:
    value = meta.get("resetsAt")
    return float(value) if isinstance(value, int | float) and 0 < value < _LATEST else None


def _window(meta: EventMeta) -> str:
    value = meta.get("window")
    return value if isinstance(value, str) else ""
