"""What the daemon shows of itself: breakers, redactions, contract, audit head, supervision tree.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.meta import UNSET, AsNamed, Timestamp, Unset
from hub.domain.breaker import BreakerState


@attrs.frozen(kw_only=True)
class Breaker:
    """One circuit breaker."""

    name: str
    state: BreakerState
    failures: int
    opened_at: Annotated[Timestamp, "Left out while it is closed."] | Unset = UNSET
    until: Annotated[Timestamp, "When it is tried again; left out while it is closed."] | Unset = UNSET


@attrs.frozen(kw_only=True)
class Redactions:
    """How many secrets of each kind were scrubbed this session: `<kind>:<count>` pairs."""

    summary: str


@attrs.frozen(kw_only=True)
class AuditHead:
    """The newest record of the audit chain."""

    seq: int
    hash: str
    bytes: int


@attrs.frozen(kw_only=True)
class TreeNode(AsNamed):
    """An actor or a supervisor, with what is below it.

    Attributes:
        path: Ids from the root down, joined by slashes.
        kind: `worker` or `supervisor`.
        state: `starting`, `running`, `stopping`, `stuck`, `restarting` or `stopped`.
        uptime: Seconds since this incarnation became ready.
        depth: Messages waiting; `peak` is the most that ever did, `capacity` how many may.
        dead_letters: Casts lost.
        current: The message being handled.
        blocked_in: The actor it waits for.
    """

    name: str
    path: str
    kind: str
    state: str
    generation: int
    restarts: int
    uptime: float
    depth: int
    peak: int
    capacity: int
    dead_letters: int
    current: str | None
    blocked_in: str | None
    children: list[TreeNode]
