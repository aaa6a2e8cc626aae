"""Stopping an agent in order: SIGINT, SIGTERM, SIGKILL, each with its own grace.

Owns: the order, the graces, and what a second request to stop changes.
Must not: send signals or read a clock (its caller does), or import anything outside the standard library (the
runner starts with `-I -S`).
"""

from __future__ import annotations

import signal

DEFAULT_GRACES = (5.0, 5.0, 2.0)


def read_graces(value: object) -> tuple[float, float, float]:
    """Three numbers of seconds from JSON; the defaults where they are missing or no numbers."""
    graces = list(DEFAULT_GRACES)
    if isinstance(value, list):
        for place, one in enumerate(value[:3]):
            if isinstance(one, (int, float)) and one >= 0:
                graces[place] = float(one)
    return graces[0], graces[1], graces[2]


class Ladder:
    """The steps of one stop. A grace of 0 skips its signal; SIGKILL is never skipped.

    Attributes:
        reason: Why it was begun; "" before that. The first reason stands.
    """

    def __init__(self) -> None:
        self.reason = ""
        self._steps: list[tuple[int, float]] = []

    def begin(self, reason: str, graces: tuple[float, float, float]) -> bool:
        """Start, or make a running stop shorter. True when the next step is due at once."""
        interrupt, terminate, kill = graces
        steps = [(signal.SIGINT, interrupt), (signal.SIGTERM, terminate), (signal.SIGKILL, kill)]
        wanted = [(int(number), grace) for number, grace in steps if grace > 0 or number == signal.SIGKILL]
        if not self.reason:
            self.reason = reason
            self._steps = wanted
            return True
        # A later request never begins anew: it drops the steps it does not want, and shortens the others.
        limits = dict(wanted)
        before = len(self._steps)
        self._steps = [
            (number, min(grace, limits[number])) for number, grace in self._steps if number in limits
        ]
        return len(self._steps) < before

    def step(self) -> tuple[int, float] | None:
        """The next signal and how long to wait after it; None when all were sent."""
        return self._steps.pop(0) if self._steps else None
