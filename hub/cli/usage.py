"""`hub usage`: the tokens of all sessions on this machine.

Owns: how they are shown.
Must not: count them.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from hub.cli.context import json_option, show

_HOUR = 3600


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
    found = used(str(Path.home()), os.environ, since)
    document = plain_value({"usage": [row.to_json() for row in found.rows], "gaps": list(found.gaps)})
    document = Redactor(KnownSecrets(), load_or_create_key("redaction")).value(document)
    show(document, as_json=as_json, text=table)


def table(document: dict[str, Any]) -> str:
    """One line for each agent and model, and what may be missing."""
    lines = [_line(row) for row in document["usage"]] or ["no session on this machine tells of tokens"]
    return "\n".join([*lines, *(f"may be missing: {gap}" for gap in document["gaps"])])


def _line(row: dict[str, Any]) -> str:
    least = "" if row["exact"] else "at least "
    cache = "" if row["cachedIn"] is None else f" ({row['cachedIn']:,} read from a cache)"
    model = row["model"] or "model not told"
    return (
        f"{row['provider']}  {model}: {least}{row['tokensIn']:,} tokens in{cache}, {row['tokensOut']:,} out"
    )
