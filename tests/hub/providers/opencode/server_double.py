"""Stands in for `opencode serve` where a test needs a server that misbehaves: a program of the standard library.

Owns: a loopback server whose events are the lines of a file and which answers by its path.
Must not: be used where the real program can show the same (`test_real_opencode.py`).

`PROGRAM serve --hostname H --port N MODE EVENTS`; the mode `mute` ends before it listens.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_ENDED = threading.Event()


class Handler(BaseHTTPRequestHandler):
    """Plays the server's API."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Says nothing."""

    def do_GET(self) -> None:
        """The events, then silence until the server is told to end."""
        if not self._allowed():
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(Path(sys.argv[-1]).read_bytes())
        self.wfile.flush()
        _ENDED.wait()

    def do_POST(self) -> None:
        """`/status/<n>` answers with that status, `/die` ends the program; the body comes back."""
        if not self._allowed():
            return
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.path == "/die":
            os._exit(7)
        status = int(self.path.rpartition("/")[2])
        self._send(status, json.dumps({"seen": json.loads(body or b"null")}).encode())

    def _allowed(self) -> bool:
        pair = f"{os.environ['OPENCODE_SERVER_USERNAME']}:{os.environ['OPENCODE_SERVER_PASSWORD']}"
        if self.headers.get("authorization") == "Basic " + base64.b64encode(pair.encode()).decode():
            return True
        self._send(401, b"")
        return False

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Listens, and says so as the real program does."""
    host, port, mode = sys.argv[3], int(sys.argv[5]), sys.argv[6]
    if mode == "mute":
        sys.exit("cannot open the database")
    server = ThreadingHTTPServer((host, port), Handler)
    print("a warning that is no address", flush=True)
    print(f"opencode server listening on http://{host}:{server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
