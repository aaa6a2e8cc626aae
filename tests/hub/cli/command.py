"""The command line as a user meets it: a process, its two outputs and its exit status.

Owns: how a command is started on a test's project.
Must not: look into the process.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests import forks
from tests.faults.harness import GIT_ENV

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 60.0
Done = subprocess.CompletedProcess[str]


def environ(base: Path, **more: str) -> dict[str, str]:
    """An environment without the user's settings of hub, whose user trusts the test's project."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("HUB_", "GIT_"))}
    places = {
        "HUB_STATE_DIR": str(base / "state"),
        "HUB_CONFIG_DIR": str(base / "config"),
        "HUB_AMBIENT": "0",
        "HUB_TRUST": "1",
        "TZ": "UTC",
    }
    return {**plain, **GIT_ENV, **places, "PYTHONPATH": str(ROOT), **more}


def hub(*args: str, cwd: Path, env: Mapping[str, str] | None = None, given: str = "") -> Done:
    """Run one command to its end; `given` is what it reads."""
    own = dict(environ(cwd.parent) if env is None else env)
    if own.get("PYTHONPATH") == str(ROOT):
        return forks.run(args, cwd=cwd, env=own, given=given, timeout=LIMIT)
    # It is to find other packages than those that are imported already.
    argv = [sys.executable, "-m", "hub", *args]
    return subprocess.run(
        argv, cwd=cwd, env=own, input=given, capture_output=True, text=True, check=False, timeout=LIMIT
    )


def typed(
    *args: str, answer: str, cwd: Path, env: Mapping[str, str], asks: str = "[y/N]:"
) -> tuple[int, str]:
    """Run one command on a terminal and answer what it asks there; its exit status, and all that stood on the terminal."""
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(cwd)
        os.execve(sys.executable, [sys.executable, "-m", "hub", *args], dict(env))
    shown = b""
    # What is read from is gone with the command.
    with os.fdopen(terminal, "r+b", buffering=0) as both, suppress(OSError):
        while asks.encode() not in shown:
            shown += both.read(4096)
        both.write(f"{answer}\n".encode())
        while data := both.read(4096):
            shown += data
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode().replace("\r\n", "\n")
