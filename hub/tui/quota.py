"""The quota page: what each account has left, how fast it goes, when the wall comes, and when it resets.

Owns: the lines of an account's windows.
Must not: forecast; the daemon does.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from textual.app import ComposeResult

from hub.api.quota import Entry, MeteredWindow, Window
from hub.domain.quota.spoken import OUTLOOKS, SOURCES, WINDOWS
from hub.domain.text.figures import span
from hub.domain.wallclock import local, moment
from hub.tui.look import Look
from hub.tui.page import Page
from hub.tui.rows import Row, Rows, row

_CELLS = 20
_BESIDE = 26
"""Columns of what stands beside a bar: the window's name before it, the figure after it."""
_SPARK = 16
_SOON = 30.0
"""Minutes to the wall that are shown as a warning."""
_AGAIN = 60.0
"""Seconds after which the page in sight asks again: its forecast moves with the clock."""


class QuotaPage(Page):
    """The wallet."""

    NAME = "quota"
    ON = frozenset({"quota", "system", "handoff"})

    def on_mount(self) -> None:
        """A forecast moves with the clock; a page that nobody sees asks for nothing."""
        super().on_mount()
        self.entries: list[Entry] = []
        self.set_interval(_AGAIN, lambda: self.reload() if self.is_current else None)

    def body(self) -> ComposeResult:
        """Nothing of it opens."""
        yield Rows(id="rows")

    async def load(self) -> None:
        """The wallet as it is."""
        self.entries = await self.hub.daemon.get(list[Entry], "/api/quota/wallet")
        self.heading(f"Quota  times are {self.hub.zone}")
        self.draw()

    def draw(self) -> None:
        """Show the wallet as it is known."""
        self.query_one(Rows).show(rows_of(self.entries, self.now, self.look, self.size.width))

    def on_resize(self) -> None:
        """Bars take the room there is."""
        if self.entries:
            self.draw()


def rows_of(entries: Sequence[Entry], now: float, look: Look, width: int) -> Iterator[Row]:
    """Every account whose figures are known, the nearest wall first; the others by name."""
    known = [one for one in entries if one.fraction_used is not None]
    if not known:
        yield row("an agent tells of its quota once it works; n on the board starts one")
    for one in sorted(known, key=_urgency):
        name = f"{one.provider}/{one.account}"
        today = f"   {one.tokens_today:,} tokens today" if one.tokens_today else ""
        yield row((name, "bold"), (today, "dim"))
        for window in one.windows:
            yield from _window(window, now, look, width)
        yield row("")
    rest = [one for one in entries if one.fraction_used is None]
    if rest:
        yield row(("Nothing told yet", "head"))
        for one in rest:
            today = f"   {one.tokens_today:,} tokens today" if one.tokens_today else ""
            yield row((f"  {one.provider}/{one.account}", "dim"), (today, "dim"))


def _urgency(one: Entry) -> tuple[float, float]:
    return one.eta_minutes if one.eta_minutes is not None else float("inf"), -(one.fraction_used or 0)


def _window(window: MeteredWindow, now: float, look: Look, width: int) -> Iterator[Row]:
    name = WINDOWS.get(window.window, window.window) or "quota"
    if window.fraction_used is None:
        yield row(f"  {name:<9}", ("nothing told", "dim"))
        return
    used = window.fraction_used
    style = "bad" if used >= 0.9 else "warn" if used >= 0.7 else "good"  # noqa: PLR2004  # as a traffic light
    burned = [after.fraction_used - before.fraction_used for before, after in pairwise(window.rises)]
    cells = min(_CELLS, max(4, width - _BESIDE))
    room = min(_SPARK, width - _BESIDE - cells)
    spark = look.sparkline(burned, room) if room > 0 else ""
    yield row(
        f"  {name:<9}",
        (look.bar(used, cells), style),
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
        left = local(window.resets_at).timestamp() - now
        yield f"resets {moment(window.resets_at, now)}"
        yield (f" (in {span(left)})   " if left > 0 else " (is over)   ", "dim")
    if window.burn_per_min is not None:
        yield (f"{window.burn_per_min:,.2g} {window.unit}/min   ", "dim")
