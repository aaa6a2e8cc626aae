"""Requests a second over kept-alive connections, and how long one alone takes.

All clients are together in this process; the server has another core where there is one.
Peer: an empty Quart-Trio application under Hypercorn's Trio server, which answers with as many bytes, checks nothing
and knows nothing.
"""

from __future__ import annotations

import selectors
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bench_start import PEER, end, first_answer, free_port
from tests.bench.table import Row, percentile, run
from tests.faults.harness import HUB, project

SECONDS = 4.0
CLIENTS = 16
PER_CONNECTION = 900
"""Requests of a connection at most: both servers end one after a thousand."""
PATHS = ("/api/health", "/api/status")


class Client:
    """One connection with one request on its way."""

    def __init__(self, port: int, path: str) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.left = PER_CONNECTION
        self._request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
        self._got = b""

    def ask(self) -> None:
        """Sends the request."""
        self._got = b""
        self.left -= 1
        self.sock.sendall(self._request)

    def hear(self) -> int | None:
        """Takes what has come: the size of the body once all of it is here.

        Raises:
            AssertionError: It is no 200, or the connection has ended.
        """
        data = self.sock.recv(65536)
        assert data, "the server closed a connection that was to be kept"
        self._got += data
        head, found, body = self._got.partition(b"\r\n\r\n")
        if not found:
            return None
        assert head.startswith(b"HTTP/1.1 200"), head
        size = int(head.lower().partition(b"content-length:")[2].split()[0])
        return size if len(body) == size else None


def latency(port: int, path: str, seconds: float) -> tuple[float, int]:
    """Microseconds of one request alone (p50), and the size of the answer."""
    client, taken, size = Client(port, path), [], None
    with client.sock:
        until = time.perf_counter() + seconds
        while not taken or (client.left and time.perf_counter() < until):
            begun = time.perf_counter()
            client.ask()
            while (size := client.hear()) is None:
                pass
            taken.append(time.perf_counter() - begun)
    assert size is not None
    return percentile(taken, 0.5) * 1e6, size


def throughput(port: int, path: str, seconds: float) -> float:
    """Answers a second to `CLIENTS` connections that ask again at once."""
    clients = [Client(port, path) for _ in range(CLIENTS)]
    answers = 0
    with selectors.DefaultSelector() as ready:
        for client in clients:
            ready.register(client.sock, selectors.EVENT_READ, client)
            client.ask()
        begun = now = time.perf_counter()
        while not answers or (now - begun < seconds and all(client.left for client in clients)):
            for key, _ in ready.select():
                if key.data.hear() is not None:
                    answers += 1
                    key.data.ask()
            now = time.perf_counter()
    for client in clients:
        client.sock.close()
    return answers / (now - begun)


def rows(folder: Path, scale: float = 1.0) -> Iterator[Row]:
    """What every client asks most."""
    seconds = max(0.05, SECONDS * scale)
    folder.mkdir(exist_ok=True)
    with project(folder) as made:
        made.configure()
        port = free_port()
        where = {"env": made.environ(), "cwd": made.root}
        _, daemon = first_answer([*HUB, "daemon", "--port", str(port)], port, **where)
        try:
            for path in PATHS:
                ours, size = latency(port, path, seconds)
                other = free_port()
                _, peer = first_answer([sys.executable, "-c", PEER, str(other), str(size)], other)
                try:
                    theirs, _ = latency(other, "/api/status", seconds)
                    yield Row(f"GET {path}, {size} bytes: p50", ours, "us", "", "bare Quart-Trio", theirs)
                    rates = throughput(port, path, seconds), throughput(other, "/api/status", seconds)
                    yield Row(
                        f"GET {path}, {CLIENTS} clients", rates[0], "/s", "", "bare Quart-Trio", rates[1]
                    )
                finally:
                    end(peer)
        finally:
            end(daemon)


if __name__ == "__main__":
    run(rows)
