"""`hub usage`: the tokens of all sessions on this machine.

Owns: how they are shown.
Must not: count them, or import what counting does without before it has begun.
"""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

import click

from hub import userdirs
from hub.cli.context import project_dir, show, with_json
from hub.cli.terminal.table import table
from hub.usage.counting import counting

_HOUR = 3600

_HEADINGS = ("AGENT", "MODEL", "TOKENS IN", "OF THEM CACHED", "TOKENS OUT")


@click.command()
@click.option(
    "--since-hours",
    default=None,
    type=click.IntRange(0, 24 * 365),
    help="Only sessions written in the last HOURS, each whole; default: all.",
)
@with_json
def usage(ctx: click.Context, *, since_hours: int | None, as_json: bool) -> None:
    """Show tokens that agents used on this machine, by agent and model. Needs no daemon and no project.

    Example: hub usage --since-hours 24
    """
    show(document(since_hours, project_dir(ctx)), as_json=as_json, text=listed)


def document(since_hours: int | None, folder: Path) -> dict[str, Any]:
    """Everything that is told, fit to be shown.

    Args:
        since_hours: Only sessions written since then; None = all there are.
        folder: It may be in a project, whose accounts are looked for, too.
    """
    since = 0 if since_hours is None else int((time.time() - since_hours * _HOUR) * 1e9)
    gc.disable()  # what this command makes it keeps to its end, and to look through it took 100 ms
    home = userdirs.home()
    with counting(home, os.environ, since) as count:
        from hub.cli.summing import told  # processes count meanwhile: a sixth of the time

        return told(count, home, since, folder)


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
