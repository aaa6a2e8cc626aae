"""Run folders that nobody needs any more.

Owns: which folders below `.hub/run/` go, and when.
Must not: end a process, or take a folder of which it is not certain whose it was.

A folder goes when a daemon starts, if its dispatch was of an earlier session than the one on record and its runner has
given its verdict, or is dead with all its processes. What the agent said is in the event log by then, what it wrote in its
worktree and its snapshots. The last session's folders stay: there the raw output can be looked into.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from hub.domain.session import StateCorrupt, decode
from hub.errors import HubError
from hub.io.places import Places
from hub.io.sealed import read_sealed

ASSIGNMENT = "assignment.json"
ASSIGNMENT_LIMIT = 16 * 1024 * 1024
_RECORD_LIMIT = 4 * 1024 * 1024


class _Whose(msgspec.Struct):
    session_id: str


def sweep_runs(places: Places) -> list[str]:
    """Removes the folders of earlier sessions' runs; their names. Nothing goes while no session is on record."""
    from hub.io.runner.view import Dead, Ended, inspect  # noqa: PLC0415  # a project without a run starts without it

    try:
        present = decode(read_sealed(places.fsm, _RECORD_LIMIT)).session_id
    except (OSError, HubError, StateCorrupt):
        return []
    swept = []
    for run in sorted(places.run_dir.iterdir()):
        try:
            state = inspect(run)
            whose = msgspec.json.decode(
                read_sealed(run / ASSIGNMENT, ASSIGNMENT_LIMIT), type=_Whose
            ).session_id
        except (OSError, HubError, msgspec.MsgspecError):
            continue
        over = isinstance(state, Ended) or (isinstance(state, Dead) and state.settled)
        if over and whose != present and not run.is_symlink() and not _has_folders(run):
            shutil.rmtree(run)
            swept.append(run.name)
    return swept


def _has_folders(run: Path) -> bool:
    """Hub makes none there, so another one did."""
    return any(entry.is_dir() and not entry.is_symlink() for entry in run.iterdir())
