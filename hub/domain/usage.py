"""What a session's log counts up to: the tokens and the cost of each dispatch, and the secrets that were hidden.

Owns: `SessionUsage`, a fold over the log by id: an event that is told again has the id it had and is passed over, so the
counts are the same however often anything died.
Must not: know a price, or count what did not enter the log.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import attrs
import msgspec

from hub.domain.cost import Meter, Tokens
from hub.domain.event import EventType, Record
from hub.domain.meta import EventMeta

_MARK = re.compile(rb"\[REDACTED:([a-z0-9-]+):[0-9a-f]{8}\]")


@attrs.define
class SessionUsage:
    """The counts of one session."""

    by_dispatch: dict[str, Meter] = attrs.field(factory=dict)
    redactions: Counter[str] = attrs.field(factory=Counter)
    upto: int = 0
    """The id of the last event with figures; those come from agents alone, in the order of their ids."""
    _marked: set[int] = attrs.field(factory=set)
    """The ids of the events whose markers were counted: hub's own come between an agent's in any order."""

    def feed_all(self, records: Iterable[Record]) -> None:
        """Count records of the session's log, in the order of their ids; what was counted is passed over."""
        for record in records:
            self.count(record.id, record.msg, record.meta)

    def count(self, number: int, msg: str, meta: EventMeta) -> None:
        """Count what is in the log under the id `number`, once."""
        found = _MARK.findall(msg.encode("utf-8", "replace") + msgspec.json.encode(meta))
        if found and number not in self._marked:
            self._marked.add(number)
            self.redactions.update(kind.decode() for kind in found)
        if meta.get("type") == EventType.USAGE and number > self.upto:
            self.upto = number
            self.by_dispatch.setdefault(meta.get("dispatchId", ""), Meter()).feed(meta)

    def tokens(self) -> Tokens:
        """The session's sum."""
        return sum((meter.tokens for meter in self.by_dispatch.values()), Tokens())
