"""The program's own server as a child of the bridge.

Owns: `opencode serve`: its address on loopback, its password, its end.
Must not: import anything but the standard library, or know what is asked of it.

The password is made here for this one run: it is in no file, in no argument and in no spool. The port is free
when it is chosen, for `--port 0` would take 4096 first, where a user's own client looks for the user's own server.
The server stays in the bridge's process group, so that a signal to the group reaches both; the kernel also ends it
when the bridge is killed alone.

Tests: tests/hub/providers/opencode/test_opencode_bridge.py
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import http.client
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Sequence

HOST = "127.0.0.1"
USER = "hub"
STOP_SECONDS = 2.0
_PR_SET_PDEATHSIG = 1
_LISTENING = re.compile(rb"listening on http://[\d.]+:(\d{1,5})")


class NotStarted(Exception):
    """The server did not come up; its text says why."""


class Server:
    """A server that listens; `stop` ends it."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, password: str) -> None:
        self._process = process
        self._port = port
        token = base64.b64encode(f"{USER}:{password}".encode()).decode()
        self._headers = {"authorization": f"Basic {token}", "content-type": "application/json"}

    def open(
        self, method: str, path: str, body: bytes | None = None, timeout: float | None = None
    ) -> http.client.HTTPResponse:
        """Sends one request on a connection of its own and returns the answer, unread.

        Raises:
            OSError: Nobody listens, or the answer did not come in time.
            http.client.HTTPException: What came was no answer.
        """
        connection = http.client.HTTPConnection(HOST, self._port, timeout=timeout)
        connection.request(method, path, body, self._headers)
        return connection.getresponse()

    def stop(self) -> int:
        """Ends the server; its exit status, negative for a signal. May be called twice."""
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def start(program: str, arguments: Sequence[str]) -> Server:
    """Starts `program serve` and waits until it says that it listens.

    Raises:
        NotStarted: The program is not there, or ended before it listened.
    """
    password = secrets.token_urlsafe(24)
    env = {**os.environ, "OPENCODE_SERVER_USERNAME": USER, "OPENCODE_SERVER_PASSWORD": password}
    command = [program, "serve", "--hostname", HOST, "--port", str(_free_port()), *arguments]
    try:
        process = subprocess.Popen(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            preexec_fn=_end_with_the_bridge,  # noqa: PLW1509 - no thread runs yet
        )
    except OSError as error:
        raise NotStarted(f"{program} cannot be started: {error.strerror}") from error
    port = _wait_for_port(process)
    if port is None:
        raise NotStarted(f"{program} serve ended before it listened (status {process.wait()})")
    return Server(process, port, password)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _wait_for_port(process: subprocess.Popen[bytes]) -> int | None:
    """The port the server tells; None when it ends without. What else it writes goes to standard error."""
    out = process.stdout
    if out is None:  # pragma: no cover - it is a pipe
        return None
    for line in out:
        if found := _LISTENING.search(line):
            # It writes little more, but a pipe that nobody reads would stop it one day.
            threading.Thread(target=_forward, args=(out,), daemon=True).start()
            return int(found[1])
        _forward([line])
    return None


def _forward(lines: Iterable[bytes]) -> None:
    for line in lines:
        sys.stderr.buffer.write(line)
        sys.stderr.buffer.flush()


def _end_with_the_bridge() -> None:
    """In the child, before the program: the kernel kills it when its parent dies."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
