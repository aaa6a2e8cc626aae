"""What the session has used and what was hidden in it, counted from its event log.

Owns: the token and cost counts of each dispatch and their sum, and the counts of redactions by kind.
Must not: know a price, or look at an agent's stream itself: only what entered the log is counted.

The counts are a fold over the log by rising id, and remember the last id: an event that is told again, because a
spool is read from its start or a sender repeats itself, has the id it had and is passed over. So the counts are the
same however often anything died.
"""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import attrs
import msgspec
import trio

from hub.domain.cost import Bill, Meter, Tokens, bill
from hub.domain.event import EventType, Record

_MARK = re.compile(rb"\[REDACTED:([a-z0-9-]+):[0-9a-f]{8}\]")


@attrs.define
class SessionUsage:
    """The counts of one session."""

    by_dispatch: dict[str, Meter] = attrs.field(factory=dict)
    redactions: Counter[str] = attrs.field(factory=Counter)
    upto: int = 0
    """The id of the last event whose figures were counted."""
    _marked: set[int] = attrs.field(factory=set)
    """The ids of the events whose markers were counted: hub's own come between an agent's in any order."""

    def clear(self) -> None:
        """Begin a new session."""
        self.by_dispatch.clear()
        self.redactions.clear()
        self._marked.clear()

    def feed(self, record: Record) -> None:
        """Count one record of the session's log; one that was counted is passed over."""
        self.count(record.id, record.msg, record.meta)

    def feed_all(self, records: Iterable[Record]) -> None:
        """The same for many, in the order of their ids."""
        for record in records:
            self.feed(record)

    def count(self, number: int, msg: str, meta: Mapping[str, object]) -> None:
        """The same for an event that has just been logged under the id `number`."""
        self.mark(number, msg, meta)
        if number <= self.upto:
            return
        self.upto = number
        if meta.get("type") == EventType.USAGE:
            self.by_dispatch.setdefault(str(meta.get("dispatchId", "")), Meter()).feed(meta)

    def mark(self, number: int, msg: str, meta: Mapping[str, object]) -> None:
        """Count the markers of the event with the id `number`, once."""
        found = _MARK.findall(msg.encode("utf-8", "replace") + msgspec.json.encode(meta))
        if found and number not in self._marked:
            self._marked.add(number)
            self.redactions.update(kind.decode() for kind in found)

    def tokens(self) -> Tokens:
        """The session's sum."""
        return sum((meter.tokens for meter in self.by_dispatch.values()), Tokens())

    async def bill(self) -> Bill:
        """The session's cost. The list of prices is loaded, beside everything else, when it is first needed."""
        meters = [copy.deepcopy(meter) for meter in self.by_dispatch.values()]
        if not any(meter.open() for meter in meters):
            return bill(meters, lambda _: None)
        from hub.io.models.prices import price  # noqa: PLC0415  # heavy, and most sessions need none

        return await trio.to_thread.run_sync(bill, meters, price)
