"""How a session ended, and what to do next.

Owns: the summary, and the exit status that goes with an end.
Must not: know whether the daemon still runs.
Tests: tests/hub/cli/test_run.py
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from hub.cli.items import FIDELITY
from hub.client.place import root_of
from hub.errors import RULES, Code


def outcome(status: dict[str, Any], root: Path, *, as_json: bool, seen: bool = False) -> int:
    """Say how it ended and what to do next in the project at `root`; returns the exit status.

    Args:
        status: The last one.
        root: A folder of the project.
        as_json: Whether a program reads it.
        seen: Whether what happened was shown already: then one line says what went wrong, and nothing is explained.
    """
    if seen and status["error"]:
        error = {**status["error"], "detail": status["error"]["detail"].partition("\n")[0]}
        told = {**status, "error": error}
    else:
        told = status
    click.echo(json.dumps(status, ensure_ascii=False) if as_json else summary(told, root, seen=seen))
    return exit_status(status)


def exit_status(status: dict[str, Any]) -> int:
    """0 for a completed session, the error's own for a failed one, 130 for one the user stopped."""
    if status["sessionState"] == "completed":
        return 0
    if status["sessionState"] == "stopped":
        return RULES[Code.INTERRUPTED].exit
    error = status.get("error")
    return RULES[Code(error["code"])].exit if error else 1


def summary(status: dict[str, Any], root: Path, *, seen: bool = False) -> str:
    """How it ended and what to do next in the project, with commands that need no daemon: it may have ended too."""
    here = (
        "hub"
        if (root_of(root) or root) == (root_of(Path.cwd()) or Path.cwd())
        else f"hub -C {shlex.quote(str(root))}"
    )
    session = status["sessionId"]
    lines = [f"see it:   {here} diff {session}", f"take it:  {here} take {session}"]
    return "\n".join([*ending(status, seen=seen), *lines])


def ending(status: dict[str, Any], *, seen: bool = False) -> list[str]:
    """How it ended, in a few lines; who has seen the handoffs was told there what fidelity is."""
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
        told = f"{handoffs} handoff{'s' if handoffs > 1 else ''}, fidelity {scores} of 100"
        lines.append(told if seen else f"{told}: {FIDELITY}")
    if withheld := status.get("withheld"):
        lines.append(f"not on the branch: {', '.join(withheld)}; it stays in {status['worktree']}")
    if error := status.get("error"):
        lines += [f"{error['code']}: {error['detail'].rstrip()}", f"next: {error['hint']}"]
    if state == "completed" and not verified:
        lines.append('no acceptance command is configured: hub run --verify "make test" "..."')
    return lines
