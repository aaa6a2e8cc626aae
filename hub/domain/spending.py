"""Tokens spent in a day against a cap the user declared: the last resort where a provider tells nothing.

Owns: `Spending`, how usage is counted into it, and the reading that a declared cap makes of it.
Must not: read an event log, or know a clock.

A declared cap counts the tokens hub saw, in and out, cached ones included, from midnight to midnight UTC. What
the same account spent elsewhere is not in it; the reading says `declared` for that reason.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.domain.quota import FULL, QuotaReading

DAY = 86_400
WINDOW = "day"
SOURCE = "declared"
_REMEMBERED = 32
"""Dispatches whose running total is kept: only those that run can tell a greater one."""


@attrs.frozen
class Spending:
    """What one account has spent.

    Attributes:
        day: Days since the epoch, UTC.
        tokens: Spent on that day.
        at: When usage was last told, epoch seconds.
        totals: The newest running total of each dispatch that tells one.
    """

    day: int = 0
    tokens: int = 0
    at: float = 0.0
    totals: Mapping[str, int] = attrs.field(factory=dict)


def spend(
    spending: Spending, tokens: int, at: float, dispatch: str = "", *, cumulative: bool = False
) -> Spending:
    """Count one usage event of `tokens`; with `cumulative` they are the running total of the `dispatch`."""
    totals = dict(spending.totals)
    fresh = tokens
    if cumulative:
        fresh = max(0, tokens - totals.pop(dispatch, 0))
        totals[dispatch] = tokens
        totals = dict(list(totals.items())[-_REMEMBERED:])
    day = int(at // DAY)
    before = spending.tokens if day == spending.day else 0
    return Spending(day, before + fresh, at, totals)


def spent(spending: Spending, owner: tuple[str, str], cap: int, now: float) -> QuotaReading:
    """How much of the `owner`'s declared cap is used at the moment `now`; nothing, where none of the day was seen."""
    today = spending.day == int(now // DAY)
    tokens = spending.tokens if today else 0
    return QuotaReading(
        *owner,
        WINDOW,
        min(tokens * FULL // cap, 10 * FULL),
        float((int(now // DAY) + 1) * DAY),
        SOURCE,
        spending.at if today else now,
    )
