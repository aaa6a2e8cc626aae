"""The bridge as a program: lines in and out, and a server that never outlives it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from hub.providers.opencode import agent

DOUBLE = Path(__file__).with_name("server_double.py")
EVENT = {"type": "session.idle", "properties": {"sessionID": "ses_1"}}


@attrs.define
class Bridge:
    """A bridge that runs."""

    process: subprocess.Popen[bytes]

    def line(self) -> dict[str, Any]:
        """The next line."""
        return json.loads(self.process.stdout.readline())

    def ask(self, **request: Any) -> None:
        """One request."""
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def rest(self) -> list[dict[str, Any]]:
        """All lines to the end."""
        assert self.process.stdout is not None
        return [json.loads(line) for line in self.process.stdout]

    def server(self) -> int:
        """Process id of the server."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0])


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Bridge]]:
    program = tmp_path / "opencode"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {DOUBLE} "$@"\n')
    program.chmod(0o755)
    made: list[Bridge] = []

    def make(*events: Any, mode: str = "fine", path: str = str(program), ready: bool = True) -> Bridge:
        lines = tmp_path / "events"
        lines.write_text("".join(f"data: {json.dumps(event)}\n\n" for event in events))
        process = subprocess.Popen(
            [*agent._BRIDGE, path, mode, str(lines)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        made.append(Bridge(process))
        assert not ready or made[-1].line() == {"bridge": "ready"}
        return made[-1]

    yield make
    for bridge in made:
        bridge.process.kill()
        bridge.process.wait()
        for pipe in (bridge.process.stdin, bridge.process.stdout, bridge.process.stderr):
            if pipe is not None:
                pipe.close()


def gone(number: int) -> bool:
    """Whether no such process runs (a zombie waits for its reaper and runs no more)."""
    try:
        return "State:\tZ" in Path(f"/proc/{number}/status").read_text()
    except FileNotFoundError:
        return True


def test_events_and_answers_are_lines(start):
    bridge = start({"type": "server.heartbeat", "properties": {}}, EVENT)
    assert bridge.line() == {"event": EVENT}
    bridge.ask(id="a", method="POST", path="/status/404", body={"text": "\ud800 ✓"})
    assert bridge.line() == {"id": "a", "status": 404, "body": {"seen": {"text": "\ud800 ✓"}}}
    bridge.ask(id="b", method="POST", path="/status/204", body={})
    assert bridge.line() == {"id": "b", "status": 204, "body": None}
    server = bridge.server()
    bridge.process.stdin.close()
    assert bridge.rest() == []
    assert bridge.process.wait(10) == 0
    assert gone(server)


def test_a_line_that_is_no_request_is_told_and_costs_nothing(start):
    bridge = start()
    bridge.ask(nothing=True)
    assert bridge.line() == {"id": "", "status": 0, "body": "not a request"}
    bridge.ask(id="a", method="POST", path="/status/200", body=None)
    assert bridge.line()["status"] == 200


def test_the_password_is_the_servers_alone(start):
    """It is in no argument and in no line; without it the server answers 401 (the double checks as the real one)."""
    bridge = start()
    told = Path(f"/proc/{bridge.server()}/environ").read_bytes().split(b"\0")
    [password] = [
        entry.partition(b"=")[2] for entry in told if entry.startswith(b"OPENCODE_SERVER_PASSWORD=")
    ]
    assert len(password) >= 32
    assert password not in Path(f"/proc/{bridge.server()}/cmdline").read_bytes()
    assert b"OPENCODE_SERVER_PASSWORD" not in Path(f"/proc/{bridge.process.pid}/environ").read_bytes()


def test_a_server_that_ends_ends_the_bridge_and_is_told(start):
    bridge = start()
    bridge.ask(id="a", method="POST", path="/die", body={})
    assert {"bridge": "ended", "status": 7} in bridge.rest()
    assert bridge.process.wait(10) == 1


def test_a_server_that_does_not_come_up_is_told_with_its_words_on_standard_error(start):
    bridge = start(mode="mute", ready=False)
    told = bridge.line()
    assert told["bridge"] == "failed"
    assert "before it listened" in told["text"]
    assert bridge.process.wait(10) == 1
    assert b"cannot open the database" in bridge.process.stderr.read()


def test_a_program_that_is_not_there_is_told(start):
    bridge = start(path="/nowhere/opencode", ready=False)
    assert "/nowhere/opencode cannot be started" in bridge.line()["text"]


def test_a_server_that_is_killed_is_told(start):
    bridge = start()
    os.kill(bridge.server(), signal.SIGKILL)
    assert bridge.line() == {"bridge": "ended", "status": -9}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_both(start, number):
    bridge = start()
    server = bridge.server()
    bridge.process.send_signal(number)
    assert bridge.process.wait(10) == 128 + number
    assert gone(server)


def test_a_line_that_nobody_reads_does_not_make_it_abort(start):
    """A Python that finalizes while a thread holds a standard stream aborts, and the status is lost with it."""
    bridge = start(*[{"type": "session.idle", "properties": {"text": "x" * 10_000}}] * 100)
    bridge.line()  # the others are more than a pipe takes
    bridge.process.send_signal(signal.SIGTERM)
    assert bridge.process.wait(10) == 128 + signal.SIGTERM


@pytest.mark.skipif(
    sys.platform != "linux", reason="the kernel's part of it is Linux's; elsewhere it is the runner's"
)
def test_a_bridge_that_is_killed_leaves_no_server(start):
    bridge = start()
    server = os.pidfd_open(bridge.server())
    try:
        bridge.process.kill()
        bridge.process.wait()
        import select

        # A pidfd is readable when its process has ended.
        assert select.select([server], [], [], 10)[0]
    finally:
        os.close(server)
