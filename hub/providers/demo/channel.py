"""The child's side of the demo protocol: lines out, lines in, and how far the session has come.

Owns: standard output and input of the child, and its session store.
Must not: import anything but the standard library, or know what a step does.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path
from typing import Any

STDIN = 0
READ = 65_536

Message = dict[str, Any]


def emit(**members: object) -> None:
    """Writes one line; it is out when this returns."""
    sys.stdout.write(json.dumps(members) + "\n")
    sys.stdout.flush()


class Interrupted(BaseException):
    """hub asked the agent to stop, by its protocol or by SIGINT."""


class DemoInput:
    """Standard input: lines of hub, taken one at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._messages: list[Message] = []
        self.open = True

    def poll(self, timeout: float | None, *also: int) -> bool:
        """Waits for input, for one of `also`, or for the time; returns whether one of `also` is ready."""
        watched = [STDIN, *also] if self.open else list(also)
        if not watched and timeout is not None:
            time.sleep(timeout)
            return False
        ready = select.select(watched, [], [], timeout)[0]
        if STDIN in ready:
            self._read()
        return any(number in ready for number in also)

    def take(self) -> Message | None:
        """The oldest message, if any. An interrupt is obeyed here, before anything else."""
        if any(message.get("type") == "interrupt" for message in self._messages):
            raise Interrupted
        return self._messages.pop(0) if self._messages else None

    def wait(self, kind: str, ask: str = "") -> Message | None:
        """Blocks for a message of a kind (and of an id, where one is given); None when input has ended."""
        while True:
            while (message := self.take()) is not None:
                if message.get("type") == kind and message.get("id", "") == ask:
                    return message
            if not self.open:
                return None
            self.poll(None)

    def _read(self) -> None:
        data = os.read(STDIN, READ)
        self.open = bool(data)
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._messages += [json.loads(line) for line in lines if line.strip()]


class Progress:
    """How far a session has come; survives the process."""

    def __init__(self, store: Path, session: str, *, resume: bool) -> None:
        self._path = store / f"{session}.json"
        self.step = 0
        self.times = 0
        if resume and self._path.exists():
            found = json.loads(self._path.read_text())
            self.step, self.times = found["step"], found["times"]

    def save(self, step: int, times: int) -> None:
        """Notes that everything before this place is done."""
        self.step, self.times = step, times
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        aside = self._path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump({"step": step, "times": times}, out)
        aside.replace(self._path)
