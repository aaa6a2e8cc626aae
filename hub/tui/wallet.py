"""The quota page: what each account has left, how fast it goes, when the wall comes, and when it resets.

Owns: the lines of an account's windows, and the readings that the sparkline is drawn from.
Must not: forecast; the daemon does.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hub.domain.jsonvalue import JsonObject
from hub.domain.quota.spoken import OUTLOOKS, SOURCES, WINDOWS
from hub.domain.text.figures import span
from hub.tui.look import Look, moment, seconds_until
from hub.tui.page import Page
from hub.tui.rows import Row, Rows, row

if TYPE_CHECKING:
    from hub.api.quota import Entry, Window


_CELLS = 20
_SPARK = 16
_SOON = 30.0
"""Minutes to the wall that are shown as a warning."""
_KEPT = 64
"""Readings that are kept of each window."""
_AGAIN = 60.0
"""Seconds after which the page in sight asks again: its forecast moves with the clock."""

Key = tuple[str, str, str]


class Readings:
    """How full each window was, as the events told it."""

    def __init__(self) -> None:
        self._used: dict[Key, list[float]] = {}
        self._last = 0

    def take(self, records: Iterable[JsonObject]) -> None:
        """What was told since."""
        for record in records:
            meta = record.get("meta", {})
            if (
                record["id"] <= self._last
                or record["tag"] != "quota"
                or not isinstance(meta.get("used"), int)
            ):
                continue
            key = (str(meta.get("provider", "")), str(meta.get("account", "")), str(meta.get("window", "")))
            kept = self._used.setdefault(key, [])
            kept.append(meta["used"])
            del kept[:-_KEPT]
            self._last = record["id"]

    def burn(self, key: Key) -> list[float]:
        """What each reading was more than the one before; a reset is no burn."""
        used = self._used.get(key, [])
        return [max(0.0, after - before) for before, after in pairwise(used)]


class QuotaPage(Page):
    """The wallet."""

    NAME = "quota"
    ON = frozenset({"quota", "system", "handoff"})

    def __init__(self) -> None:
        super().__init__()
        self.readings = Readings()

    def on_mount(self) -> None:
        """A forecast moves with the clock; a page that nobody sees asks for nothing."""
        super().on_mount()
        self.set_interval(_AGAIN, self._again_in_sight)

    def _again_in_sight(self) -> None:
        if self.is_current:
            self.reload()

    async def load(self) -> None:
        """The wallet as it is."""
        from hub.api.quota import Entry

        found = await self.hub.daemon.get(list[Entry], "/api/quota/wallet")
        self.readings.take(self.hub.events)
        self.heading(f"Quota  times are {self.hub.zone}")
        self.query_one(Rows).show(rows_of(found, self.readings, self.now, self.look))


def rows_of(entries: Sequence[Entry], readings: Readings, now: float, look: Look) -> Iterator[Row]:
    """Every account whose figures are known, the nearest wall first; the others by name."""
    known = [one for one in entries if one.fraction_used is not None]
    for one in sorted(known, key=_urgency):
        name = f"{one.provider}/{one.account}"
        today = f"   {one.tokens_today:,} tokens today" if one.tokens_today else ""
        yield row((name, "bold"), (today, "dim"), key=name)
        for window in one.windows or [one]:
            yield from _window(window, readings.burn((one.provider, one.account, window.window)), now, look)
        yield row("")
    rest = [one for one in entries if one.fraction_used is None]
    if rest:
        yield row(("Nothing told yet", "head"))
        for one in rest:
            today = f"   {one.tokens_today:,} tokens today" if one.tokens_today else ""
            yield row((f"  {one.provider}/{one.account}", "dim"), (today, "dim"))


def _urgency(one: Entry) -> tuple[float, float]:
    return one.eta_minutes if one.eta_minutes is not None else float("inf"), -(one.fraction_used or 0)


def _window(window: Window, burn: Sequence[float], now: float, look: Look) -> Iterator[Row]:
    name = WINDOWS.get(window.window, window.window) or "quota"
    if window.fraction_used is None:
        yield row(f"  {name:<9}", ("nothing told", "dim"))
        return
    used = window.fraction_used
    style = "bad" if used >= 0.9 else "warn" if used >= 0.7 else "good"  # noqa: PLR2004  # as a traffic light
    spark = look.sparkline(burn, _SPARK)
    yield row(
        f"  {name:<9}",
        (look.bar(used, _CELLS), style),
        (f" {used * 100:>3.0f} % used", style),
        (f"  {spark}" if spark.strip() else "", "info"),
    )
    yield row(" " * 11, *_when(window, now))
    told = (OUTLOOKS.get(window.forecast, window.forecast), SOURCES.get(window.source, window.source))
    yield row((" " * 11 + "; ".join(filter(None, told)), "dim"))


def _when(window: Window, now: float) -> Iterator[Any]:
    if window.eta_minutes is not None:
        ahead = "warn" if window.eta_minutes <= _SOON else ""
        yield (f"wall in {span(window.eta_minutes * 60)}", ahead)
        if window.eta_low_minutes is not None and window.eta_high_minutes is not None:
            yield (f" ({span(window.eta_low_minutes * 60)} to {span(window.eta_high_minutes * 60)})", "dim")
        yield "   "
    if window.resets_at:
        left = seconds_until(window.resets_at, now)
        yield f"resets {moment(window.resets_at, now)}"
        yield (f" (in {span(left)})   " if left > 0 else " (is over)   ", "dim")
    if window.burn_per_min is not None:
        yield (f"{window.burn_per_min:,.2g} {window.unit}/min   ", "dim")
