"""The lines of the scripts that a request for permission runs by their names.

Owns: finding and reading them, and those that they run in turn, as far as they are short and plain files.
Must not: judge, or wait for what is no plain file.
"""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from hub.domain.approval import PermissionRequest
from hub.domain.permission.places import Where
from hub.domain.permission.scripts import said, scripts
from hub.errors import HubError
from hub.io.files.atomic import read_bounded

_MOST = 16
"""Scripts of one command; whoever nests deeper is not followed."""
_SIZE = 64 * 1024


def lines_run(request: PermissionRequest, where: Where) -> list[str]:
    """What each script that the request's command runs would have a shell do. Never raises."""
    folder = posixpath.join(request.folder or "/", str(request.context.get("cwd") or ""))
    waiting = scripts(str(request.context.get("command") or ""))
    found: list[str] = []
    read: set[tuple[str, str]] = set()
    while waiting and len(read) < _MOST:
        script = waiting.pop(0)
        name = where.home + script.name[1:] if script.name.startswith("~/") else script.name
        path = posixpath.join(folder, name)
        if (path, script.entry) in read:
            continue
        read.add((path, script.entry))
        if line := said(script, _text(path)):
            found.append(line)
            waiting += scripts(line)
    return found


def _text(path: str) -> str:
    """A short plain file's text, through its links; "" of any other."""
    try:
        return read_bounded(Path(os.path.realpath(path)), _SIZE).decode("utf-8", "replace")
    except (OSError, ValueError, HubError):
        return ""
