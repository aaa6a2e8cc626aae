"""What the machine tells of one process, for the census.

Owns: `Process`es made of what `/proc` tells (`hub.io.process_raw` reads it), or psutil where there is none.
Must not: judge what it reads, or read of another user's process.
Tests: tests/hub/io/test_census.py
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from hub.domain.detection.processes import Process, script_of
from hub.io import process_raw
from hub.io.runner import proc

if TYPE_CHECKING:
    from hub.io.process_raw import Raw

_FILES = 512
"""Open files of one process that are looked at."""


def pids() -> set[str]:
    """Every process, by its number as text."""
    if proc.LINUX:
        return process_raw.pids()
    import psutil  # noqa: PLC0415  # not needed where there is `/proc`

    return {str(pid) for pid in psutil.pids()}


def starttime(pid: int) -> int | None:
    """When the process started, in ticks since boot; None when it is gone."""
    if proc.LINUX:
        return proc.starttime(pid)
    from hub.io.processes import identity_of  # noqa: PLC0415  # as above

    found = identity_of(pid)
    return found.starttime if found is not None else None


def read(pid: int, wanted: Callable[[str, str], bool]) -> Process | None:
    """What is known of a process of this user; None when it is gone, another user's, or not wanted.

    Args:
        pid: Its number.
        wanted: Whether its executable and its script (links resolved) are worth while to read on.
    """
    if not proc.LINUX:
        return _from_psutil(pid, wanted)
    try:
        raw = process_raw.read(pid, wanted)
    except (OSError, ValueError):
        return None
    if raw is None:
        return None
    number, parent, started, began, executable, argv, script, cwd, env, open_files = raw
    return Process(
        pid=number,
        parent=parent,
        starttime=started,
        began=began,
        executable=executable,
        argv=argv,
        script=script,
        cwd=cwd,
        env=env,
        open_files=open_files,
        run_id=env.get(process_raw.RUN_ID, ""),
    )


def raw_of(process: Process) -> Raw:
    """What `hub.io.process_raw` has read of it."""
    return (
        process.pid,
        process.parent,
        process.starttime,
        process.began,
        process.executable,
        process.argv,
        process.script,
        process.cwd,
        dict(process.env),
        process.open_files,
    )


def _from_psutil(pid: int, wanted: Callable[[str, str], bool]) -> Process | None:
    import psutil  # noqa: PLC0415  # as above

    from hub.io.processes import identity_of  # noqa: PLC0415  # as above

    try:
        process = psutil.Process(pid)
        if process.uids().real != os.geteuid():
            return None
        executable, argv = process.exe(), tuple(process.cmdline())
        script = script_of(executable, argv)
        script = os.path.realpath(script) if script.startswith("/") else script
        identity = identity_of(pid)
        if identity is None or not wanted(executable, script):
            return None
        env = process.environ()
        return Process(
            pid=pid,
            parent=process.ppid(),
            starttime=identity.starttime,
            began=process.create_time(),
            executable=executable,
            argv=argv,
            script=script,
            cwd=process.cwd(),
            env=env,
            open_files=tuple(file.path for file in process.open_files()[:_FILES]),
            run_id=env.get(process_raw.RUN_ID, ""),
        )
    except psutil.Error:
        return None
