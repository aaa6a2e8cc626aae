"""What sessions have cost.

Owns: the words for a cost that is known in part, and the sums by agent.
Must not: compute a price; the daemon says it.
Tests: tests/hub/tui/test_pages.py
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hub.domain.text.figures import cost as cost_in_words
from hub.domain.text.figures import money
from hub.tui.look import moment
from hub.tui.page import Page, cut
from hub.tui.rows import Row, Rows, row

if TYPE_CHECKING:
    from hub.api.session import Cost
    from hub.api.sessions import Session

_SOURCES = {"agent": "the agent itself", "prices": "the list of prices"}
_SHOWN = 40
"""Sessions whose cost is asked for: the newest."""
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
    """The newest sessions, what each cost, and the sum by agent."""

    NAME = "cost"
    ON = frozenset({"system", "handoff"})

    async def load(self) -> None:
        """Each session's cost, one after the other."""
        from hub.api.session import Cost
        from hub.api.sessions import Sessions

        found = await self.hub.daemon.get(Sessions, "/api/sessions")
        newest = [one for one in reversed(found.sessions) if one.started_at][:_SHOWN]
        costs = [
            (one, await self.hub.daemon.get(Cost, "/api/session/cost", {"sessionId": one.session_id}))
            for one in newest
        ]
        self.heading(f"Cost of the newest {len(costs)} sessions")
        self.query_one(Rows).show(_table(costs, self.now, self.size.width - 2))

    def on_rows_chosen(self, event: Rows.Chosen) -> None:
        """Look at that session."""
        self.hub.open_session(event.key)


def _table(costs: list[tuple[Session, Cost]], now: float, width: int) -> Iterator[Row]:
    sums: dict[str, tuple[float, int, int, bool]] = {}
    for session, cost in costs:
        usd, tokens_in, tokens_out, whole = sums.get(session.active_provider, (0.0, 0, 0, True))
        sums[session.active_provider] = (
            usd + (cost.session_usd or 0),
            tokens_in + cost.tokens_in,
            tokens_out + cost.tokens_out,
            whole and cost.priced,
        )
    if sums:
        yield row(("By the agent that worked last", "head"))
    for name, (usd, tokens_in, tokens_out, whole) in sorted(sums.items()):
        more = "" if whole else "  and what has no price"
        yield row(f" {name:<18} {money(usd):>10}", (f"  {tokens_in:,} in, {tokens_out:,} out{more}", "dim"))
    yield row(("By session", "head"))
    for session, cost in costs:
        when = moment(session.started_at, now) if session.started_at else ""
        if width < _NARROW:
            yield row(
                f" {cost_in_words(cost.session_usd, whole=cost.priced):<10}",
                cut(session.title, width - 11),
                key=session.session_id,
            )
            continue
        yield row(
            f" {cost_in_words(cost.session_usd, whole=cost.priced):<19}",
            (f"{cost.tokens_in + cost.tokens_out:>11,} tokens  {when:<{_WHEN}}", "dim"),
            cut(session.title, width - _BESIDE),
            key=session.session_id,
        )
    if not costs:
        yield row(("no session yet; n on the board starts one", "dim"))
