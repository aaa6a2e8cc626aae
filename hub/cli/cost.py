"""`hub cost`: what sessions have cost, by day, agent or session.

Owns: how it is summed up and shown.
Must not: know a price.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs
import click

from hub.api.costs import Costs, Spent
from hub.cli.context import json_option, show
from hub.cli.records import Records
from hub.cli.table import table
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
@json_option
@click.pass_context
def cost(ctx: click.Context, *, by: str, since: str, as_json: bool) -> None:
    """Show what this project's sessions have cost, by day, agent or session. Needs no daemon.

    Example: hub cost --by agent
    """
    answer = Records(ctx).read(Costs, "/api/costs")
    rows = [row for row in answer.spent if row.day >= since]
    show(attrs.evolve(answer, spent=rows), as_json=as_json, text=lambda _: summed(rows, by))


def summed(rows: Iterable[Spent], by: str) -> str:
    """The table for people, with the sum of all; what is only partly known is said to be more."""
    heading, key = _KEYS[by]
    groups: dict[str, list[Spent]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    if not groups:
        return "nothing was used yet"
    lines = [(name, *_cells(some)) for name, some in sorted(groups.items())]
    if len(lines) > 1:
        lines.append(("all", *_cells([row for some in groups.values() for row in some])))
    return table((heading, "COST", "TOKENS IN", "TOKENS OUT", "SESSIONS"), lines)


def _cells(rows: list[Spent]) -> tuple[str, ...]:
    known = [row.usd for row in rows if row.usd is not None]
    sessions = len({row.session_id for row in rows})
    return (
        cost_in_words(sum(known) if known else None, whole=all(row.priced for row in rows)),
        f"{sum(r.tokens_in for r in rows):,}",
        f"{sum(r.tokens_out for r in rows):,}",
        str(sessions),
    )
