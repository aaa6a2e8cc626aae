"""The quota ledger as it is kept: every window's burn, every account's spending, and how far the log was read.

Owns: `.hub/quota.json` and its form.
Must not: decide what a reading means (`hub.domain.quota.burn` does), or wait for anything.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import attrs

from hub.domain.event import Event, EventType, Record
from hub.domain.meta import EventMeta
from hub.domain.quota.burn import Burn, begin, observe, set_back
from hub.domain.quota.elsewhere import Elsewhere, Growth
from hub.domain.quota.spending import NOTHING, Spender, Spending, spend, spend_elsewhere, spent
from hub.domain.quota.window import LIMIT, QuotaReading, limit_of, reading_of
from hub.io.records.store import RecordForm, as_named

_WINDOWS = 200
"""Windows kept, the newest: their names come from agents."""
Key = tuple[str, str, str]
Owner = tuple[str, str]


@attrs.define
class QuotaStore:
    """Everything the quota actor knows; a fold over the event log and the polls."""

    cursor: int = -1
    """The id of the last event that was folded; -1 before the first look at the log."""
    burns: dict[Key, Burn] = attrs.field(factory=dict)
    spendings: dict[Owner, Spending] = attrs.field(factory=dict)
    warned: dict[Key, tuple[float, int]] = attrs.field(factory=dict)
    """The gravest warning given for a window, with the reset it was given for."""
    elsewhere: Elsewhere = attrs.field(factory=Elsewhere)
    """How far the sessions were counted that hub did not start; kept with the sums, so that neither is ever ahead."""

    def take(self, record: Record, cap: Callable[[str], int]) -> QuotaReading | None:
        """Fold one record of the log; the reading it brought, if that told anything new.

        `cap` tells the declared cap of a provider, 0 for none. A record that was folded before is passed over.
        """
        if record.id <= self.cursor:
            return None
        self.cursor = record.id
        meta = record.meta
        provider, account = meta.get("provider"), meta.get("account")
        if provider is None or account is None:
            return None
        at = _epoch(meta.get("at"))
        reading: QuotaReading | None
        match meta.get("type"):
            case EventType.USAGE:
                reading = self._spend(meta, (provider, account), at, cap(provider))
            case EventType.QUOTA:
                reading = reading_of(Event(EventType.QUOTA, "", meta), provider, account, at)
            case EventType.RESULT:
                if not (meta.get("isError") or meta.get("interrupted")):
                    self._worked((provider, account))
                return None
            case _:
                known = [burn.last for key, burn in self.burns.items() if key[:2] == (provider, account)]
                reading = limit_of(meta, known, provider, account, at)
        return reading if reading is not None and self.note(reading) else None

    def take_elsewhere(self, growth: Growth, cap: int, now: float) -> QuotaReading | None:
        """Count what a session spent that hub did not start; the reading that makes, if it told anything new.

        `cap` is the declared cap of its provider, 0 for none. A growth that was counted before changes nothing.
        """
        tokens, at = self.elsewhere.count(growth, now)
        if not tokens:
            return None
        owner = (growth.provider, growth.account)
        found = self.spendings[owner] = spend_elsewhere(self.spendings.get(owner, NOTHING), tokens, at)
        reading = spent(found, owner, cap, now) if cap else None
        return reading if reading is not None and self.note(reading) else None

    def note(self, reading: QuotaReading) -> bool:
        """Take one reading; whether it changed the ledger."""
        known = self.burns.get(reading.key)
        burn = begin(reading) if known is None else observe(known, reading)
        if burn == known:
            return False
        self.burns[reading.key] = burn
        if len(self.burns) > _WINDOWS:
            oldest = min(self.burns, key=lambda key: self.burns[key].last.at)
            del self.burns[oldest]
            self.warned.pop(oldest, None)
        return True

    def set_back(self, now: float) -> None:
        """Bring what was read by a clock that was ahead back to `now`."""
        for key, burn in self.burns.items():
            if burn.last.at > now:
                moved = self.burns[key] = set_back(burn, now)
                since, grave = self.warned.get(key, (0.0, 0))
                if since == burn.since:
                    self.warned[key] = (moved.since, grave)

    def _worked(self, owner: Owner) -> None:
        """An agent of the account came to a good end: a limit that was met before is over, whatever reset was told."""
        for key in [
            key for key, burn in self.burns.items() if key[:2] == owner and burn.last.source == LIMIT
        ]:
            del self.burns[key]
            self.warned.pop(key, None)

    def _spend(self, meta: EventMeta, owner: Owner, at: float, cap: int) -> QuotaReading | None:
        tokens = sum(n for n in (meta.get("tokensIn"), meta.get("tokensOut")) if type(n) is int and n > 0)
        found = self.spendings[owner] = spend(
            self.spendings.get(owner, Spending()),
            tokens,
            at,
            Spender(meta.get("sessionId", ""), meta.get("model", "")),
        )
        return spent(found, owner, cap, at) if cap else None

    def kept(self) -> KeptQuota:
        """What is written down: a copy that no later event changes."""
        return KeptQuota(
            self.cursor,
            tuple(self.burns.values()),
            tuple(self.spendings.items()),
            tuple(self.warned.items()),
            Elsewhere({**self.elsewhere.places}, {**self.elsewhere.answers}),
        )


@attrs.frozen
class KeptQuota:
    """The record."""

    cursor: int = -1
    burns: tuple[Burn, ...] = ()
    spendings: tuple[tuple[Owner, Spending], ...] = ()
    warned: tuple[tuple[Key, tuple[float, int]], ...] = ()
    elsewhere: Elsewhere = attrs.field(factory=Elsewhere)

    def store(self) -> QuotaStore:
        """What was written down."""
        burns = {burn.last.key: burn for burn in self.burns}
        return QuotaStore(self.cursor, burns, dict(self.spendings), dict(self.warned), self.elsewhere)


FORM = RecordForm(KeptQuota, "The quota ledger", older={0: lambda wire: as_named(wire, KeptQuota)})


def _epoch(text: object) -> float:
    """Epoch seconds of a record's full timestamp; 0 where it has none."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return 0.0
