"""What the audit log is asked and given.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hub.api import observability as api
from hub.api.history import HistoryEntry
from supervisors import Call


@attrs.frozen
class AuditEntry:
    """One record to append. A `key` seen before is skipped: the sender may repeat itself after a crash."""

    event: str
    data: Mapping[str, object]
    key: str = ""

    @property
    def recorded(self) -> dict[str, object]:
        """What the log has of it."""
        return {**self.data, "key": self.key} if self.key else dict(self.data)


@attrs.frozen
class AuditAppend(Call[api.AuditHead]):
    """Append in order, durably. Answers the new head."""

    entries: Sequence[AuditEntry]


@attrs.frozen
class GetAuditHead(Call[api.AuditHead]):
    """Answers where the chain ends, or where it ended with the record `seq`, if it has that."""

    seq: int = -1


@attrs.frozen
class AuditIntact(Call[bool]):
    """Answers whether the chain on the disk is whole up to its newest record: what was judged before is not again."""


@attrs.frozen
class AuditLastEvent(Call[int]):
    """Answers the highest event id that is on the audit log; 0 when there is none."""


@attrs.frozen
class AuditHistory(Call[list[HistoryEntry]]):
    """Answers the newest `limit` history entries, oldest first."""

    limit: int = 1000
    before: int | None = None
    """Only records of a lower number."""
    event: str = ""
    """Only those of this event; "" = of every one."""
    session_id: str = ""
    """Only those of this session; "" = of every one."""
    handoffs: bool = False
    """Whether all older handoffs come before them."""


AuditInbox = AuditAppend | GetAuditHead | AuditHistory | AuditIntact | AuditLastEvent
