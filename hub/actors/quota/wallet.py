"""The wallet's entries, of what is known of each account.

Owns: the figures of an entry, in the unit of its window.
Must not: make up a number: what nobody told is None, and where a number comes from stands by it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.api.quota import Entry, Window
from hub.domain.quota.forecast import Outlook
from hub.domain.quota.spending import NOTHING, Spending
from hub.domain.quota.wallet import Prospect, binding
from hub.domain.quota.window import FULL
from hub.domain.wallclock import iso

PERCENT = 100
_UNKNOWN = Window(
    window="",
    remaining=None,
    total=None,
    unit="",
    fraction_used=None,
    resets_at=None,
    source="none",
    read_at=None,
    age_seconds=None,
    burn_per_min=None,
    eta_minutes=None,
    eta_low_minutes=None,
    eta_high_minutes=None,
    forecast=Outlook.ACCUMULATING,
)


def entry(
    provider: str, account: str, prospects: Sequence[Prospect], now: float, spending: Spending = NOTHING
) -> Entry:
    """The wallet entry of one account: its wall's figures, under `windows` those of every window, and today's tokens."""
    tokens, elsewhere = spending.today(now)
    wall = window(binding(prospects, now), now) if prospects else _UNKNOWN
    return Entry(
        provider=provider,
        account=account,
        tokens_today=tokens,
        tokens_elsewhere=elsewhere,
        windows=[window(each, now) for each in sorted(prospects, key=lambda p: p.reading.window)],
        **attrs.asdict(wall, recurse=False),
    )


def window(p: Prospect, now: float) -> Window:
    """One window's figures, in its own unit: percent, or tokens where the whole is known."""
    total = p.cap or PERCENT
    used, found = p.reading.used_permille, p.forecast
    rate = found.rate
    return Window(
        window=p.reading.window,
        remaining=max(0, (FULL - used) * total // FULL),
        total=total,
        unit="tokens" if p.cap else "percent",
        fraction_used=used / FULL,
        resets_at=None if p.reading.resets_at is None else iso(p.reading.resets_at),
        source=p.reading.source,
        read_at=iso(p.reading.at),
        age_seconds=max(0, round(now - p.reading.at)),
        burn_per_min=None if rate is None else round(rate * total / FULL, 3),
        eta_minutes=_minutes(found.eta),
        eta_low_minutes=_minutes(found.low),
        eta_high_minutes=_minutes(found.high),
        forecast=found.outlook,
    )


def _minutes(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
