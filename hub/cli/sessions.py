"""`hub ls`: every session of the project.

Owns: their order for people: who needs somebody first, then who works, who waits, and who is done.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from hub.cli.context import client, json_option, show
from hub.cli.table import ago, table

_HEADINGS = ("SESSION", "STATE", "NEEDS", "AGENT", "AGE", "TASK")
_SHOWN = 20
_ENDED = frozenset({"completed", "failed", "stopped"})
_NEEDS = {"input": "a reply", "approval": "your word", "decision": "a decision"}
_COLOURS = {"completed": "green", "failed": "red", "stopped": "yellow"}


@click.command()
@click.option("--all", "-a", "everything", is_flag=True, help=f"Also what ended before the last {_SHOWN}.")
@json_option
@click.pass_context
def ls(ctx: click.Context, *, everything: bool, as_json: bool) -> None:
    """Every session: who needs you first, then who works, who waits, and who is done.

    Example: hub ls
    """
    answer = client(ctx).get("/api/sessions")
    show(answer, as_json=as_json, text=lambda found: listed(found["sessions"], everything=everything))


def listed(rows: list[dict[str, Any]], *, everything: bool = False, now: datetime | None = None) -> str:
    """The table for people; the newest of a kind first."""
    if not rows:
        return 'no session yet - start one: hub run "task"'
    now = now or datetime.now(UTC)
    newest_first = rows[::-1]
    ordered = sorted(newest_first, key=_urgency)
    ended = [row for row in ordered if row["sessionState"] in _ENDED]
    shown = ordered if everything else [*ordered[: len(ordered) - len(ended)], *ended[:_SHOWN]]
    text = table(_HEADINGS, [_cells(row, now) for row in shown], [_colour(row) for row in shown])
    hidden = len(ordered) - len(shown)
    return f"{text}\n{hidden} more: hub ls --all" if hidden else text


def _urgency(row: dict[str, Any]) -> int:
    if row["needs"] != "none":
        return 0
    if row["sessionState"] in _ENDED:
        return 3
    return 2 if row["waitUntil"] or row["position"] else 1


def _colour(row: dict[str, Any]) -> str | None:
    return "magenta" if row["needs"] != "none" else _COLOURS.get(row["sessionState"])


def _cells(row: dict[str, Any], now: datetime) -> tuple[str, ...]:
    state = f"queued, {row['position']}." if row["position"] else row["sessionState"].replace("_", " ")
    account = "" if row["account"] in ("", "default") else f"/{row['account']}"
    since = row["endedAt"] or row["startedAt"]
    age = ago((now - datetime.fromisoformat(since)).total_seconds()) if since else ""
    agent = f"{row['activeProvider']}{account}"
    return row["sessionId"], state, _NEEDS.get(row["needs"], ""), agent, age, row["title"][:80]
