"""The sockets a daemon listens on: bound once, and kept while what serves them is made anew.

Owns: the bind (loopback only) and their life: from the first server to the end in order, or of the daemon. A server
that was killed leaves them open: whoever connects meanwhile waits, and nobody else takes the port.
Must not: accept a connection, or know what is served.
"""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.files.atomic import is_still
from hub.web.unix import bind_unix

BACKLOG = 1024


@attrs.frozen
class Bound:
    """Where the server listens."""

    host: str
    port: int
    socket: str = ""
    """The unix socket's path; "" = there is none."""

    @property
    def url(self) -> str:
        """The base address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"


class Doors:
    """One daemon's."""

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 4748,
        *,
        elsewhere: bool = False,
        unix: Path | None = None,
    ) -> None:
        """Nothing is bound before `open`.

        Args:
            host: A loopback address; anything else is refused.
            port: 0 = any free one.
            elsewhere: Whether any free one will do where `port` is in use.
            unix: Where the unix socket is to lie that is served beside the port.
        """
        self._host = host
        self._port = port
        self._elsewhere = elsewhere
        self._unix = unix
        self._sockets: list[socket.socket] = []
        self._lies: os.stat_result | None = None
        self.bound: Bound | None = None
        """Where they are; it stays as it was when they are closed."""

    def open(self) -> tuple[Bound, list[socket.socket]]:
        """Where they are, and the sockets, which stay this object's: bound now, or by the server before.

        Raises:
            HubError: `port_in_use`, or `config_invalid` for an address that is not loopback.
        """
        if self.bound is not None and self._sockets:
            return self.bound, self._sockets
        again = self.bound.port if self.bound is not None else self._port
        self._sockets = [self._bind(again)]
        if self._unix is not None:
            try:
                self._sockets.append(bind_unix(self._unix))
                self._lies = self._unix.lstat()
            except BaseException:
                self.close()
                raise
        where = self._sockets[0].getsockname()
        self.bound = Bound(where[0], where[1], os.fspath(self._unix) if self._unix is not None else "")
        return self.bound, self._sockets

    def close(self) -> None:
        """Whoever connects from now on is refused; an `open` after it takes the same port."""
        if self._unix is not None and self._lies is not None and is_still(self._unix, self._lies):
            self._unix.unlink(missing_ok=True)
        for one in self._sockets:
            one.close()
        self._sockets, self._lies = [], None

    def _bind(self, port: int) -> socket.socket:
        try:
            return bind(self._host, port)
        except HubError as error:
            if error.code is not Code.PORT_IN_USE or not self._elsewhere or self.bound is not None:
                raise
            return bind(self._host, 0)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket on a loopback address.

    Raises:
        HubError: `port_in_use` naming the port, or `config_invalid`.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise HubError(Code.CONFIG_INVALID, f"{host!r} is not an address: {error.strerror}") from error
    if not ipaddress.ip_address(address[0]).is_loopback:
        hint = "Use 127.0.0.1 or ::1; the API has no authentication."
        raise HubError(Code.CONFIG_INVALID, f"hub listens on loopback only, not on {address[0]}", hint=hint)
    sock = socket.socket(family, kind | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, proto)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        if error.errno != errno.EADDRINUSE:
            raise HubError(
                Code.CONFIG_INVALID, f"cannot listen on {host}:{port}: {error.strerror}"
            ) from error
        raise HubError(Code.PORT_IN_USE, f"Port {port} on {host} is in use", port=port) from error
    return sock
