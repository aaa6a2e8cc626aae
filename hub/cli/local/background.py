"""The project's daemon: the one that runs, or one in the background, started for whoever does not stay.

Owns: which one is the project's, how one is started, and the wait until it answers, or the reason why it does not.
Must not: start one beside one that runs, or know what it is for.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from hub.api.health import Health
from hub.cli.context import client, project_dir
from hub.cli.terminal.meanwhile import waiting_for
from hub.client.place import root_of, told_by
from hub.client.quick import Api, error_of, find, unless_absent
from hub.errors import Code, HubError
from hub.io.project.places import Places, make_private_dir, state_dir
from hub.io.records.sessions import found

PATIENCE = 130.0
"""Seconds for a start: as `hub run` gives its own."""
_LOOK, _SOON = 0.05, 1.0
_LAST = 64 * 1024
_READY = '{"url": '
"""How it says that it serves, below its warnings."""


def daemon(project: Path, port: int | None, *, trusted: bool = False) -> tuple[Api, bool]:
    """The project's daemon, and whether it was started for this.

    Args:
        project: A folder of the project.
        port: Where it is to listen; None = as configured.
        trusted: Whether the user has said yes for this time only.

    Raises:
        HubError: Why it does not start; `timeout`.
    """
    there = running(project, port)
    if there is not None:
        return there, False
    root = root_of(project) or project
    log = _log(root)
    words = [sys.executable, "-P", "-m", "hub", "--project", str(root), "daemon", "--json"]
    words += ["--port", str(port)] if port is not None else []
    words += ["--trust"] if trusted else []
    with log.open("wb") as out:
        child = subprocess.Popen(
            words,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline, said = time.monotonic() + PATIENCE, 0.0
    with waiting_for(f"starting a daemon for {root}"):
        while time.monotonic() < deadline:
            if child.poll() is not None:
                raise _ended(log)
            if told_by(root).pid == child.pid:
                # A start beside it may have begun the log anew; the daemon is there nonetheless.
                said = said or time.monotonic()
                if _READY in log.read_text(errors="replace") or time.monotonic() > said + _SOON:
                    return find(None, root, without_port()), True
            time.sleep(_LOOK)
    raise HubError(Code.TIMEOUT, f"The daemon has not started within {PATIENCE:g} s.", hint=f"See: {log}")


def at_hand(ctx: click.Context, project: Path | None = None, may: Callable[[], bool] = lambda: True) -> Api:
    """The project's daemon; where none runs one is started, and said so. A port that the user named is meant.

    None is started where it would go on with a session that was broken off: a question about the code is no word to
    spend on that.

    Args:
        ctx: The command's.
        project: A folder of the project; None = the one the user means.
        may: Asked before one is started.

    Raises:
        HubError: As `daemon`; `not_a_repository`, `daemon_not_running`.
    """
    project = project or project_dir(ctx)
    api = client(ctx)
    named = api.named
    if not named:
        api = find(None, project)
    try:
        api.get("/api/health")
    except HubError as error:
        if error.code is not Code.DAEMON_NOT_RUNNING or named or not may():
            raise
        _insist_at_rest(project)
        api, fresh = daemon(project, None)
        if fresh:
            announce(project, api)
    return api


def _insist_at_rest(project: Path) -> None:
    open_ = [
        record.session_id
        for record in found(Places(root_of(project) or project))
        if record.session_state.active
    ]
    if open_:
        raise HubError(
            Code.DAEMON_NOT_RUNNING,
            f"No daemon runs here, and one that starts would go on with session {open_[-1]}, which is not over.",
            hint="Let it go on: hub daemon",
        )


def announce(project: Path, api: Api) -> None:
    """Say that one was started, and what it had to tell at its start."""
    root = root_of(project) or project
    warnings, ready, _ = _log(root).read_text(errors="replace").partition(_READY)
    click.echo(
        f"{warnings if ready else ''}started a daemon for {root} in the background: {api.url}", err=True
    )


def _log(root: Path) -> Path:
    """What it says goes where no project's files are."""
    state = state_dir()
    state.parent.mkdir(parents=True, exist_ok=True)
    folder = state / "daemons"
    make_private_dir(state)
    make_private_dir(folder)
    return folder / f"{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}.log"


def _ended(log: Path) -> HubError:
    """Its own error, as it says it with `--json`."""
    text = log.read_bytes()[-_LAST:].decode("utf-8", "replace")
    for line in reversed(text.splitlines()):
        try:
            document = json.loads(line)
        except ValueError:
            continue
        found = error_of(document.get("error")) if isinstance(document, dict) else None
        if found is not None:
            return found
    return HubError(Code.DAEMON_NOT_RUNNING, "The daemon ended at its start.", hint=f"See: {log}")


def running(project: Path, port: int | None) -> Api | None:
    """The daemon that answers for this very project, or None.

    A port alone is not enough to join: what listens there may serve another project.
    """
    root = root_of(project)
    if root is None or told_by(root).port is None:
        return None
    api = find(None, project, without_port())
    if port not in (None, 0, api.port):
        return None
    return api if unless_absent(partial(api.read, Health, "/api/health")) is not None else None


def without_port() -> dict[str, str]:
    """The environment for who means a project's own daemon, whatever port is named."""
    return {name: value for name, value in os.environ.items() if name != "HUB_PORT"}
