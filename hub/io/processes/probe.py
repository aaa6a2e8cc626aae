"""Looking at an installed program: where it is and what version it says it has.

Owns: the bounded run of a version command.
Must not: log in, or run anything but the arguments it is given.
Tests: tests/hub/actors/settings/test_writer.py
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import trio

from hub.io.processes.commands import base_env

TIMEOUT = 20.0
"""Seconds that a program has where nobody waits for it."""
_CAP = 200


@attrs.frozen
class ProgramProbe:
    """What was found."""

    ok: bool
    detail: str
    path: str
    version: str
    latency_ms: int
    checked_at: float
    """Epoch seconds."""


def which(program: str) -> str:
    """Where a program is; "" when it is not installed."""
    return shutil.which(program) or ""


async def probe(program: str, version_args: Sequence[str], limit: float = TIMEOUT) -> ProgramProbe:
    """Ask a program for its version; a program that is missing, hangs or fails is a result, not an error.

    Args:
        program: A path, or a name on PATH.
        version_args: What makes it tell.
        limit: Seconds after which it is ended.
    """
    started, began = time.time(), time.monotonic()
    path = which(program)
    if not path:
        return ProgramProbe(
            ok=False, detail="not installed", path="", version="", latency_ms=0, checked_at=started
        )
    words = ""
    detail = f"{Path(program).name} did not answer within {limit:g} s"
    with trio.move_on_after(limit):
        try:
            done = await trio.run_process(
                [path, *version_args],
                capture_stdout=True,
                stderr=subprocess.DEVNULL,
                check=False,
                env=base_env(),
                cwd="/",  # in no project: it has nothing to read there, and is nobody's work
                start_new_session=True,
                deliver_cancel=kill_group,
            )
        except OSError as error:
            detail = str(error.strerror)
        else:
            words = done.stdout.decode("utf-8", "replace").strip().partition("\n")[0][:_CAP]
            detail = words or f"{program} ended with status {done.returncode} and told no version"
    took = int((time.monotonic() - began) * 1000)
    return ProgramProbe(
        ok=bool(words), detail=detail, path=path, version=words, latency_ms=took, checked_at=started
    )


async def kill_group(process: trio.Process) -> None:
    """The program and what it started: some launch themselves a second time."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
