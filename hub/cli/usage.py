"""`hub usage`: the tokens of all sessions on this machine.

Owns: how they are shown.
Must not: count them.
"""

from __future__ import annotations

from typing import Any

import click

from hub.cli.context import json_option, project_dir, show
from hub.cli.table import table

_HEADINGS = ("AGENT", "MODEL", "TOKENS IN", "OF THEM CACHED", "TOKENS OUT")


@click.command()
@click.option(
    "--since-hours",
    default=None,
    type=click.IntRange(0, 24 * 365),
    help="Only sessions written since then, all of each; default: every session there is.",
)
@json_option
@click.pass_context
def usage(ctx: click.Context, *, since_hours: int | None, as_json: bool) -> None:
    """Tokens that agents' own sessions used on this machine, by agent and model. Needs no daemon and no project.

    Example: hub usage --since-hours 24
    """
    from hub.cli.summing import document  # --help does without

    show(document(since_hours, str(project_dir(ctx))), as_json=as_json, text=listed)


def listed(document: dict[str, Any]) -> str:
    """One row for each agent and model, and what may be missing."""
    rows = [_row(row) for row in document["usage"]]
    found = table(_HEADINGS, rows) if rows else "no session on this machine tells of tokens"
    return "\n".join([found, *(f"may be missing: {gap}" for gap in document["gaps"])])


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    least = "" if row["exact"] else "at least "
    cached = "" if row["cachedIn"] is None else f"{row['cachedIn']:,}"
    return (
        row["provider"],
        row["model"] or "not told",
        f"{least}{row['tokensIn']:,}",
        cached,
        f"{least}{row['tokensOut']:,}",
    )
