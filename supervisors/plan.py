"""What a supervisor does about a child that ended: pure functions from values to steps.

Owns: OTP's rules (restart types, strategies, bystanders, auto_shutdown), and the count of restarts within a window.
Must not: import trio, read a clock (times come in as values).
Tests: tests/supervisors/test_plan.py, tests/supervisors/test_intensity.py
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence

import attrs

from supervisors.exits import Exit
from supervisors.spec import AutoShutdown, Restart, Strategy


@attrs.frozen
class ChildView:
    """What the rules need to know of a child."""

    id: Hashable
    restart: Restart
    significant: bool = False
    active: bool = True
    """Whether it runs, or is about to be started again."""


@attrs.frozen
class Stop:
    """Stop this child and wait until it is gone."""

    id: Hashable


@attrs.frozen
class Forget:
    """Drop the spec of this stopped child."""

    id: Hashable


@attrs.frozen
class Start:
    """Start this child and wait until it is ready."""

    id: Hashable


Step = Stop | Forget | Start


def restarts(restart: Restart, end: Exit) -> bool:
    """Whether a child of this restart type that ended so is started again."""
    return restart is Restart.PERMANENT or (restart is Restart.TRANSIENT and end.abnormal)


def restart_steps(strategy: Strategy, children: Sequence[ChildView], failed: Hashable) -> tuple[Step, ...]:
    """The steps, in order, that bring the child `failed` and those its strategy ties to it up again.

    Siblings are stopped in reverse start order, then everything is started in start order. A sibling that had
    been stopped
    by hand or had ended normally is started too (OTP does so); a temporary sibling is stopped and forgotten.

    Args:
        strategy: The supervisor's.
        children: All children in start order.
        failed: The child that ended, or whose restart failed; it does not run.
    """
    if strategy is Strategy.ONE_FOR_ONE:
        return (Start(failed),)
    first = 0
    if strategy is Strategy.REST_FOR_ONE:
        first = next(index for index, child in enumerate(children) if child.id == failed)
    group = children[first:]
    steps: list[Step] = []
    for child in reversed(group):
        if child.id == failed:
            continue
        if child.active:
            steps.append(Stop(child.id))
        if child.restart is Restart.TEMPORARY:
            steps.append(Forget(child.id))
    steps.extend(
        Start(child.id) for child in group if child.id == failed or child.restart is not Restart.TEMPORARY
    )
    return tuple(steps)


def ends_supervisor(auto_shutdown: AutoShutdown, ended: ChildView, siblings: Sequence[ChildView]) -> bool:
    """Whether the end of `ended`, which is not restarted, ends its supervisor.

    Args:
        auto_shutdown: The supervisor's.
        ended: The child, which ended by itself (never one stopped by hand or because of a sibling).
        siblings: The other children.
    """
    if auto_shutdown is AutoShutdown.NEVER or not ended.significant:
        return False
    if auto_shutdown is AutoShutdown.ANY_SIGNIFICANT:
        return True
    return not any(child.significant and child.active for child in siblings)


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
