"""Watching one session to its end: what `run` and `demo` show.

Owns: the live view, and the summary with the next steps.
Must not: know whether the daemon runs in this process.
"""

from __future__ import annotations

import json
from typing import Any

import click
import trio

from hub.cli.screen import line, shown
from hub.client.live import follow
from hub.client.quick import Api
from hub.errors import RULES, Code

_ENDED = frozenset({"completed", "failed", "stopped"})


async def ask(api: Api, path: str) -> Any:
    """One GET, off the event loop."""
    return await trio.to_thread.run_sync(api.get, path, abandon_on_cancel=True)


async def watch(api: Api, session_id: str, since: int, *, quiet: bool = False) -> dict[str, Any]:
    """Show events until the session has ended; returns the last status."""
    async with follow(api.port, since) as batches:
        async for batch in batches:
            if not quiet:
                for record in batch:
                    if shown(record):
                        click.echo(line(record), err=True)
            if any(r.get("meta", {}).get("ended") and r["meta"].get("sessionId") == session_id for r in batch):
                break
    status: dict[str, Any] = await ask(api, "/api/status")
    return status


async def last_event(api: Api) -> int:
    """The id after which news begin."""
    tail = await ask(api, "/api/events?since=0&limit=1")
    newest = 0
    while tail:
        newest = tail[-1]["id"]
        tail = await ask(api, f"/api/events?since={newest}&limit=1000")
    return newest


def outcome(status: dict[str, Any], *, as_json: bool) -> int:
    """Say how it ended and what to do next; returns the exit status."""
    if as_json:
        click.echo(json.dumps(status, ensure_ascii=False))
    else:
        click.echo(summary(status))
    return exit_status(status)


def exit_status(status: dict[str, Any]) -> int:
    """0 for a completed session, the error's own for a failed one."""
    if status["sessionState"] == "completed":
        return 0
    error = status.get("error")
    if error is not None:
        return RULES[Code(error["code"])].exit
    return RULES[Code.INTERRUPTED].exit if status["sessionState"] == "stopped" else 1


def summary(status: dict[str, Any]) -> str:
    """How it ended, in a few lines."""
    state = status["sessionState"]
    words = {
        "completed": "done, and the acceptance commands say so" if status["verified"] else "done, not verified",
        "failed": "failed",
        "stopped": "stopped; every byte is on the branch",
    }[state]
    colour = {"completed": "green" if status["verified"] else "yellow", "failed": "red", "stopped": "yellow"}[state]
    lines = ["", click.style(words, fg=colour, bold=True)]
    handoffs = status["handoffsDone"]
    if handoffs:
        scores = ", ".join(f"{score:g}" for score in status["hfsHistory"])
        lines.append(f"{handoffs} handoff{'s' if handoffs > 1 else ''}, fidelity {scores} of 100")
    error = status.get("error")
    if error is not None:
        lines += [f"{error['code']}: {error['detail']}", f"next: {error['hint']}"]
    if state == "completed" and not status["verified"]:
        lines.append('no acceptance command is configured: hub run --verify "make test" "..."')
    lines += [f"see it:   hub diff        (branch {status['branch']})", f"take it:  git merge {status['branch']}"]
    return "\n".join(lines)
