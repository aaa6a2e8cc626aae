"""A client of the tool server: a process, and one JSON object a line.

Owns: starting `hub mcp`, or another command that speaks so; asking and reading.
Must not: use the SDK; what the wire looks like is what is tested.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import attrs

from tests.hub.cli.command import environ

LIMIT = 60.0
Json = dict[str, Any]
HUB_MCP = (sys.executable, "-m", "hub", "mcp")
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What each request has in its `_meta` since that revision."""


@attrs.define
class Client:
    """One client of one server."""

    process: subprocess.Popen[bytes]
    _last: int = 0

    def send(self, line: bytes | Json) -> None:
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self) -> Json:
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), f"the other side has gone: {self.process.stderr.read()}"
        found = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        return found

    def ask(self, method: str, params: Any = None) -> Json:
        """One request; its answer."""
        self._last += 1
        request = {"jsonrpc": "2.0", "id": self._last, "method": method}
        self.send(request if params is None else request | {"params": params})
        answer = self.read()
        assert answer["id"] == self._last
        return answer

    def call(self, name: str, **arguments: Any) -> Json:
        """One call of a tool; its result."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})["result"]

    def hello(self) -> Json:
        """The handshake; what the server said of itself."""
        answer = self.ask("initialize", HELLO)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def leave(self, within: float = LIMIT) -> int:
        """Close our side; the exit status, which must come in time."""
        self.process.stdin.close()
        return self.process.wait(within)


C = TypeVar("C", bound=Client)


@contextmanager
def served(
    where: Path,
    env: Mapping[str, str] | None = None,
    *,
    command: Sequence[str] = HUB_MCP,
    kind: type[C] = Client,
) -> Iterator[C]:
    """`hub mcp` in a folder, or another command, with a client of this kind before it."""
    process = subprocess.Popen(
        command,
        cwd=where,
        env=dict(environ(where.parent) if env is None else env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield kind(process)
        finally:
            process.kill()


def once(where: Path, *lines: bytes, env: Mapping[str, str] | None = None) -> tuple[list[Json], str, int]:
    """Everything sent at once, as by a pipe: the answers, stderr and the exit status."""
    done = subprocess.run(
        HUB_MCP,
        cwd=where,
        env=dict(environ(where.parent) if env is None else env),
        input=b"".join(line + b"\n" for line in lines),
        capture_output=True,
        timeout=LIMIT,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode(), done.returncode
