"""The user's daemons: each writes its project down where all of them are found.

Owns: the folder of these notes, and their form: a file with the project's path, named after it.
Must not: say whether a daemon runs (who finds a note asks the daemon that the project's own `.hub/daemon.json` names), or
keep a daemon from starting.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from pathlib import Path

from hub.errors import HubError
from hub.io.files.atomic import write_atomic
from hub.io.project.places import make_private_dir
from hub.userdirs import state_dir

_SUFFIX = ".project"
_LONGEST = 4096
_OPEN = 0o077


def folder() -> Path:
    """With what hub keeps: a runtime directory is not there in every login of one user."""
    return Path(state_dir()) / "running"


def note(root: Path) -> Path | None:
    """Write a project down; None where that is not possible, and nobody is kept waiting for it."""
    where = folder()
    path = where / f"{_name(root)}{_SUFFIX}"
    with contextlib.suppress(OSError, HubError):
        where.parent.parent.mkdir(parents=True, exist_ok=True)
        make_private_dir(where.parent)
        where.mkdir(mode=0o700, exist_ok=True)
        if _own(where):
            write_atomic(path, os.fsencode(root) + b"\n")
            return path
    return None


def forget(path: Path | None, announced: Path) -> None:
    """Take a note back, unless the next daemon of the project has announced itself."""
    if path is not None and not announced.exists():
        with contextlib.suppress(OSError):
            path.unlink()


def projects() -> list[Path]:
    """The projects that were written down, by path. Those of a folder that others may write to are believed by nobody."""
    where = folder()
    found: set[Path] = set()
    with contextlib.suppress(OSError):
        if not _own(where):
            return []
        for entry in where.iterdir():
            if entry.suffix == _SUFFIX and entry.is_file() and entry.stat().st_size <= _LONGEST:
                root = Path(os.fsdecode(entry.read_bytes().rstrip(b"\n")))
                if root.is_absolute() and entry.stem == _name(root):
                    found.add(root)
    return sorted(found)


def _name(root: Path) -> str:
    return hashlib.sha256(os.fsencode(root)).hexdigest()[:32]


def _own(where: Path) -> bool:
    found = where.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OPEN
