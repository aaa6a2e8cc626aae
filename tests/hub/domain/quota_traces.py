"""Made-up work against a quota: bursts, pauses, top-ups; and a meter on it: coarse, polled at odd times, stale.

Owns: the family of traces on which the forecast is played through.
Must not: know the forecast.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import attrs

from hub.domain.quota.window import FULL, QuotaReading

MINUTE = 60.0


@attrs.frozen
class Trace:
    """What was truly used: (minute, per mille), rising but for one top-up; the last is the wall."""

    points: list[tuple[float, float]]
    topped_up_at: float

    @property
    def wall(self) -> float:
        return self.points[-1][0]


def trace(chance: random.Random) -> Trace:
    """Work in turns of uneven size, in bursts with pauses between; one in four is topped up once."""
    pace = math.exp(chance.uniform(math.log(1.5), math.log(25)))
    busy_for, pause_for = chance.uniform(5, 25), chance.uniform(0.5, 8) if chance.random() < 0.7 else 0.0
    turn, uneven = chance.uniform(0.3, 1.5), chance.uniform(0.5, 1.2)
    sigma = math.sqrt(math.log(1 + uneven**2))
    topped, at = chance.random() >= 0.25, 0.0
    now, used = 0.0, chance.uniform(0, 400)
    points, busy = [(now, used)], chance.expovariate(1 / busy_for)
    while used < FULL:
        step = chance.expovariate(1 / turn)
        if pause_for and busy < step:
            now += busy + chance.expovariate(1 / pause_for)
            busy = chance.expovariate(1 / busy_for)
            continue
        busy -= step
        now += step
        used += pace * turn * math.exp(chance.gauss(-sigma * sigma / 2, sigma))
        if not topped and used > 600:
            used, topped, at = used - chance.uniform(150, 400), True, now
        points.append((now, used))
    return Trace(points, at)


def metered(made: Trace, chance: random.Random, upto: float) -> Iterator[QuotaReading]:
    """What a meter tells until a minute: whole percents as a rule, after turns or at polls, at times an old figure."""
    step, stale = chance.choice([10, 10, 1]), chance.choice([0, 0.2, 0.4])
    if chance.random() < 0.5:
        looks = [(at, used) for at, used in made.points if at <= upto][:: chance.choice([1, 3])]
    else:
        looks = list(_polled(made, chance.choice([1, 2, 5]), upto))
    shown = None
    for at, used in looks:
        if shown is None or chance.random() >= stale:
            shown = min(int(used // step * step), FULL)
        yield QuotaReading("claude", "work", "five_hour", shown, at=at * MINUTE)


def _polled(made: Trace, every: int, upto: float) -> Iterator[tuple[float, float]]:
    place, at = 0, 0.0
    while at <= upto:
        while place + 1 < len(made.points) and made.points[place + 1][0] <= at:
            place += 1
        yield at, made.points[place][1]
        at += every
