"""Watching one session to its end: what `run` and `demo` show.

Owns: the live view, and the summary with the next steps.
Must not: know whether the daemon runs in this process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import trio

from hub.cli.screen import HANG, Screen, block
from hub.cli.taking import see_and_take
from hub.cli.width import columns, hung
from hub.client.live import Link, follow
from hub.client.quick import Api
from hub.errors import RULES, Code, HubError

PATIENCE = 120.0
"""Seconds to look for a daemon that has gone: as long as an agent waits for the next one."""


async def ask(api: Api, path: str) -> Any:
    """One GET, off the event loop."""
    return await trio.to_thread.run_sync(api.get, path, abandon_on_cancel=True)


async def watch(api: Api, session_id: str, since: int, *, quiet: bool = False) -> dict[str, Any]:
    """Show events until the session has ended; returns the last status."""
    await watch_until(api, since, lambda meta: _ends(meta, session_id), quiet=quiet, only=session_id)
    try:
        status: dict[str, Any] = await ask(api, f"/api/status?sessionId={session_id}")
    except HubError as error:
        if error.code is not Code.NOT_FOUND:
            raise
        raise HubError(Code.INTERRUPTED, "The session was taken out of the queue and never began.") from None
    return status


async def watch_until(
    api: Api,
    since: int,
    ends: Callable[[dict[str, Any]], bool],
    *,
    quiet: bool = False,
    only: str = "",
) -> None:
    """Show events up to the first whose `meta` is the end; `only`: of this session, and those of none."""

    def link(now: Link) -> None:
        if now is Link.LOST and not quiet:
            click.echo("the daemon is gone; the agent works on. Start it again: hub daemon", err=True)

    screen = Screen()
    async with follow(
        api.port, since, patience=PATIENCE, notify=link, socket=api.socket, headers=api.headers
    ) as batches:
        async for batch in batches:
            if not quiet:
                shown = [
                    one for one in batch if one.get("meta", {}).get("sessionId", only) == only or not only
                ]
                show_batch(shown, screen)
            if any(ends(record.get("meta", {})) for record in batch):
                break


def show_batch(batch: list[dict[str, Any]], screen: Screen) -> None:
    """Records on standard error; a question of the agent's with the way to answer it.

    Other agents of the machine, which the daemon tells of in between, are not the session's: `hub logs` has them.
    """
    width = columns(sys.stderr)
    for record in batch:
        if screen.shows(record) and "detected" not in record.get("meta", {}):
            click.echo("\n".join(hung(line, width, HANG) for line in block(record)), err=True)
        if how := how_to_answer(record.get("meta", {})):
            click.echo(click.style(f"answer it from another terminal: {how}", bold=True), err=True)


def how_to_answer(meta: dict[str, Any]) -> str:
    """The command that answers what an event asks; "" when it asks nothing."""
    if meta.get("needsApproval"):
        number = meta["approvalId"]
        return f'hub approve {number}   or: hub deny {number} --note "..."'
    return 'hub reply "..."' if meta.get("needsInput") else ""


def _ends(meta: dict[str, Any], session_id: str) -> bool:
    return bool(meta.get("ended")) and meta.get("sessionId") == session_id


async def last_event(api: Api) -> int:
    """The id after which news begin."""
    newest = 0
    while page := await ask(api, f"/api/events?since={newest}&limit=1000"):
        newest = page[-1]["id"]
    return newest


def outcome(status: dict[str, Any], root: Path, *, as_json: bool) -> int:
    """Say how it ended and what to do next in the project at `root`; returns the exit status."""
    click.echo(json.dumps(status, ensure_ascii=False) if as_json else summary(status, root))
    return exit_status(status)


def exit_status(status: dict[str, Any]) -> int:
    """0 for a completed session, the error's own for a failed one, 130 for one the user stopped."""
    if status["sessionState"] == "completed":
        return 0
    if status["sessionState"] == "stopped":
        return RULES[Code.INTERRUPTED].exit
    error = status.get("error")
    return RULES[Code(error["code"])].exit if error else 1


def summary(status: dict[str, Any], root: Path) -> str:
    """How it ended and what to do next; with git alone, since the daemon may have ended with the session."""
    return "\n".join([*ending(status), *see_and_take(root, status["sessionId"], [status["branch"]])])


def ending(status: dict[str, Any]) -> list[str]:
    """How it ended, in a few lines."""
    state, verified = status["sessionState"], status["verified"]
    words, colour = {
        "completed": ("done, and the acceptance commands say so", "green")
        if verified
        else ("done, not verified", "yellow"),
        "failed": ("failed; every byte is on the branch", "red"),
        "stopped": ("stopped; every byte is on the branch", "yellow"),
    }[state]
    lines = ["", click.style(words, fg=colour, bold=True)]
    if handoffs := status["handoffsDone"]:
        scores = ", ".join(f"{score:g}" for score in status["hfsHistory"])
        lines.append(f"{handoffs} handoff{'s' if handoffs > 1 else ''}, fidelity {scores} of 100")
    if withheld := status.get("withheld"):
        lines.append(f"not on the branch: {', '.join(withheld)}; it stays in {status['worktree']}")
    if error := status.get("error"):
        lines += [f"{error['code']}: {error['detail'].rstrip()}", f"next: {error['hint']}"]
    if state == "completed" and not verified:
        lines.append('no acceptance command is configured: hub run --verify "make test" "..."')
    return lines
