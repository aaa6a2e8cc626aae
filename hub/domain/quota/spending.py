"""What an account has spent: in a day, against a cap the user declared, and by whom, hour by hour.

Owns: `Spending`, how usage is counted into it, who spent it since a moment, and the reading that a declared cap makes of it.
Must not: read an event log, or know a clock.

A declared cap counts the tokens hub saw, in and out, cached ones included, from midnight to midnight UTC: those of
its own agents, and those that other agents of the same account have on record on this machine. What was spent on
another machine is not in it; the reading says `declared` for that reason.
"""

from __future__ import annotations

from collections import Counter

import attrs

from hub.domain.quota.window import DECLARED, FULL, QuotaReading

DAY = 86_400
HOUR = 3600
WINDOW = "day"
_HOURS = 32 * 24
"""For how long it is known who spent what: no window is longer than a month."""
_PARTS = 2048


@attrs.frozen
class Spender:
    """Who spends: a session, with one model; both "" = agents that hub did not start."""

    session: str = ""
    model: str = ""


@attrs.frozen
class HourlySpend:
    """What one spender spent in one hour (counted since the epoch)."""

    hour: int
    by: Spender
    tokens: int


@attrs.frozen
class Spending:
    """What one account has spent.

    Attributes:
        day: Days since the epoch, UTC.
        tokens: Spent on that day.
        at: When usage was last told, epoch seconds.
        elsewhere: Those of `tokens` that agents spent which hub did not start.
        parts: Who spent what, by the hour, oldest first: of a month, and no more than the newest 2048.
    """

    day: int = 0
    tokens: int = 0
    at: float = 0.0
    elsewhere: int = 0
    parts: tuple[HourlySpend, ...] = ()

    def today(self, now: float) -> tuple[int, int]:
        """Tokens of the day that `now` is in, and how many of them were spent by agents that hub did not start."""
        return (self.tokens, self.elsewhere) if self.day == int(now // DAY) else (0, 0)

    def since(self, begin: float) -> tuple[float, list[tuple[Spender, int]]]:
        """Who spent how many tokens, the most first, from the hour on in which `begin` (epoch seconds) lies.

        With the moment since when that is known: later than `begin` where what was spent before is not kept.
        """
        found: Counter[Spender] = Counter()
        for part in self.parts:
            if part.hour >= begin // HOUR:
                found[part.by] += part.tokens
        known = float(self.parts[0].hour * HOUR) if self.parts else begin
        return max(begin, known), found.most_common()


NOTHING = Spending()
"""Of an account that nobody has used."""


def spend(spending: Spending, tokens: int, at: float, by: Spender = Spender()) -> Spending:
    """Count one usage event of `tokens`."""
    before, elsewhere = spending.today(at)
    parts = _with(spending.parts, HourlySpend(int(at // HOUR), by, tokens)) if tokens else spending.parts
    return Spending(int(at // DAY), before + tokens, at, elsewhere, parts)


def _with(parts: tuple[HourlySpend, ...], new: HourlySpend) -> tuple[HourlySpend, ...]:
    """The parts of a month with one more, which joins that of the same spender in the same hour."""
    for place in range(len(parts) - 1, -1, -1):
        old = parts[place]
        if old.hour != new.hour:
            break
        if old.by == new.by:
            joined = attrs.evolve(old, tokens=old.tokens + new.tokens)
            return (*parts[:place], joined, *parts[place + 1 :])
    kept = (part for part in parts if part.hour > new.hour - _HOURS)
    return (*kept, new)[-_PARTS:]


def spend_elsewhere(spending: Spending, tokens: int, at: float) -> Spending:
    """Count tokens of an agent that hub did not start."""
    found = spend(spending, tokens, at)
    return attrs.evolve(found, at=max(at, spending.at), elsewhere=found.elsewhere + tokens)


def spent(spending: Spending, owner: tuple[str, str], cap: int, now: float) -> QuotaReading:
    """How much of the `owner`'s declared cap is used at the moment `now`; nothing, where none of the day was seen."""
    tokens, _ = spending.today(now)
    return QuotaReading(
        *owner,
        WINDOW,
        min(tokens * FULL // cap, 10 * FULL),
        float((int(now // DAY) + 1) * DAY),
        DECLARED,
        spending.at if spending.day == int(now // DAY) else now,
    )
