"""The loopback HTTP server that plays the models.

Owns: the listening socket and its threads, the scripts of the accounts, the record of every request.
Must not: know a vendor's bodies (the protocol modules do) or let anything leave the machine.
"""

from __future__ import annotations

import gzip
import json
import select
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

import attrs

from tests.waiting import PATIENCE

from . import anthropic, gemini, openai_chat, openai_responses
from .proxy import ForeignHosts, is_loopback, tunnel
from .scenario import Choice, Kind, Script
from .wire import Cut, Part, Pause, Reply, Seen, Wire, json_reply

WIRES: tuple[Wire, ...] = (anthropic, openai_responses, openai_chat, gemini)
_STANDING = (Kind.AUTH, Kind.OVERLOAD)
"""Conditions of the vendor, not of the conversation: requests beside it meet them too."""


class ModelServer:
    """Plays the models of any number of accounts; a context manager.

    An account is named by the credential the agent sends (API key or token).
    Guarantees: after `__exit__` no thread of the server runs and every socket is closed.
    """

    def __init__(self) -> None:
        self.foreign = ForeignHosts()
        self.closing = threading.Event()
        self._scripts: dict[str, Script] = {}
        self._seen: list[Seen] = []
        self._changed = threading.Condition()
        self._released = threading.Event()
        self._http = _Server(self)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="model-server")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._released.set()
        self._http.shutdown()
        self._thread.join()
        self._http.hang_up()
        self._http.server_close()

    @property
    def url(self) -> str:
        """The bare base address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def anthropic_url(self) -> str:
        """For `ANTHROPIC_BASE_URL`."""
        return self.url

    @property
    def anthropic_v1_url(self) -> str:
        """For programs that want the version in the address, as OpenCode's providers do."""
        return f"{self.url}/v1"

    @property
    def openai_url(self) -> str:
        """For Codex's `openai_base_url`, `OPENAI_BASE_URL`, or a model provider's `base_url`."""
        return f"{self.url}/v1"

    @property
    def gemini_url(self) -> str:
        """For `GOOGLE_GEMINI_BASE_URL`."""
        return self.url

    def proxy_env(self) -> dict[str, str]:
        """Environment that sends every other host to this server, which refuses and records it."""
        env = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY"), self.url)
        env["NO_PROXY"] = "127.0.0.1,localhost"
        return env | {name.lower(): value for name, value in env.items()}

    def script(self, account: str, *choices: Choice) -> None:
        """What the account's model does from here on; the account "" stands for all that have no script."""
        with self._changed:
            self._scripts[account] = Script(*choices)

    def release(self) -> None:
        """Lets every held stream go on to its end, and those to come."""
        self._released.set()

    def requests(self, account: str | None = None) -> list[Seen]:
        """All requests so far, in order; of one account where given."""
        with self._changed:
            return [seen for seen in self._seen if account is None or seen.account == account]

    def mains(self, account: str | None = None) -> list[Seen]:
        """The requests for a model's turn."""
        return [seen for seen in self.requests(account) if seen.main]

    @property
    def foreign_hosts(self) -> list[str]:
        """`host:port` of everything an agent tried to reach elsewhere."""
        return self.foreign.all()

    def wait_for(self, wanted: Callable[[Seen], bool], timeout: float = PATIENCE) -> Seen:
        """Blocks until a request fits, also one that came before; raises `TimeoutError`."""
        with self._changed:
            found = self._changed.wait_for(lambda: next((s for s in self._seen if wanted(s)), None), timeout)
        if found is None:
            raise TimeoutError("no such request came")
        return found

    def reply_to(self, method: str, target: str, headers: dict[str, str], body: Any) -> Reply:
        """Records the request and makes its answer."""
        account, path = _account(target, headers)
        wire = next((wire for wire in WIRES if wire.serves(path)), None)
        now = time.time()
        with self._changed:
            seen = Seen(len(self._seen) + 1, account, method, path, headers, body)
            aside = wire.aside(seen, now) if wire is not None else None
            if wire is not None and aside is None and isinstance(body, dict):
                seen = attrs.evolve(seen, main=method == "POST" and wire.is_main(body))
            self._seen.append(seen)
            self._changed.notify_all()
            if wire is None:
                return json_reply(404, {"error": {"message": "no such path", "type": "not_found_error"}})
            if aside is not None:
                return aside
            script = self._scripts.get(account) or self._scripts.setdefault("", Script())
            if seen.main:
                return wire.answer(seen, script.next(seen), now)
            standing = script.peek()
            return (
                wire.answer(seen, standing, now) if standing.kind in _STANDING else wire.sidestep(seen, now)
            )

    def pause(self, seconds: float | None, client: socket.socket) -> None:
        """Waits in a stream; returns early when the server closes or the client has gone."""
        deadline = None if seconds is None else time.monotonic() + seconds
        flag = self._released if seconds is None else self.closing
        while not flag.wait(0.02 if deadline is None else min(0.02, max(0.0, deadline - time.monotonic()))):
            if select.select([client], [], [], 0)[0] or (
                deadline is not None and time.monotonic() >= deadline
            ):
                return


def _account(target: str, headers: dict[str, str]) -> tuple[str, str]:
    """(account, path) of a request target."""
    parts = urlsplit(target)
    bearer = headers.get("authorization", "").removeprefix("Bearer ").strip()
    query = parse_qs(parts.query).get("key", [""])[0]
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer or query, parts.path


class _Server(ThreadingHTTPServer):
    """Knows its open connections, so that closing is prompt and leaves no thread."""

    daemon_threads = False

    def __init__(self, models: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.models = models
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Registered by the accepting thread: when `shutdown` has returned, `_open` is complete."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Ends every connection, so that its thread comes to its end."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error; anything else is a fault of this server and shown."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def models(self) -> ModelServer:
        return cast("_Server", self.server).models

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Says nothing: the record of requests is the log."""

    def do_CONNECT(self) -> None:
        self.close_connection = True
        if is_loopback(self.path):
            tunnel(self.connection, self.path, self.models.closing)
            return
        self.models.foreign.add(self.path)
        self._send(Reply(502))

    def do_GET(self) -> None:
        self._serve(None)

    do_HEAD = do_GET  # noqa: N815 - the base class's names

    def do_POST(self) -> None:
        raw = self._body()
        if self.headers.get("content-encoding", "") == "gzip":
            raw = gzip.decompress(raw)
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {"unreadable": raw[:2000].decode("latin-1")}
        self._serve(body)

    do_PUT = do_PATCH = do_DELETE = do_POST  # noqa: N815 - the base class's names

    def _serve(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.path.startswith("http://") and urlsplit(self.path).hostname != "127.0.0.1":
            self.models.foreign.add(urlsplit(self.path).netloc)
            self._send(Reply(502))
            return
        if headers.get("upgrade", "").lower() == "websocket":
            # Codex tries a WebSocket first; this status makes it fall back at once.
            self._send(json_reply(426, {"error": {"message": "upgrade required"}}))
            return
        self._send(self.models.reply_to(self.command, self.path, headers, body))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces = []
        while size := int(self.rfile.readline().split(b";")[0].strip() or b"0", 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.parts is None:
            self.send_header("content-length", str(len(reply.body)))
        else:
            self.send_header("connection", "close")
        self.end_headers()
        if reply.parts is None:
            self.wfile.write(reply.body)
        else:
            self._stream(reply.parts)

    def _stream(self, parts: Iterable[Part]) -> None:
        self.close_connection = True
        for part in parts:
            if isinstance(part, Cut):
                return
            if isinstance(part, Pause):
                self.models.pause(part.seconds, self.connection)
            else:
                self.wfile.write(part)
                self.wfile.flush()
