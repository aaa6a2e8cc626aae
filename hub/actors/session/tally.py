"""What the session has used and what was hidden in it, counted from its event log.

Owns: the token and cost counts of each dispatch and their sum, and the counts of redactions by kind.
Must not: price anything, or look at an agent's stream itself: only what entered the log is counted.

The counts are a fold over the log by rising id, and remember the last id: an event that is told again, because a
spool is read from its start or a sender repeats itself, has the id it had and is passed over. So the counts are the
same however often anything died.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

import attrs
import msgspec

from hub.domain.event import EventType, Record

_MARK = re.compile(rb"\[REDACTED:([a-z0-9-]+):[0-9a-f]{8}\]")


@attrs.define
class Tally:
    """Tokens and cost of one dispatch. A cumulative figure replaces, a step's figure adds."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    cost_micros: int = 0

    def feed(self, meta: Mapping[str, Any]) -> None:
        """Count the figures of a usage event."""
        base = Tally() if meta.get("cumulative") else self
        self.tokens_in = base.tokens_in + _count(meta.get("tokensIn"))
        self.tokens_out = base.tokens_out + _count(meta.get("tokensOut"))
        self.cached_in = base.cached_in + _count(meta.get("cachedIn"))
        self.cost_micros = base.cost_micros + _count(meta.get("costUsdMicros"))


@attrs.define
class Tallies:
    """The counts of one session."""

    by_dispatch: dict[str, Tally] = attrs.field(factory=dict)
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

    def count(self, number: int, msg: str, meta: Mapping[str, Any]) -> None:
        """The same for an event that has just been logged under the id `number`."""
        self.mark(number, msg, meta)
        if number <= self.upto:
            return
        self.upto = number
        if meta.get("type") == EventType.USAGE:
            self.by_dispatch.setdefault(str(meta.get("dispatchId", "")), Tally()).feed(meta)

    def mark(self, number: int, msg: str, meta: Mapping[str, Any]) -> None:
        """Count the markers of the event with the id `number`, once."""
        found = _MARK.findall(msg.encode("utf-8", "replace") + msgspec.json.encode(meta))
        if found and number not in self._marked:
            self._marked.add(number)
            self.redactions.update(kind.decode() for kind in found)

    def total(self) -> Tally:
        """The session's sum."""
        total = Tally()
        for tally in self.by_dispatch.values():
            total.tokens_in += tally.tokens_in
            total.tokens_out += tally.tokens_out
            total.cached_in += tally.cached_in
            total.cost_micros += tally.cost_micros
        return total


def _count(value: object) -> int:
    """A figure an agent told; what is no number counts for nothing."""
    return int(value) if isinstance(value, int | float) and value > 0 else 0
