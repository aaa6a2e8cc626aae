"""Tokens and cost, counted from the agents' own usage events.

Owns: the counts of each dispatch and their sum.
Must not: price anything, or count an event twice when a stream is read from its start again.
"""

from __future__ import annotations

import attrs

from hub.domain.event import Event, EventType


@attrs.define
class Tally:
    """Tokens and cost of one dispatch. A cumulative figure replaces, a step's figure adds."""

    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    cost_micros: int = 0

    def feed(self, event: Event) -> None:
        """Count a usage event; others are ignored."""
        if event.type is not EventType.USAGE:
            return
        meta = event.meta
        base = Tally() if meta.get("cumulative") else self
        self.tokens_in = base.tokens_in + int(meta.get("tokensIn") or 0)
        self.tokens_out = base.tokens_out + int(meta.get("tokensOut") or 0)
        self.cached_in = base.cached_in + int(meta.get("cachedIn") or 0)
        self.cost_micros = base.cost_micros + int(meta.get("costUsdMicros") or 0)


@attrs.define
class Tallies:
    """The counts of every dispatch of the session; rebuilt from the log, so nothing is counted twice."""

    by_dispatch: dict[str, Tally] = attrs.field(factory=dict)

    def of(self, dispatch_id: str, *, fresh: bool) -> Tally:
        """The dispatch's tally; a fresh one when its stream is read from the start again."""
        if fresh or dispatch_id not in self.by_dispatch:
            self.by_dispatch[dispatch_id] = Tally()
        return self.by_dispatch[dispatch_id]

    def total(self) -> Tally:
        """The session's sum."""
        total = Tally()
        for tally in self.by_dispatch.values():
            total.tokens_in += tally.tokens_in
            total.tokens_out += tally.tokens_out
            total.cached_in += tally.cached_in
            total.cost_micros += tally.cost_micros
        return total
