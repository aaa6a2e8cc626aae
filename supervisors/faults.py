"""Fault injection, as part of the public API: what a tree survives is tested by breaking it.

Owns: the faults planted in one tree, keyed by path. Must not: cost a tree without faults more than one
comparison a message.

Each function takes the `Root` that `run_root` gives and a path (`"root/watch/breakers"`), or a name that only
one member bears.
A planted fault waits for its moment, in whatever incarnation that comes, and is used up by it.
"""

from __future__ import annotations

from collections import defaultdict, deque

import attrs
import trio

from supervisors.events import At
from supervisors.root import Root


@attrs.frozen
class _Fault:
    error: BaseException | None = None
    delay: float = 0.0
    drop: bool = False


class Faults:
    """What is planted in one tree."""

    __slots__ = ("_planted",)

    def __init__(self) -> None:
        self._planted: defaultdict[tuple[str, At], deque[_Fault]] = defaultdict(deque)

    def plant(self, path: str, moment: At, fault: _Fault, times: int) -> None:
        """Let the next `times` moments of this kind go wrong."""
        self._planted[path, moment].extend([fault] * times)

    async def meet(self, path: str, moment: At) -> bool:
        """Suffer the next fault planted for this moment; True when the message is to be dropped."""
        planted = self._planted.get((path, moment))
        if not planted:
            return False
        fault = planted.popleft()
        await trio.sleep(fault.delay)
        if fault.error is not None:
            raise fault.error
        return fault.drop


def _plant(root: Root, path: str, moment: At, fault: _Fault, times: int) -> None:
    full = root.tree().find(path).path
    if root.system.faults is None:
        root.system.faults = Faults()
    root.system.faults.plant(full, moment, fault, times)


def kill(root: Root, path: str) -> None:
    """Cancel a running member's scope: its exit is `killed`. KeyError when it is down."""
    root.life_at(path).kill("killed by fault injection")


def crash(root: Root, path: str, error: BaseException, *, at: At = At.MESSAGE, times: int = 1) -> None:
    """Raise `error` in an actor, at its next `times` moments of the kind `at`."""
    _plant(root, path, at, _Fault(error=error), times)


def delay(root: Root, path: str, seconds: float, *, at: At = At.MESSAGE, times: int = 1) -> None:
    """Hold an actor up, at its next `times` moments of the kind `at`."""
    _plant(root, path, at, _Fault(delay=seconds), times)


def drop(root: Root, path: str, *, times: int = 1) -> None:
    """Lose an actor's next `times` messages: a cast has no effect, a call is never answered."""
    _plant(root, path, At.MESSAGE, _Fault(drop=True), times)
