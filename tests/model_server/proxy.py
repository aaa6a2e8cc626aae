"""The HTTPS proxy every agent is pointed at: nothing leaves the machine.

Owns: the answer to CONNECT and the list of hosts that were refused.
Must not: open a connection to anywhere but loopback.
"""

from __future__ import annotations

import select
import socket
import threading

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class ForeignHosts:
    """The `host:port` of every refused CONNECT, in order; safe to read from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._hosts: list[str] = []

    def add(self, target: str) -> None:
        """Remember one."""
        with self._lock:
            self._hosts.append(target)

    def all(self) -> list[str]:
        """A copy of all so far."""
        with self._lock:
            return list(self._hosts)


def is_loopback(target: str) -> bool:
    """Whether a CONNECT target names this machine."""
    return target.rpartition(":")[0].strip("[]") in LOOPBACK


def tunnel(client: socket.socket, target: str, closing: threading.Event) -> None:
    """Carries bytes both ways until either side closes or the server does."""
    host, _, port = target.rpartition(":")
    with socket.create_connection((host.strip("[]"), int(port)), timeout=5) as far:
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        other = {client: far, far: client}
        while not closing.is_set():
            ready, _, _ = select.select(list(other), [], [], 0.2)
            for side in ready:
                data = side.recv(65536)
                if not data:
                    return
                other[side].sendall(data)
