"""`hub usage`: the tokens of all sessions on this machine.

Owns: how they are shown, and where accounts keep their sessions.
Must not: count them.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from hub.actors.detector.counting import counting
from hub.actors.detector.homes import Moved, moved
from hub.actors.detector.usage import used
from hub.cli.context import json_option, project_dir, show
from hub.cli.table import table
from hub.client.place import root_of
from hub.domain.plain import plain_value
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.errors import HubError
from hub.io.accounts import read_book
from hub.io.config_file import load
from hub.io.places import Places, load_or_create_key, state_dir
from hub.providers.registry import load_all

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
@click.pass_context
def usage(ctx: click.Context, *, since_hours: int | None, as_json: bool) -> None:
    """Tokens that agents' own sessions used on this machine, by agent and model. Needs no daemon and no project.

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
    home = os.path.expanduser("~")  # noqa: PTH111  # where there is none it stays, and nothing is found
    with counting(home, os.environ, since) as counts:  # processes count meanwhile
        elsewhere, unknown = _moved(folder)
        found = used(counts, home, os.environ, since, elsewhere)
    told = {"usage": [row.to_json() for row in found.rows], "gaps": [*unknown, *found.gaps]}
    shown: dict[str, Any] = Redactor(KnownSecrets(), load_or_create_key("redaction")).value(plain_value(told))
    return shown


def _moved(folder: Path) -> tuple[list[Moved], list[str]]:
    """Where accounts keep their sessions, and why some of them are not known."""
    places = Places(root_of(folder) or folder)
    try:
        config = load(places.config, environ=os.environ, book=read_book(places.accounts))
        made = _made(state_dir() / "accounts")
    except (HubError, OSError) as error:
        why = error.detail if isinstance(error, HubError) else error
        return [], [f"Accounts are not known, and where they keep their sessions: {why}"]
    return list(moved(config, load_all(lambda: config), os.environ, made)), []


def _made(folder: Path) -> dict[str, list[Path]]:
    """The folders that hub made for accounts, by the agent's name: their accounts may stand in any project."""
    if not folder.is_dir():
        return {}
    return {each.name: sorted(each.iterdir()) for each in folder.iterdir() if each.is_dir()}


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
