"""The bridge: OpenCode's HTTP server behind lines, so that hub's runner can spool it.

Owns: standard input and output of the agent's process: a line in is a request, a line out an event or an answer.
Must not: import anything but the standard library, or know what a request asks for.

    in   {"id": "turn-1", "method": "POST", "path": "/session/ses_1/prompt_async", "body": {...}}
    out  {"bridge": "ready"}                       the server listens and its events are heard
         {"event": {"type": ..., "properties": ...}}
         {"id": "turn-1", "status": 204, "body": null}
         {"bridge": "failed", "text": "..."}       it never came up
         {"bridge": "ended", "status": -9}         the server has ended by itself; so does the bridge

Each request has a connection and a thread of its own: an abort waits for nothing. The end of standard input ends
the server and then the bridge.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from hub.providers.opencode.server import NotStarted, Server, start
from hub.providers.opencode.thin import Thinner

FAILED = 1
_EVENTS = "/event"
_ANSWER_SECONDS = 60.0
_ANSWER_CAP = 262_144
_NO_ANSWER = 0
_STDIN = 0
_OUTPUT = threading.Lock()


class Bridge:
    """One server between standard input and standard output."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._leaving = False

    def run(self) -> int:
        """Carries lines both ways until either side ends; the exit status."""
        threading.Thread(target=self._hear, daemon=True).start()
        try:
            with open(_STDIN, "rb", closefd=False) as lines:
                for line in lines:
                    self._take(line)
        finally:  # a signal leaves by here too
            self._leaving = True
            self._server.stop()
        return 0

    def _take(self, line: bytes) -> None:
        try:
            asked = json.loads(line)
            request = str(asked["id"]), str(asked["method"]), str(asked["path"]), asked.get("body")
        except (ValueError, KeyError, TypeError, AttributeError):
            tell({"id": "", "status": _NO_ANSWER, "body": "not a request"})
            return
        threading.Thread(target=self._ask, args=request, daemon=True).start()

    def _ask(self, name: str, method: str, path: str, body: object) -> None:
        data = None if body is None else json.dumps(body).encode()
        try:
            with self._server.open(method, path, data, _ANSWER_SECONDS) as answer:
                status, told = answer.status, answer.read(_ANSWER_CAP)
        except (OSError, http.client.HTTPException) as error:
            tell({"id": name, "status": _NO_ANSWER, "body": f"{type(error).__name__}: {error}"})
            return
        tell({"id": name, "status": status, "body": _json(told)})

    def _hear(self) -> None:
        """The event stream from its beginning to its end, which is the server's."""
        try:
            with self._server.open("GET", _EVENTS, timeout=None) as stream:
                tell({"bridge": "ready"})
                self._forward(stream)
        except (OSError, http.client.HTTPException) as error:
            sys.stderr.write(f"the event stream broke: {error}\n")
        if not self._leaving:
            tell({"bridge": "ended", "status": self._server.stop()})
            # The main thread waits for input and cannot be woken; everything is written.
            os._exit(FAILED)

    def _forward(self, stream: http.client.HTTPResponse) -> None:
        thinner = Thinner()
        for line in stream:
            if line.startswith(b"data:"):
                event = thinner.keep(_json(line[5:]), len(line), time.monotonic())
                if event is not None:
                    tell({"event": event})


def tell(message: dict[str, object]) -> None:
    """Writes one line, whole."""
    data = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    with _OUTPUT:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def main(arguments: Sequence[str]) -> int:
    """Runs the bridge for the program named first; the rest are arguments for its server. Its exit status."""
    signal.signal(signal.SIGTERM, _on_signal)
    signal.signal(signal.SIGINT, _on_signal)
    try:
        return Bridge(start(arguments[0], arguments[1:])).run()
    except NotStarted as error:
        tell({"bridge": "failed", "text": str(error)})
        return FAILED
    except SystemExit as left:
        return int(left.code or FAILED)


def _json(data: bytes) -> object:
    try:
        return json.loads(data)
    except ValueError:
        return data.decode("utf-8", "replace") or None


def _on_signal(number: int, frame: FrameType | None) -> NoReturn:
    """Leaves from wherever the main thread is."""
    sys.exit(128 + number)
