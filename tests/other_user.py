"""Another user of this machine: programs that run under another uid.

Owns: who that is, and how a program is run by them.
Must not: skip quietly: only root can be two users, and the build is run by root.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NOBODY = 65534
only_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="ONLY ROOT CAN BE TWO USERS: run these tests as root"
)
AS_NOBODY = (
    "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
    # To read the interpreter, wherever it lies; what a socket is asked for is its user alone.
    "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search",
)  # fmt: skip
_BARE = {"PATH": os.defpath, "LC_ALL": "C.UTF-8"}


def _command(program: str, words: tuple[str, ...]) -> list[str]:
    return [*AS_NOBODY, sys.executable, "-I", "-c", program, *words]


def by_nobody(program: str, *words: str, timeout: float = 120.0) -> str:
    """What a program of Python's prints that another user runs to its end."""
    done = subprocess.run(
        _command(program, words),
        cwd="/",
        env=_BARE,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def started_by_nobody(program: str, *words: str) -> subprocess.Popen[str]:
    """The same, beside the test; its input and output are pipes."""
    return subprocess.Popen(
        _command(program, words),
        cwd="/",
        env=_BARE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
