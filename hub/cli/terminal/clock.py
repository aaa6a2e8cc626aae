"""Instants as people read them: in the time of the place where they are, with its zone named once.

Owns: the form of a time of day and of a day, and of a span of time.
Must not: be used for what programs read; the API and every `--json` keep UTC.
"""

from __future__ import annotations

import time
from datetime import datetime

from hub.domain.wallclock import local, moment, respoken

_MINUTE, _HOUR = 60, 3600


class Clock:
    """Says instants one after the other; the first of them with the zone.

    Args:
        now: The present, epoch seconds; None = the machine's clock.
    """

    def __init__(self, now: float | None = None) -> None:
        self._now = now
        self._named = False

    @property
    def now(self) -> float:
        """Epoch seconds."""
        return time.time() if self._now is None else self._now

    def at(self, instant: float | str) -> str:
        """`15:07 CET`, on another day `24 Nov 15:07 CET`; from the second on without the zone."""
        named = f" {zone(local(instant))}" if not self._named else ""
        self._named = True
        return moment(instant, self.now) + named

    def said(self, text: str) -> str:
        """A text of hub's own, with its instants in the place's time."""
        return respoken(text, lambda at: self.at(at.timestamp()))


def zone(then: datetime | None = None) -> str:
    """The name of the place's zone at an instant."""
    return (then or local(time.time())).tzname() or "local time"


def span(seconds: float) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`."""
    whole = max(0, int(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE:02} s"
    return f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02} min"
