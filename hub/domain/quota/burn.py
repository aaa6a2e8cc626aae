"""The burn-rate ledger of one quota window: what its meter showed, reduced to the moments it moved.

Owns: `Burn`, how a reading is added to it, and what becomes of it when the clock is set back.
Must not: forecast (`hub.domain.quota.forecast` does), or ask anybody.

Theory of operation. Meters are coarse (whole percents), polled at odd moments and sometimes stale: an answer may
repeat an older figure. Only the *edges*, the moments at which the figure rose, say something about the pace; the
time of an edge lies between two readings and is taken as their middle. So any number of readings without a rise
costs no memory and moves nothing but the time until which the figure is known. A figure that falls is a top-up or
a window begun anew: the pace before it says nothing of what is left, so the ledger starts again there.
"""

from __future__ import annotations

import attrs

from hub.domain.quota.window import LIMIT, NEARLY, QuotaReading

MAX_EDGES = 240
"""Edges kept; the oldest go first."""
PERCENT = 10
"""Per mille in a step of a meter that tells whole percents."""


@attrs.frozen
class Rise:
    """A moment at which the figure rose.

    Attributes:
        at: When, epoch seconds.
        used: What the meter showed from then on, per mille.
    """

    at: float
    used: int


@attrs.frozen
class Burn:
    """What is known of one window.

    Attributes:
        last: The newest reading.
        since: When this stretch without a fall began, epoch seconds.
        edges: The rises since then, oldest first.
        step: The meter's resolution, per mille: 10 until a figure shows that it is finer.
        first: What the meter showed when this stretch began, per mille; None in a ledger that did not note it.
    """

    last: QuotaReading
    since: float
    edges: tuple[Rise, ...] = ()
    step: int = PERCENT
    first: int | None = None

    @property
    def course(self) -> tuple[Rise, ...]:
        """Where this stretch began, as far as that is known, and each rise since."""
        return self.edges if self.first is None else (Rise(self.since, self.first), *self.edges)


def begin(reading: QuotaReading) -> Burn:
    """The ledger with its first reading."""
    return Burn(reading, reading.at, step=_step(PERCENT, reading), first=reading.used_permille)


def observe(burn: Burn, reading: QuotaReading) -> Burn:
    """The ledger with one more reading of the same window; one that tells nothing newer changes nothing.

    So the same readings may be told again after a crash, and a late answer of a slow source does no harm.
    """
    before = burn.last
    if (reading.at, reading.used_permille) <= (before.at, before.used_permille):
        return burn
    over = before.resets_at is not None and reading.at >= before.resets_at
    if before.source == LIMIT and not over and NEARLY <= reading.used_permille < before.used_permille:
        return burn  # a meter that lags behind the limit that was met: whoever believed it would run into it again
    fallen = before.used_permille - reading.used_permille
    if not over and 0 < fallen <= PERCENT:
        # Two sources round the same figure each in its own way.
        reading = attrs.evolve(reading, used_permille=before.used_permille)
    if over or reading.used_permille < before.used_permille:  # begun anew, or topped up
        return begin(reading)
    if reading.resets_at is None:
        reading = attrs.evolve(reading, resets_at=before.resets_at)
    edges = burn.edges
    if reading.used_permille > before.used_permille:
        edges = (*edges, Rise((before.at + reading.at) / 2, reading.used_permille))[-MAX_EDGES:]
    return Burn(reading, burn.since, edges, _step(burn.step, reading), burn.first)


def set_back(burn: Burn, now: float) -> Burn:
    """The ledger when the clock was set to a time before its last reading: as much older, or nothing read were newer.

    A reset is an instant that its vendor told: it stays.
    """
    ahead = burn.last.at - now
    if ahead <= 0:
        return burn
    last = attrs.evolve(burn.last, at=now)
    edges = tuple(Rise(edge.at - ahead, edge.used) for edge in burn.edges)
    return attrs.evolve(burn, last=last, since=burn.since - ahead, edges=edges)


def _step(known: int, reading: QuotaReading) -> int:
    return 1 if reading.used_permille % PERCENT else known
