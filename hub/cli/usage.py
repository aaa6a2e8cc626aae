"""`hub usage`: the tokens of all sessions on this machine.

Owns: how they are shown.
Must not: count them.
"""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path
from typing import Any

import click

from hub.cli.context import json_option, show
from hub.cli.table import table

_HOUR = 3600
_HEADINGS = ("AGENT", "MODEL", "TOKENS IN", "OF THEM CACHED", "TOKENS OUT")


@click.command()
@click.option(
    "--since-hours",
    default=None,
    type=click.IntRange(0, 24 * 365),
    help="Only sessions written since then, all of each; default: every session there is.",
)
@json_option
def usage(*, since_hours: int | None, as_json: bool) -> None:
    """Tokens that agents' own sessions used on this machine, by agent and model. Needs no daemon and no project.

    Example: hub usage --since-hours 24
    """
    from hub.actors.detector.usage import used  # --help does without
    from hub.domain.plain import plain_value  # as above
    from hub.domain.redaction.redactor import KnownSecrets, Redactor  # as above
    from hub.io.places import load_or_create_key  # as above

    since = 0 if since_hours is None else int((time.time() - since_hours * _HOUR) * 1e9)
    gc.disable()  # what is counted stays to the end: looking for garbage among it is a twentieth of the time
    found = used(str(Path.home()), os.environ, since)
    document = plain_value({"usage": [row.to_json() for row in found.rows], "gaps": list(found.gaps)})
    document = Redactor(KnownSecrets(), load_or_create_key("redaction")).value(document)
    show(document, as_json=as_json, text=listed)


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
