"""The unix socket: the same API by a door that only this user can come to.

Owns: where it may lie, its modes, and what becomes of one that a dead daemon left.
Must not: know what is served over it.
"""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from hub.errors import Code, HubError
from hub.io.project.places import make_private_dir

BACKLOG = 256
_MAX_PATH = 100
"""Bytes; the systems' own limits are 104 and 108."""


def bind_unix(path: Path) -> socket.socket:
    """A listening socket, 0600, in a 0700 directory of this user; the directory is made if it is not there.

    Raises:
        HubError: `port_in_use` when somebody answers there, `config_invalid` when it may not lie there.
    """
    if len(os.fsencode(path)) > _MAX_PATH:
        raise _refused(path, f"the path is longer than {_MAX_PATH} bytes")
    if not path.parent.exists():
        make_private_dir(path.parent)
    _insist_private(path)
    _clear(path)
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        sock.bind(os.fspath(path))
        path.chmod(0o600)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise _refused(path, str(error.strerror)) from error
    return sock


def _insist_private(path: Path) -> None:
    found = path.parent.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise _refused(path, "its directory is not one that only you can enter (mode 0700)")


def _clear(path: Path) -> None:
    """Takes away a socket that nobody answers on; one that is answered, and anything else, stays."""
    try:
        if not stat.S_ISSOCK(path.lstat().st_mode):
            raise _refused(path, "there is a file of that name")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            path.unlink()
            return
    raise HubError(
        Code.PORT_IN_USE, f"Something already answers on {path}.", hint="Choose another: [server] socket"
    )


def _refused(path: Path, why: str) -> HubError:
    hint = "Put it where only you can go, such as .hub/hub.sock; or take [server] socket away."
    return HubError(Code.CONFIG_INVALID, f"cannot listen on {path}: {why}", hint=hint)
