"""Runs an agent's real program through its adapter, without a daemon.

Owns: the plumbing between a child process and a `Stream`: lines in, writes out, each write once by its key.
Must not: know any one agent. (The product's own way is the runner; this one is small enough to be seen through.)
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs

from hub.domain.event import Event, EventType
from hub.providers.base import Assignment, Launch, Outcome, ProcessExit, Stdin, Step, Stream, Write
from hub.providers.provider import Provider

OnEvent = Callable[[Event, "Run"], None]
OnLine = Callable[[bytes, "Run"], None]


@attrs.define
class Run:
    """A run under way, and what came of it."""

    launch: Launch
    process: subprocess.Popen[bytes]
    stream: Stream
    lines: list[bytes] = attrs.field(factory=list)
    events: list[Event] = attrs.field(factory=list)
    outcomes: list[Outcome] = attrs.field(factory=list)
    written: set[str] = attrs.field(factory=set)
    exit: ProcessExit | None = None

    @property
    def outcome(self) -> Outcome:
        """How it ended; the first outcome counts."""
        return self.outcomes[0]

    @property
    def unknown(self) -> int:
        """How many lines were of no known form."""
        return sum(bool(event.meta.get("unknown")) for event in self.events)

    def of(self, kind: EventType) -> list[Event]:
        """The events of one type."""
        return [event for event in self.events if event.type is kind]

    def write(self, *writes: Write) -> None:
        """What the runner does: each key once."""
        pipe = self.process.stdin
        for item in writes:
            if item.key not in self.written and pipe is not None and not pipe.closed:
                self.written.add(item.key)
                pipe.write(item.data)
                pipe.flush()

    def take(self, step: Step, on_event: OnEvent | None) -> None:
        """Applies one step."""
        self.write(*step.writes)
        for event in step.events:
            self.events.append(event)
            if on_event is not None:
                on_event(event, self)
        if step.outcome is not None:
            self.outcomes.append(step.outcome)
        if step.close_stdin and self.process.stdin is not None:
            self.process.stdin.close()


def at_event(kind: EventType, act: Callable[[Run], None]) -> OnEvent:
    """Acts once, on the first event of a type."""
    waiting = [act]
    return lambda event, run: waiting.pop()(run) if event.type is kind and waiting else None


def at_line(part: bytes, act: Callable[[Run], None]) -> OnLine:
    """Acts once, on the first line that holds `part`."""
    waiting = [act]
    return lambda line, run: waiting.pop()(run) if part in line and waiting else None


def drive(
    provider: Provider,
    assignment: Assignment,
    env: Mapping[str, str],
    *,
    on_event: OnEvent | None = None,
    on_line: OnLine | None = None,
    timeout: float = 180.0,
    stop_on_outcome: bool = False,
) -> Run:
    """Starts the agent, feeds its stream to the end and returns everything.

    Raises:
        TimeoutError: It did not end in time; its process group is gone by then.
    """
    launch = provider.launch(assignment)
    _lay_out(launch, assignment.run_dir)
    stderr = assignment.run_dir / "stderr"
    stdin = subprocess.PIPE if launch.stdin is Stdin.PIPE else subprocess.DEVNULL
    with stderr.open("wb") as errors:
        process = subprocess.Popen(
            list(launch.argv),
            cwd=launch.cwd,
            env={**env, **launch.env},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    if not isinstance(stdin, int):
        stdin.close()
    run = Run(launch, process, provider.stream(assignment))
    late = threading.Event()

    def give_up() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(timeout, give_up)
    timer.start()
    try:
        _pump(run, on_event, on_line, stop_on_outcome, stderr)
    finally:
        timer.cancel()
        timer.join()
        _kill(process)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()
    if late.is_set():
        raise TimeoutError(b"\n".join(run.lines[-20:]).decode("utf-8", "replace"))
    return run


def _pump(
    run: Run, on_event: OnEvent | None, on_line: OnLine | None, stop_on_outcome: bool, stderr: Path
) -> None:
    stream = run.stream
    run.take(stream.open(), on_event)
    assert run.process.stdout is not None
    for line in run.process.stdout:
        run.lines.append(line.rstrip(b"\n"))
        run.take(stream.feed(line.rstrip(b"\n"), time.time()), on_event)
        if on_line is not None:
            on_line(run.lines[-1], run)
        if stop_on_outcome and run.outcomes:
            _kill(run.process)
            break
    code = run.process.wait()
    asked = stop_on_outcome and code < 0
    tail = stderr.read_bytes()[-65536:].decode("utf-8", "replace")
    run.exit = ProcessExit(code if code >= 0 else None, -code if code < 0 else None, asked, tail)
    run.take(stream.finish(run.exit, time.time()), on_event)


def _lay_out(launch: Launch, run_dir: Path) -> None:
    run_dir.mkdir(parents=True, exist_ok=True)
    for name, data in launch.files.items():
        (run_dir / name).write_bytes(data)


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
