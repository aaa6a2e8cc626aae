"""`hub cost`: what sessions have cost, by day, agent or session.

Owns: by what it is summed up, and how it is shown.
Must not: know a price.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import click

from hub.api.costs import Costs, CostSum, Spent, summed
from hub.cli.context import show, with_json
from hub.cli.local.records import Records
from hub.cli.terminal.table import table
from hub.domain.text.figures import cost as cost_in_words

_KEYS: dict[str, tuple[str, Callable[[Spent], str]]] = {
    "day": ("DAY", lambda row: row.day),
    "agent": ("AGENT", lambda row: row.provider),
    "session": ("SESSION", lambda row: row.session_id),
}


@click.command()
@click.option(
    "--by", type=click.Choice(list(_KEYS)), default="day", show_default=True, help="What it is summed up by."
)
@click.option("--since", default="", metavar="DAY", help="Only from this day on: 2026-01-31.")
@with_json
def cost(ctx: click.Context, *, by: str, since: str, as_json: bool) -> None:
    """Show what this project's sessions have cost, by day, agent or session. Needs no daemon.

    Example: hub cost --by agent
    """
    answer = Records(ctx).read(Costs, "/api/costs")
    rows = [row for row in answer.spent if row.day >= since]
    show(attrs.evolve(answer, spent=rows), as_json=as_json, text=lambda _: listed(rows, by))


def listed(rows: Sequence[Spent], by: str) -> str:
    """The table for people, with the sum of all; what is only partly known is said to be more."""
    heading, key = _KEYS[by]
    sums = sorted(summed(rows, key), key=lambda one: one.name)
    if not sums:
        return "nothing was used yet"
    if len(sums) > 1:
        sums += summed(rows, lambda _: "all")
    return table((heading, "COST", "TOKENS IN", "TOKENS OUT", "SESSIONS"), [_cells(one) for one in sums])


def _cells(one: CostSum) -> tuple[str, ...]:
    usd = cost_in_words(one.usd, whole=one.whole)
    return one.name, usd, f"{one.tokens_in:,}", f"{one.tokens_out:,}", str(one.sessions)
