"""Run folders that nobody needs any more.

Owns: which folders below `.hub/run/` go, and when.
Must not: end a process, or take a folder of which it is not certain whose it was.

A folder goes when a daemon starts, if its dispatch was of a session that is neither active nor the newest, and its
runner has given its verdict, is dead with all its processes, or never began. What the agent said is in the event log by
then, what it wrote in its worktree and its snapshots. The last session's folders stay: there the raw output can be looked
into.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import msgspec

from hub.errors import HubError
from hub.io.files.sealed import read_sealed
from hub.io.project.places import Places
from hub.io.records.sessions import homes, session_store

ASSIGNMENT = "assignment.json"
ASSIGNMENT_LIMIT = 16 * 1024 * 1024


class _Whose(msgspec.Struct):
    session_id: str


def sweep_runs(places: Places) -> list[str]:
    """Removes the folders of earlier sessions' runs; their names. Nothing goes while a record cannot be read, or none is."""
    from hub.io.runner.view import Dead, Running, inspect  # a project without a run starts without it

    known = []
    for home in homes(places):
        try:
            record = session_store(home).look()
        except HubError:
            return []
        if record is not None:
            known.append(record)
    if not known:
        return []
    newest = max(known, key=lambda record: (record.started_at, record.session_id))
    present = {newest.session_id, *(record.session_id for record in known if record.session_state.active)}
    swept = []
    for run in sorted(places.run_dir.iterdir()):
        try:
            state = inspect(run)
            whose = msgspec.json.decode(
                read_sealed(run / ASSIGNMENT, ASSIGNMENT_LIMIT), type=_Whose
            ).session_id
        except (OSError, HubError, msgspec.MsgspecError):
            continue
        over = state.settled if isinstance(state, Dead) else not isinstance(state, Running)
        if over and whose not in present and not run.is_symlink() and not _has_folders(run):
            shutil.rmtree(run)
            swept.append(run.name)
    return swept


def _has_folders(run: Path) -> bool:
    """Hub makes none there, so another one did."""
    return any(entry.is_dir() and not entry.is_symlink() for entry in run.iterdir())
