"""Whether the daemon at the other end is this user's own.

Owns: what a client looks at before it sends anything: a task, a provider's key, the token.
Must not: import more than the standard library and `hub.owners` where the kernel tells.

Anybody may listen on a free port. A `.hub/daemon.json` outlives a daemon that was killed, and the port in it may be another
user's by now.
"""

from __future__ import annotations

import os
import socket
from contextlib import suppress

from hub.errors import Code, HubError
from hub.owners import Owner, Owners, peer


def insist_own(connection: socket.socket) -> None:
    """Looks who is at the other end of a connection, before anything is sent.

    Raises:
        HubError: `other_user`.
        OSError: The connection has ended.
    """
    if connection.family == socket.AF_UNIX:
        own = peer(connection) == Owner(os.geteuid())
    else:
        with Owners() as owners:
            own = _is_own(connection, owners) if owners.known else _among_own(connection.getpeername()[1])
    if not own:
        there = connection.getpeername()
        where = there if isinstance(there, str) else f"port {there[1]}"
        raise HubError(
            Code.OTHER_USER,
            f"What listens on {where} is not this user's; nothing was sent.",
            hint="Start your own: hub daemon --port 0   (and unset HUB_PORT, if it is set)",
        )


def _is_own(connection: socket.socket, owners: Owners) -> bool:
    """The listener first: a connection that nobody has accepted by then can only be taken by this listener."""
    there = connection.getpeername()[:2]
    own = Owner(os.geteuid())
    listener = owners.listener(there)
    if (
        listener is None
    ):  # a daemon that was just killed; whoever closed his door on purpose is sent nothing either
        raise ConnectionRefusedError(f"nobody listens on port {there[1]} any more")
    return listener == own and owners.other_end(connection.getsockname()[:2], there) in (own, None)


def _among_own(port: int) -> bool:
    """Whether a process of this user listens on the port, found by looking at each: the way of other systems."""
    import psutil  # noqa: PLC0415  # where the kernel tells it is not needed

    me = os.geteuid()
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.uids().effective == me and any(
                found.status == psutil.CONN_LISTEN and found.laddr.port == port
                for found in process.net_connections("tcp")
            ):
                return True
    return False
