"""How a runner is told what to start.

Owns: `AgentLaunch`, and writing it, with the files the agent needs, into the run directory.
Must not: start anything.

The launch file holds the agent's keys, and the one that the runner seals its own files with. It is written 0600 into a
0700 directory, and the runner takes it away before it lets the agent go.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.files.atomic import write_atomic
from hub.io.files.sealed import run_key
from hub.io.runner import files as runner_files

_RUN_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@attrs.frozen
class StopGraces:
    """Seconds after SIGINT, SIGTERM and SIGKILL before the next step. 0 skips a signal, but never SIGKILL."""

    interrupt: float = 5.0
    terminate: float = 5.0
    kill: float = 2.0


@attrs.frozen
class AgentLaunch:
    """How a runner starts its agent."""

    argv: Sequence[str]
    env: Mapping[str, str]
    """The agent's whole environment; only HUB_RUN_ID is added."""
    cwd: Path
    stdin: str = "null"
    """What its standard input is: `null` or `pipe`."""
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    """Written into the run directory (0600) before the start."""
    orphan_grace: float = 120.0
    """Seconds without a daemon after which the agent is stopped in order; 0 = at once."""
    graces: StopGraces = StopGraces()
    """For stops the runner begins by itself."""
    spool_limit: int = 512 * 1024 * 1024
    """Bytes of stdout after which the agent is stopped in order with reason `spool_full`."""
    stderr_limit: int = 16 * 1024 * 1024
    """Bytes of stderr that are spooled; what comes after is counted, and its tail kept."""
    drain: float = 2.0
    """Seconds in which processes that outlive the agent may still write to its stdout."""
    linger: float = 1.0
    """Seconds an ended runner waits for a daemon that is about to attach. No longer: its files say all it would, and
    two seconds after a daemon's end no process of a run is left (I6)."""


def prepare(run_dir: Path, launch: AgentLaunch) -> bool:
    """Write everything the runner will read; False when the run directory is claimed, and nothing is written.

    Raises:
        HubError: `invalid` for a run directory or a file that may not be named so; or as `write_atomic`.
        OSError: Something could not be written.
    """
    if not _RUN_ID.fullmatch(run_dir.name):
        raise HubError(Code.INVALID, f"{run_dir.name!r} is not a run id.")
    bad = [name for name in launch.files if not _FILE_NAME.fullmatch(name) or name in runner_files.RESERVED]
    if bad:
        raise HubError(Code.INVALID, f"{bad[0]!r} may not be the name of a file in a run directory.")
    with contextlib.suppress(FileExistsError):
        run_dir.mkdir(0o700)
    if os.path.lexists(run_dir / runner_files.CLAIM):
        return False
    for name, data in launch.files.items():
        write_atomic(run_dir / name, data)
    told = {**_launch_json(launch), "sealKey": run_key(run_dir).hex()}
    write_atomic(run_dir / runner_files.LAUNCH, json.dumps(told).encode())
    return True


def _launch_json(launch: AgentLaunch) -> dict[str, object]:
    return {
        "argv": list(launch.argv),
        "env": dict(launch.env),
        "cwd": str(launch.cwd),
        "stdin": launch.stdin,
        "orphanGrace": launch.orphan_grace,
        "graces": list(attrs.astuple(launch.graces)),
        "spoolLimit": launch.spool_limit,
        "stderrLimit": launch.stderr_limit,
        "drain": launch.drain,
        "linger": launch.linger,
    }
