"""What the daemon shows of itself: breakers, redactions, contract, audit head, supervision tree.

Owns: what these take and answer.
Must not: know a route.
"""

from __future__ import annotations

from typing import Annotated

import attrs

from hub.api.meta import UNSET, Meta, Timestamp, Unset
from hub.domain.breaker import BreakerState


@attrs.frozen(kw_only=True)
class Breaker:
    """One circuit breaker."""

    name: str
    state: BreakerState
    failures: int
    opened_at: Annotated[Timestamp, Meta(description="Left out while it is closed.")] | Unset = UNSET


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
