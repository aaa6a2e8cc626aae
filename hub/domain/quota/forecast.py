"""When a quota window will be used up.

Owns: the forecast and its interval, and whether a wall is expected before the window begins anew.
Must not: read a meter, or decide what is done about a wall.

Theory of operation. Work comes in bursts, so what is used in a stretch of time is a sum of uneven parts: about
normal, with a mean of `rate` and a variance that grows with the time. Cut into equal stretches, the ledger tells
both. With `c` = variance by squared mean (minutes: how long the work takes to even out), `T` the minutes seen and
`t` the minutes to the wall, the relative error of `t` has the variance

    c * (1/t + 1/T)  +  the meter's own coarseness

where the first term is the unevenness still to come and the second that of the pace measured. A few stretches
tell `c` badly, so a usual one is weighed in, and the quantile is Student's. The interval is symmetric in the
logarithm: a wall is never expected before now. It holds 80 % of the outcomes; a test plays them through.

Tried and dropped: the last reading's own pace (a burst's pace, twice too early), exponential weights (no better
coverage, one more constant).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import attrs

from hub.domain.quota.burn import Burn, Rise
from hub.domain.quota.window import FULL

_LOOK_BACK = 120.0
"""Minutes of the past that say something of the pace to come."""
_STALE = 30.0
"""Minutes after which a reading says nothing of the pace any more: nobody may be at work."""
_QUIET = 30.0
"""Minutes without a rise after which a window counts as idle."""
_MIN_EDGES = 4
_MAX_STRETCHES = 10
_MIN_STRETCHES = 3
_EDGES_A_STRETCH = 3
_USUAL = 4.0
"""The usual `c`, in minutes."""
_USUAL_WEIGHT = 3
"""How many stretches it counts for."""
_Z = 1.2815515655446004
"""The normal distribution's 90 % quantile: 80 % lie between it and its negative."""


class Outlook(StrEnum):
    """What is known of a window's pace."""

    ACCUMULATING = "accumulating"
    """Too little was seen: no pace and no time is told."""
    IDLE = "idle"
    """Readings come, and nothing is used."""
    READY = "ready"
    STALE = "stale"
    """The last reading is too old to tell a pace."""


@attrs.frozen
class Forecast:
    """The forecast at one moment.

    Attributes:
        outlook: Whether there is one.
        rate: Per mille a minute; None unless it is known.
        eta: Minutes from now to the wall; None unless `ready`.
        low: The wall is nearer than this in one case of ten; minutes.
        high: The wall is farther than this in one case of ten; minutes.
    """

    outlook: Outlook
    rate: float | None = None
    eta: float | None = None
    low: float | None = None
    high: float | None = None


def forecast(burn: Burn, now: float) -> Forecast:
    """The forecast for a window as its ledger stands, for the moment `now` (epoch seconds)."""
    age = (now - burn.last.at) / 60
    if age > _STALE:
        return Forecast(Outlook.STALE)
    end = burn.last.at / 60
    edges = [Rise(e.at / 60, e.used) for e in burn.edges if e.at / 60 >= end - _LOOK_BACK]
    if not edges:
        quiet = end - burn.since / 60 >= _QUIET
        return Forecast(Outlook.IDLE, rate=0.0) if quiet else Forecast(Outlook.ACCUMULATING)
    seen = end - edges[0].at
    if len(edges) < _MIN_EDGES or seen <= 0:
        return Forecast(Outlook.ACCUMULATING)
    return _reckoned(burn, edges, end, seen, age)


def lasts(found: Forecast, minutes: float | None) -> bool:
    """Whether the window is expected to last for `minutes`, in nine cases of ten; False where nothing is known."""
    if minutes is None:
        return False
    if found.outlook is Outlook.IDLE:
        return True
    return found.low is not None and found.low > minutes


def _reckoned(burn: Burn, edges: Sequence[Rise], end: float, seen: float, age: float) -> Forecast:
    gain = edges[-1].used - edges[0].used
    # The figure shown is up to a step old; what was used since its last rise is half a step, if the pace allows.
    rest = min(burn.step / 2, gain / seen * (end - edges[-1].at))
    rate = (gain + rest) / seen
    spread, stretches = _spread([*edges, Rise(end, edges[-1].used)], rest, seen, rate)
    if seen < spread:
        return Forecast(Outlook.ACCUMULATING)  # the pace is not known to within its own size
    left = max(FULL - burn.last.used_permille - burn.step / 2, 0.0)
    if left == 0:
        return Forecast(Outlook.READY, rate, 0.0, 0.0, 0.0)
    eta = left / rate
    coarse = burn.step**2 * (1 / 12 / left**2 + 1 / 6 / gain**2)
    width = _student(stretches - 1 + _USUAL_WEIGHT) * math.sqrt(spread * (1 / eta + 1 / seen) + coarse)
    # No interval is wider than this factor: beyond it a float would end, and nobody would be wiser.
    factor = math.exp(min(width, 10.0))
    low, high = (max(value - age, 0.0) for value in (eta / factor, eta * factor))
    return Forecast(Outlook.READY, rate, max(eta - age, 0.0), low, high)


def _spread(points: Sequence[Rise], rest: float, seen: float, rate: float) -> tuple[float, int]:
    """`c` in minutes, the usual one weighed in, and in how many stretches it was measured."""
    stretches = max(_MIN_STRETCHES, min(_MAX_STRETCHES, (len(points) - 1) // _EDGES_A_STRETCH))
    length = seen / stretches
    start = points[0].at
    marks = [_used_at(points, rest, start + length * number) for number in range(stretches + 1)]
    parts = [after - before for before, after in pairwise(marks)]
    mean = sum(parts) / stretches
    squares = sum((part - mean) ** 2 for part in parts)
    own = squares / length / rate**2
    return (own + _USUAL * _USUAL_WEIGHT) / (stretches - 1 + _USUAL_WEIGHT), stretches


def _used_at(points: Sequence[Rise], rest: float, at: float) -> float:
    """What was used by a moment, as a line through the edges; the last one, at the end, counts `rest` more."""
    last = len(points) - 1
    for number in range(1, last):
        if at <= points[number].at:
            return _between(points[number - 1], points[number], points[number].used, at)
    return _between(points[last - 1], points[last], points[last].used + rest, at)


def _between(left: Rise, right: Rise, used: float, at: float) -> float:
    if right.at <= left.at:
        return used
    return left.used + (used - left.used) * min(1.0, (at - left.at) / (right.at - left.at))


def _student(freedom: int) -> float:
    """Student's 90 % quantile, by Cornish and Fisher's expansion: within 0.5 % from five degrees on."""
    z = _Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    return z + first / freedom + second / freedom**2
