"""Whose a connection is, asked once when it is accepted.

Owns: the three answers, and that whoever cannot be told is not taken for this user.
Must not: refuse anybody; the guard does, for a token may open the door to others.
"""

from __future__ import annotations

import logging
import os
import socket
from enum import Enum

from hub.owners import Address, Owner, Owners, alive, peer

_log = logging.getLogger("hub.web")


class Caller(Enum):
    """Who is at the other end."""

    OWN = "this user"
    OTHER = "another user, or nobody any more"
    UNTOLD = "the kernel does not tell"


def caller(sock: socket.socket, owners: Owners) -> Caller:
    """Whose process it is at the other end of a connection that was accepted."""
    if sock.family == socket.AF_UNIX:
        return Caller.OWN if peer(sock) == Owner(os.geteuid()) else Caller.OTHER
    if not owners.known:
        return Caller.UNTOLD
    try:
        own: Address = sock.getsockname()[:2]
        found = owners.other_end(own, sock.getpeername()[:2])
    except OSError as error:
        _log.warning("the kernel did not tell whose a connection is, so it needs the token: %s", error)
        return Caller.UNTOLD
    # Asked after that: were it closed, its port might be another connection's by then.
    return Caller.OWN if found == Owner(os.geteuid()) and alive(sock) else Caller.OTHER
