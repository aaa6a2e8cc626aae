"""A daemon that outlives whoever starts it: for faces that come and go, such as an editor.

Owns: that it is started only in a project that its user trusts, and that it listens when this returns.
Must not: print, or end a daemon.
Tests: tests/hub/acp/test_agent.py
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from pathlib import Path
from typing import IO, Any

from hub.errors import Code, HubError

PATIENCE = 60.0
"""Seconds a start may take on a busy machine."""
_LINE = 1024 * 1024


def begin(root: Path) -> None:
    """Start the project's daemon, and wait until it listens; one that has come meanwhile is as good.

    Raises:
        HubError: `trust_needed`, `no_commit`, `config_invalid`..., or what the daemon ended with.
    """
    from hub.cli.beforehand import insist_on_commit
    from hub.cli.trusting import insist_on_trust

    insist_on_trust(root, as_json=True)
    insist_on_commit(root)
    # Started in whatever folder the editor works in, it must not take its modules from there.
    command = [sys.executable, "-P", "-m", "hub", "--project", str(root), "daemon", "--port", "0", "--json"]
    with subprocess.Popen(  # noqa: S603  # our own words
        command,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None  # noqa: S101  # it was asked for
        told = _first_line(process.stdout)
        if "url" in told:
            process.returncode = 0  # it goes on: nobody waits for it here
            return
        if not told:
            process.kill()
    error = told.get("error")
    if isinstance(error, dict) and error.get("code") in set(Code):
        code = Code(error["code"])
        if code is not Code.PROJECT_LOCKED:
            raise HubError(code, str(error.get("detail", "")), hint=str(error.get("hint", "")))
        return
    raise HubError(Code.TIMEOUT, f"The daemon did not begin within {PATIENCE:g} s.", hint="Try: hub daemon")


def _first_line(output: IO[bytes]) -> dict[str, Any]:
    """What the daemon says when it listens, or ends; {} = nothing in time."""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        if not selector.select(PATIENCE):
            return {}
    try:
        told = json.loads(output.readline(_LINE))
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
