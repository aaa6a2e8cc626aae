"""The timeouts of calls, without a cancel scope for each.

Owns: when a reply that did not come is given up. Must not: give one up early; keep one that has come.

A cancel scope costs more than the rest of a call that waits in no queue, so the deadlines of one tree share a timer: replies
are filed by the millisecond in which they are due, taken out when they are set, and failed when their time has come.
"""

from __future__ import annotations

import heapq
import math

import trio

from supervisors.call import Reply

PER_SECOND = 1000
"""How finely deadlines are told apart: a call ends at most a millisecond late, never early."""


class Deadlines:
    """The timer of one tree: `run` must be running for replies to be given up."""

    __slots__ = ("_closed", "_due", "_filed", "_scope")

    def __init__(self) -> None:
        self._filed: dict[int, dict[Reply, str]] = {}
        self._due: list[int] = []
        self._closed = False
        self._scope = trio.CancelScope(shield=True)

    def add(self, reply: Reply, deadline: float, name: str) -> None:
        """Give the reply of the actor of this name up at a time of Trio's clock; never if it is infinite."""
        if deadline == math.inf or reply.done:
            return
        due = math.ceil(deadline * PER_SECOND)
        filed = self._filed.get(due)
        if filed is None:
            self._forget_answered()
            filed = self._filed[due] = {}
            heapq.heappush(self._due, due)
            self._scope.deadline = min(self._scope.deadline, due / PER_SECOND)
        filed[reply] = name
        reply.filed = filed

    async def run(self) -> None:
        """Give up what is due, until closed. Shielded: a tree that stops in order still makes calls."""
        while not self._closed:
            with self._scope:
                await trio.sleep_forever()
            self._expire(trio.current_time())
            deadline = self._due[0] / PER_SECOND if self._due else math.inf
            self._scope = trio.CancelScope(shield=True, deadline=deadline)

    def close(self) -> None:
        """End `run`. Idempotent."""
        self._closed = True
        self._scope.cancel(reason="the tree is gone")

    def _forget_answered(self) -> None:
        """The first of them, where all their replies have come: thousands at once held everybody up for 5 ms."""
        while self._due and not self._filed[self._due[0]]:
            del self._filed[heapq.heappop(self._due)]

    def _expire(self, now: float) -> None:
        while self._due and self._due[0] / PER_SECOND <= now:
            for reply, name in list(self._filed.pop(heapq.heappop(self._due)).items()):
                reply.fail(trio.TooSlowError(f"{name} did not answer in time"))
        self._forget_answered()
