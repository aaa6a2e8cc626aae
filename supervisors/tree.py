"""A tree as plain data, for people and for machines.

Owns: the shape of the snapshot. Must not: hold a reference into the tree it describes.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs


@attrs.frozen
class Gauge:
    """What an actor shows of its inside."""

    depth: int = 0
    """Messages waiting."""
    peak: int = 0
    """The most that ever waited in this incarnation."""
    capacity: float = 0
    """How many may wait; 0 for a child without a mailbox."""
    dead_letters: int = 0
    """Casts lost, over all incarnations."""
    current: str | None = None
    """Type name of the message being handled."""
    blocked_in: str | None = None
    """Name of the actor it is calling or sending to right now."""


@attrs.frozen
class NodeInfo:
    """One member of the tree at one instant."""

    name: str
    path: str
    """Ids from the root down, joined by slashes."""
    kind: str
    """`worker` or `supervisor`."""
    state: str
    """`starting`, `running`, `stopping`, `stuck`, `restarting` or `stopped`."""
    generation: int
    """Which incarnation this is; 0 before the first."""
    restarts: int
    uptime: float
    """Seconds since this incarnation became ready; 0 when it is not."""
    depth: int = 0
    peak: int = 0
    capacity: float = 0
    dead_letters: int = 0
    current: str | None = None
    blocked_in: str | None = None
    children: tuple[NodeInfo, ...] = ()

    def walk(self) -> Iterator[NodeInfo]:
        """This node and all below it, parents first, in start order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def find(self, path: str) -> NodeInfo:
        """The node with this path, or with this name when only one node bears it.

        Raises:
            KeyError: No node, or more than one, answers to it.
        """
        nodes = list(self.walk())
        found = [node for node in nodes if node.path == path] or [node for node in nodes if node.name == path]
        if len(found) != 1:
            raise KeyError(f"{len(found)} members of the tree are called {path!r}")
        return found[0]
