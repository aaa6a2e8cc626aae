"""Where a project's daemon is, and what it wants to see.

Owns: the walk from a folder to its project, what `.hub/daemon.json` tells, and where the token is found.
Must not: talk to a daemon, or import more than the standard library before it is needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import attrs

from hub.userdirs import config_dir

PROJECT_HEADER = "Hub-Project"
"""Names the project that a request is meant for; a daemon of another one refuses it."""


@attrs.frozen
class DaemonRecord:
    """What a daemon said of itself when it started."""

    port: int | None = None
    socket: str = ""
    """Its unix socket; "" = it has none."""
    guarded: bool = False
    """Whether it wants the token."""
    token: str = ""
    """The one that it made itself, for the kernel does not tell it whose a connection is; "" = there is none."""
    pid: int = 0
    """Its process; 0 = it does not say."""


def root_of(directory: Path) -> Path | None:
    """The project that a folder lies in; from a session's worktree it is that of the session.

    A session's worktree is known by its place, not by what its `.git` says: an agent may have written that.
    """
    for place in (directory, *directory.parents):
        if (place / ".git").exists():
            worktrees = place.parent
            if worktrees.name == "worktrees" and worktrees.parent.name == ".hub":
                return root_of(worktrees.parent.parent)
            return place
    return None


def told_by(root: Path) -> DaemonRecord:
    """What the project's `.hub/daemon.json` says; nothing of it is believed before the daemon has answered."""
    try:
        found = json.loads((root / ".hub" / "daemon.json").read_bytes())
    except (OSError, ValueError):
        return DaemonRecord()
    if not isinstance(found, dict):
        return DaemonRecord()
    socket, token, pid = found.get("socket"), found.get("token"), found.get("pid")
    return DaemonRecord(
        port_number(found.get("port")),
        socket if isinstance(socket, str) else "",
        found.get("guarded") is True,
        token if isinstance(token, str) else "",
        pid if type(pid) is int else 0,
    )


def how_to_end(root: Path) -> str:
    """The first half of a hint: what ends the project's daemon in order. No command of hub's does."""
    pid = told_by(root).pid
    return f"End that daemon in order: kill {pid}" if pid else "End that daemon: Ctrl-C where it runs"


def port_number(value: object) -> int | None:
    """The value, if a port can have it."""
    return value if type(value) is int and 0 < value < 2**16 else None


def project_name(root: Path) -> str:
    """The project as a header tells it: its real path, in ASCII."""
    return quote(os.fsencode(os.path.realpath(root)))


def token_for(environ: Mapping[str, str]) -> str:
    """The token where the daemon has it from: `HUB_TOKEN`, the user's `config.toml`."""
    return environ.get("HUB_TOKEN") or _token_in(Path(config_dir(environ)) / "config.toml")


def _token_in(path: Path) -> str:
    import tomllib  # noqa: PLC0415  # only where a daemon wants a token

    try:
        found: object = tomllib.loads(path.read_text("utf-8-sig"))["server"]["token"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # a file that cannot be read is the daemon's to complain of
    return found if isinstance(found, str) else ""
