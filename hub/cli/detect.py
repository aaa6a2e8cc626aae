"""`hub detect`, `hub adopt`: agents that run already, and going on with their work.

Owns: how they are shown, and the watch.
Must not: decide what is an agent, or end one without being told.
"""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import click

from hub.cli.context import client, json_option, show
from hub.errors import Code, HubError

_HOUR = 3600
_LOOK = 1.5
_WIDE = 60


@click.command()
@click.option("--since-hours", default=24, type=click.IntRange(0, 24 * 365), help="How far to look back.")
@click.option("--watch", is_flag=True, help="Go on, and tell what is new.")
@json_option
@click.pass_context
def detect(ctx: click.Context, *, since_hours: int, watch: bool, as_json: bool) -> None:
    """AI coding agents on this machine: those that run, and sessions written lately. Needs no daemon.

    Example: hub detect --since-hours 3
    """
    found = _found(ctx, since_hours)
    if not watch:
        show(found, as_json=as_json, text=table)
        return
    # It only reads, so Ctrl-C may end it at once; Python's own way is lost where it meets a callback of SQLite's.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _tell(found, as_json=as_json)
    known = {one["id"] for one in found}
    while True:
        time.sleep(_LOOK)
        found = _found(ctx, since_hours)
        _tell([one for one in found if one["id"] not in known], as_json=as_json)
        known |= {one["id"] for one in found}


@click.command()
@click.argument("number", metavar="ID")
@click.option("--for", "target", required=True, metavar="PROVIDER", help="Who goes on with it.")
@click.option(
    "--start", is_flag=True, help="Begin a session on it, in a worktree with the agent's files as they are."
)
@click.option(
    "--interactive", is_flag=True, help="Open its own program in a terminal, in the agent's folder."
)
@click.option("--stop", is_flag=True, help="End the agent first, if it still runs.")
@json_option
@click.pass_context
def adopt(ctx: click.Context, /, number: str, *, target: str, as_json: bool, **ways: bool) -> None:
    """Go on with the work of an agent that hub did not start.

    A brief of it is written to `.hub/adopted/` in any case.

    Example: hub adopt claude:01a1fe0c-897b-7642-9087-e765bd0c6561 --for codex --start
    """
    if ways["start"] and ways["interactive"]:
        raise HubError(Code.USAGE, "--start and --interactive exclude each other.")
    answer = client(ctx).post("/api/detect/adopt", {"id": number, "target": target, **ways})
    show(answer, as_json=as_json, text=adopted)


def adopted(answer: dict[str, Any]) -> str:
    """What was made of an adoption."""
    lines = [f"brief: {answer['brief']}"]
    if answer["stopped"]:
        lines.insert(0, f"ended: {', '.join(map(str, answer['stopped']))}")
    how = "goes on with the agent's own session" if answer["resumed"] else "goes on with the brief"
    if answer["mode"] == "start":
        lines.append(f"{answer['target']} {how}: session {answer['sessionId']} on {answer['branch']}")
        lines.append("watch it: hub logs -f")
    elif answer["mode"] == "interactive":
        lines.append(f"{answer['target']} {how}, in a terminal ({answer['terminal']}): {answer['command']}")
    return "\n".join(lines)


def _found(ctx: click.Context, hours: int) -> list[dict[str, Any]]:
    """From the daemon where one runs, else looked for here."""
    try:
        found: list[dict[str, Any]] = client(ctx).get(f"/api/detect?sinceHours={hours}")
    except HubError as error:
        if error.code is not Code.DAEMON_NOT_RUNNING:
            raise
        from hub.cli.offline import detected

        found = detected(ctx, hours)
    return found


def _tell(found: list[dict[str, Any]], *, as_json: bool) -> None:
    for one in found:
        click.echo(json.dumps(one, ensure_ascii=False) if as_json else "\n".join(_lines(one)))


def table(found: list[dict[str, Any]]) -> str:
    """Every agent in two or three lines."""
    if not found:
        return "no agent runs, and none has left a session in that time"
    return "\n".join(line for one in found for line in _lines(one))


def _lines(one: dict[str, Any]) -> list[str]:
    if one["alarm"]:
        return [
            f"{one['displayName']}  account {one['account'] or '?'}: sessions may be missing: {one['alarm']}"
        ]
    session = one["session"] or {}
    state = f"runs, pid {one['pid']}" if one["running"] else f"left {_ago(one['lastActive'])} ago"
    mine = ", hub's own" if one["owner"] == "hub" else ""
    lines = [
        f"{one['displayName']} ({state}{mine})  {one['workDir'] or '?'}  account {one['account'] or '?'}"
    ]
    if session:
        prompt = " ".join(session["initialPrompt"].split())
        lines.append(f"  {prompt[:_WIDE] or '(no prompt yet)'}{'...' if len(prompt) > _WIDE else ''}")
        tokens = f"{session['tokensIn']:,} tokens in, {session['tokensOut']:,} out"
        files = (
            f"{_count(len(session['filesTouched']), 'file')}, {_count(session['messageCount'], 'message')}"
        )
        lines.append(f"  {session['model'] or 'model not told'}; {files}, {tokens}")
        if session["alarm"]:
            lines.append(f"  not to be trusted: {session['alarm']}")
    if one["candidates"]:
        lines.append(f"  which session it works on cannot be told: {', '.join(one['candidates'])}")
    return [*lines, f"  {one['id']}"]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _ago(instant: int) -> str:
    seconds = max(0, int(time.time()) - instant)
    return f"{seconds // 60} min" if seconds < _HOUR else f"{seconds // _HOUR} h"
