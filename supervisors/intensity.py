"""How many restarts are too many: a sliding window, one for each supervisor.

Owns: the count. Must not: read a clock (times come in as values).
"""

from __future__ import annotations

from collections import deque


class Intensity:
    """Allows `limit` restarts within any `period` seconds; the next one is refused.

    Args:
        limit: Restarts allowed within the window; 0 allows none.
        period: Length of the window in seconds; both ends belong to it, as in OTP.
    """

    __slots__ = ("_times", "limit", "period")

    def __init__(self, limit: int, period: float) -> None:
        self.limit = limit
        self.period = period
        self._times: deque[float] = deque()

    def allow(self, now: float) -> bool:
        """Count one restart; whether the window still allows it. Times must not go backwards."""
        times = self._times
        threshold = now - self.period
        while times and times[0] < threshold:
            times.popleft()
        times.append(now)
        return len(times) <= self.limit

    @property
    def recent(self) -> int:
        """Restarts in the window at the time of the last count."""
        return len(self._times)
