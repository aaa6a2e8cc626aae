"""Fault injection, as part of the public API: what a tree survives is tested by breaking it.

Owns: how a fault is named and planted. Must not: cost a tree without faults more than one
comparison a message.

Each function takes the `Root` that `run_root` gives and a path (`"root/watch/breakers"`), or a name that only
one member bears.
A planted fault waits for its moment, in whatever incarnation that comes, and is used up by it.
"""

from __future__ import annotations

from supervisors.events import At, Faults, PlantedFault
from supervisors.root import Root


def _plant(root: Root, path: str, moment: At, fault: PlantedFault, times: int) -> None:
    full = root.tree().find(path).path
    if root.system.faults is None:
        root.system.faults = Faults()
    root.system.faults.plant(full, moment, fault, times)


def kill(root: Root, path: str) -> None:
    """Cancel a running member's scope: its exit is `killed`. KeyError when it is down."""
    root.life_at(path).kill("killed by fault injection")


def crash(root: Root, path: str, error: BaseException, *, at: At = At.MESSAGE, times: int = 1) -> None:
    """Raise `error` in an actor, at its next `times` moments of the kind `at`."""
    _plant(root, path, at, PlantedFault(error=error), times)


def delay(root: Root, path: str, seconds: float, *, at: At = At.MESSAGE, times: int = 1) -> None:
    """Hold an actor up, at its next `times` moments of the kind `at`."""
    _plant(root, path, at, PlantedFault(delay=seconds), times)


def drop(root: Root, path: str, *, times: int = 1) -> None:
    """Lose an actor's next `times` messages: a cast has no effect, a call is never answered."""
    _plant(root, path, At.MESSAGE, PlantedFault(drop=True), times)
