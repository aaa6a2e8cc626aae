"""What sessions have cost.

Owns: their lines.
Must not: compute a price or a sum (`hub.api.costs` does).
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hub.api.costs import Costs, Spent, summed
from hub.api.session import Cost
from hub.api.sessions import Session, Sessions
from hub.domain.text.figures import cost as cost_in_words
from hub.domain.wallclock import moment
from hub.tui.page import Page, cut
from hub.tui.rows import Row, Rows, row

_SOURCES = {"agent": "the agent itself", "prices": "the list of prices"}
_SHOWN = 100
"""Sessions: the newest."""
_WHEN = 13
_BESIDE = 20 + 20 + _WHEN
"""Columns before a title."""
_NARROW = _BESIDE + 15
"""Columns below which the title has the room of the tokens and the time, which the session's own page has."""


def cost_rows(cost: Cost) -> Iterator[Row]:
    """One session's, in full."""
    yield row(("Cost       ", "dim"), (cost_in_words(cost.session_usd, whole=cost.priced), "bold"))
    yield row(("Tokens     ", "dim"), f"{cost.tokens_in:,} in, {cost.tokens_out:,} out")
    yield row(("Cache      ", "dim"), f"{cost.cached_in:,} read, {cost.cache_write_in:,} written")
    yield row(
        ("Told by    ", "dim"), ", ".join(_SOURCES.get(one, one) for one in cost.sources) or "nobody yet"
    )
    if cost.unpriced_models:
        names = ", ".join(name or "a model nobody named" for name in cost.unpriced_models)
        yield row(("No price   ", "dim"), (names, "warn"))


class CostPage(Page):
    """What each agent and each of the newest sessions has cost."""

    NAME = "cost"
    ON = frozenset({"system", "handoff"})

    async def load(self) -> None:
        """All that was spent, and whose it is."""
        costs = await self.hub.daemon.get(Costs, "/api/costs")
        listed = await self.hub.daemon.get(Sessions, "/api/sessions")
        sessions = {one.session_id: one for one in listed.sessions}
        self.heading("Cost")
        self.query_one(Rows).show(rows_of(costs.spent, sessions, self.now, self.size.width - 2))

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Look at that session."""
        self.hub.open_session(event.key)


def rows_of(spent: Sequence[Spent], sessions: Mapping[str, Session], now: float, width: int) -> Iterator[Row]:
    """Each agent's sum, and each session's, the newest first."""
    if not spent:
        yield row(("nothing was used yet; n on the board starts a session", "dim"))
        return
    yield row(("By agent", "head"))
    for one in summed(spent, lambda each: each.provider):
        figures = f"  {one.tokens_in:,} in, {one.tokens_out:,} out"
        yield row(f" {one.name:<18} {cost_in_words(one.usd, whole=one.whole):>19}", (figures, "dim"))
    yield row(("By session", "head"))
    for one in summed(spent, lambda each: each.session_id)[::-1][:_SHOWN]:
        session = sessions.get(one.name)
        when = moment(session.started_at, now) if session and session.started_at else ""
        title = session.title if session else one.name
        if width < _NARROW:
            cost = cost_in_words(one.usd, whole=one.whole)
            yield row(f" {cost:<10}", cut(title, width - 11), key=one.name)
            continue
        yield row(
            f" {cost_in_words(one.usd, whole=one.whole):<19}",
            (f"{one.tokens:>11,} tokens  {when:<{_WHEN}}", "dim"),
            cut(title, width - _BESIDE),
            key=one.name,
        )
