"""How a session ended, and what to do next.

Owns: the summary, and the exit status that goes with an end.
Must not: know whether the daemon still runs.
Tests: tests/hub/cli/commands/test_run.py
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import attrs
import click

from hub.api.status import Status
from hub.cli.context import show
from hub.cli.terminal.clock import span
from hub.cli.terminal.items import FIDELITY
from hub.cli.terminal.width import advice, columns, hung
from hub.client.place import root_of
from hub.domain.session import SessionState
from hub.domain.wallclock import local
from hub.errors import RULES, Code

_NO_SNAPSHOT = {
    Code.WORKTREE_TAMPERED, Code.WORKTREE_MISSING, Code.BRANCH_MISSING, Code.NOT_A_REPOSITORY, Code.GIT_FAILED,
    Code.NO_SPACE, Code.READ_ONLY, Code.NO_PERMISSION, Code.DISK_FAILED,
}  # fmt: skip
"""With which no snapshot is made."""


def outcome(status: Status, root: Path, *, as_json: bool, seen: bool = False) -> int:
    """Say how it ended and what to do next in the project at `root`; returns the exit status.

    Args:
        status: The last one.
        root: A folder of the project.
        as_json: Whether a program reads it.
        seen: Whether what happened was shown already: then one line says what went wrong, and nothing is explained.
    """
    told = status
    if seen and status.error:
        error = attrs.evolve(status.error, detail=status.error.detail.partition("\n")[0])
        told = attrs.evolve(status, error=error)
    show(status, as_json=as_json, text=lambda _: summary(told, root, seen=seen))
    return exit_status(status)


def exit_status(status: Status) -> int:
    """0 for a completed session, the error's own for a failed one, 130 for one the user stopped."""
    if status.session_state is SessionState.COMPLETED:
        return 0
    if status.session_state is SessionState.STOPPED:
        return RULES[Code.INTERRUPTED].exit
    return RULES[status.error.code].exit if status.error else 1


def summary(status: Status, root: Path, *, seen: bool = False) -> str:
    """How it ended and what to do next in the project, with commands that need no daemon: it may have ended too."""
    here, session = hub_in(root), status.session_id
    next_ = [f"see it:   {here} diff {session}", f"take it:  {here} take {session}"]
    lines = next_ if _began(status) else []
    width = columns(sys.stdout)
    words = "\n".join(ending(status, seen=seen)).split("\n")
    # A command of hub's at its end stays whole.
    told = ((advice if ": hub " in line else hung)(line, width, 0) for line in words)
    return "\n".join([*told, *lines])


def hub_in(root: Path) -> str:
    """How hub is called for the project at `root` from where the user stands."""
    here = (root_of(root) or root) == (root_of(Path.cwd()) or Path.cwd())
    return "hub" if here else f"hub -C {shlex.quote(str(root))}"


def ending(status: Status, *, seen: bool = False) -> list[str]:
    """How it ended, in a few lines; who has seen the handoffs was told there what fidelity is."""
    state, verified = status.session_state, status.verified
    words, colour = {
        "completed": ("done and verified", "green") if verified else ("done, not verified", "yellow"),
        "failed": (f"failed; {_where(status)}", "red"),
        "stopped": ("stopped; the work so far is on the branch", "yellow"),
    }[state]
    lines = ["", click.style(words, fg=colour, bold=True) + click.style(_spent(status), dim=True)]
    if handoffs := status.handoffs_done:
        scores = ", ".join(f"{score:g}" for score in status.hfs_history)
        told = f"{handoffs} handoff{'s' if handoffs > 1 else ''}, fidelity {scores} of 100"
        lines.append(told if seen else f"{told}: {FIDELITY}")
    if status.withheld:
        lines.append(f"not on the branch: {', '.join(status.withheld)}; it stays in {status.worktree}")
    if error := status.error:
        lines += [f"{error.code}: {error.detail.rstrip()}", f"next: {error.hint}"]
    if state is SessionState.COMPLETED and not verified:
        lines.append('no acceptance command is configured: hub run --verify "make test" "..."')
    return lines


def _began(status: Status) -> bool:
    """Whether it came as far as a worktree."""
    early = status.error is not None and status.error.code in _NO_SNAPSHOT - {Code.WORKTREE_MISSING}
    return not early or Path(status.worktree).exists()


def _where(status: Status) -> str:
    """Where the work of one that failed is: what keeps a snapshot from being made is mostly why it failed."""
    if not _began(status):
        return "no agent has begun"
    if status.error is not None and status.error.code in _NO_SNAPSHOT:
        return "what is not on the branch is still in its worktree"
    return "the work so far is on the branch"


def _spent(status: Status) -> str:
    """How long it took, waits included, and what it used."""
    if not status.started_at or not status.ended_at:
        return ""
    took = (local(status.ended_at) - local(status.started_at)).total_seconds()
    return f" ({span(took)}, {status.tokens_used:,} tokens)"
