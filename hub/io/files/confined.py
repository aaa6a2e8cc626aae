"""Files below a folder, opened with care.

Owns: the opening of a regular file, no step of whose path is a link.
Must not: follow a link below the folder, or wait for anybody.

Whoever may write into the folder chooses what lies there. So every step of a path is opened relative to the one before
it; only a regular file is opened; a FIFO or a device never blocks.
"""

from __future__ import annotations

import os
import stat

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_ODD = frozenset(("", ".", ".."))
"""Steps that lead to no entry of their folder."""


class FileRefusedError(Exception):
    """There is no file that may be opened, or it cannot be read. The text is the reason, fit to be shown."""


def open_below(root: str, path: str) -> int:
    """A descriptor of a regular file below `root`, which may itself be reached through a link.

    Raises:
        RefusedError: It is none, it lies elsewhere, or it cannot be opened.
    """
    top, steps = root, path[len(root) + 1 :].split("/")
    if not path.startswith(f"{root}/") or _ODD.intersection(steps):
        top = os.path.realpath(root)
        steps = true_path(root, path)[len(top) :].strip("/").split("/")
    folder = -1
    try:
        folder = os.open(top, _DIRECTORY)
        for step in steps[:-1]:
            inner = os.open(step, _DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        fd = os.open(steps[-1], _FILE, dir_fd=folder)
    except (OSError, ValueError) as error:
        raise refused(path, error) from error
    finally:
        if folder >= 0:
            os.close(folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise FileRefusedError(f"{path} is no regular file.")
    return fd


def true_path(root: str, path: str) -> str:
    """The path as it is below the root itself, which may be reached through a link; nothing below it may.

    Raises:
        RefusedError: It does not lie there.
    """
    top = os.path.realpath(root)
    inside = os.path.relpath(path, top if path.startswith(f"{top}/") else root)
    if not path.startswith("/") or inside == "." or ".." in inside.split("/"):
        raise FileRefusedError(f"{path} is not below {root}.")
    return f"{top.rstrip('/')}/{inside}"


def refused(path: str, error: OSError | ValueError) -> FileRefusedError:
    """The error in words."""
    why = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
    return FileRefusedError(f"{path} cannot be read: {why}.")
