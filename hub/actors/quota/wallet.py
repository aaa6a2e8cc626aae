"""The wallet's entries, of what is known of each account.

Owns: the figures of an entry, in the unit of its window.
Must not: make up a number: what nobody told is None, and where a number comes from stands by it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from hub.actors.quota.store import Owner, QuotaStore
from hub.api.quota import Burned, Entry, MeteredWindow, MeterReading, Window
from hub.domain.config.reader import Config
from hub.domain.quota.burn import begin
from hub.domain.quota.forecast import Outlook
from hub.domain.quota.spending import DAY, NOTHING, Spending, spent
from hub.domain.quota.wallet import Prospect, binding, prospect
from hub.domain.quota.window import DECLARED, FULL, Standing, newest, standing
from hub.domain.wallclock import iso

PERCENT = 100
_RISES = 64
"""Moments of a window that are told."""
_FORGOTTEN = 86_400.0
"""Seconds after which a figure without a reset says nothing any more."""
_UNKNOWN = Window(
    window="",
    remaining=None,
    total=None,
    unit="",
    fraction_used=None,
    resets_at=None,
    source="none",
    read_at=None,
    age_seconds=None,
    burn_per_min=None,
    eta_minutes=None,
    eta_low_minutes=None,
    eta_high_minutes=None,
    forecast=Outlook.ACCUMULATING,
)


@attrs.frozen
class Figures:
    """What the ledger comes to at one moment, under the settings in force."""

    store: QuotaStore
    config: Config
    providers: Sequence[str]
    """All that there are, enabled or not."""
    now: float

    def prospects(self) -> dict[Owner, list[Prospect]]:
        """What is known of each account's windows."""
        found: dict[Owner, list[Prospect]] = {}
        for key, reading in newest((burn.last for burn in self.store.burns.values()), self.now).items():
            if reading.source == DECLARED or (
                reading.resets_at is None and self.now - reading.at > _FORGOTTEN
            ):
                continue
            found.setdefault(key[:2], []).append(prospect(self.store.burns[key], self.now))
        for owner in [*self.store.spendings, *found]:
            if declared := self._declared(owner):
                found[owner] = _believed([*found.get(owner, ()), declared])
        return found

    def _declared(self, owner: Owner) -> Prospect | None:
        """The cap in force against today's tokens: it may have been changed since they were counted."""
        cap, spending = self.cap(owner[0]), self.store.spendings.get(owner)
        if not cap or spending is None or not spending.today(self.now)[0]:
            return None
        reading = attrs.evolve(spent(spending, owner, cap, self.now), at=self.now)
        burn = self.store.burns.get(reading.key)
        known = burn if burn is not None and burn.last.source == DECLARED else begin(reading)
        return prospect(attrs.evolve(known, last=reading), self.now, cap)

    def standings(self) -> dict[Owner, Standing]:
        """How each account stands."""
        known = self.prospects()
        return {owner: standing(p.reading for p in prospects) for owner, prospects in known.items()}

    def wallet(self) -> list[Entry]:
        """Every account of every enabled provider."""
        known = self.prospects()
        owners = {
            (name, account.label): None
            for name in self.config.enabled_providers(self.providers)
            for account in self.config.accounts(name)
        }
        spendings = self.store.spendings
        return [
            entry(
                *owner,
                known.get(owner) or self._untouched(owner),
                self.now,
                spendings.get(owner, NOTHING),
            )
            for owner in owners
        ]

    def _untouched(self, owner: Owner) -> list[Prospect]:
        """A declared cap of which nothing was used today."""
        cap = self.cap(owner[0])
        return [prospect(begin(spent(NOTHING, owner, cap, self.now)), self.now, cap)] if cap else []

    def cap(self, provider: str) -> int:
        """The tokens a day that hub.toml declares; 0 for none."""
        return self.config.provider(provider).declared_cap or 0


def _believed(prospects: list[Prospect]) -> list[Prospect]:
    """A declared cap is the last resort, and counts where nothing else is known; once it is spent it always counts."""
    told = [p for p in prospects if p.reading.source != DECLARED or p.reading.used_permille >= FULL]
    return told or prospects


def entry(
    provider: str, account: str, prospects: Sequence[Prospect], now: float, spending: Spending = NOTHING
) -> Entry:
    """The wallet entry of one account: its wall's figures, under `windows` those of every window, and today's tokens."""
    tokens, elsewhere = spending.today(now)
    wall = window(binding(prospects, now), now) if prospects else _UNKNOWN
    return Entry(
        provider=provider,
        account=account,
        tokens_today=tokens,
        tokens_elsewhere=elsewhere,
        windows=[_metered(each, now, spending) for each in sorted(prospects, key=lambda p: p.reading.window)],
        **attrs.asdict(wall, recurse=False),
    )


def window(p: Prospect, now: float) -> Window:
    """One window's figures, in its own unit: percent, or tokens where the whole is known."""
    total = p.cap or PERCENT
    used, found = p.reading.used_permille, p.forecast
    rate = found.rate
    return Window(
        window=p.reading.window,
        remaining=max(0, (FULL - used) * total // FULL),
        total=total,
        unit="tokens" if p.cap else "percent",
        fraction_used=used / FULL,
        resets_at=None if p.reading.resets_at is None else iso(p.reading.resets_at),
        source=p.reading.source,
        read_at=iso(p.reading.at),
        age_seconds=max(0, round(now - p.reading.at)),
        burn_per_min=None if rate is None else round(rate * total / FULL, 3),
        eta_minutes=_minutes(found.eta),
        eta_low_minutes=_minutes(found.low),
        eta_high_minutes=_minutes(found.high),
        forecast=found.outlook,
    )


def _metered(p: Prospect, now: float, spending: Spending) -> MeteredWindow:
    """The same with how the meter came to stand there, and who spent what since it began."""
    rises = [MeterReading(at=iso(one.at), fraction_used=one.used / FULL) for one in p.course[-_RISES:]]
    since, spenders = spending.since(_began(p))
    return MeteredWindow(
        **attrs.asdict(window(p, now), recurse=False),
        rises=rises,
        burned=[Burned(session_id=by.session, model=by.model, tokens=tokens) for by, tokens in spenders],
        burned_since=iso(since),
    )


def _began(p: Prospect) -> float:
    """When the window began, as far as hub knows."""
    if p.reading.source == DECLARED and p.reading.resets_at is not None:
        return p.reading.resets_at - DAY
    return p.course[0].at if p.course else p.reading.at


def _minutes(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
