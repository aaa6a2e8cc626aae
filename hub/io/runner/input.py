"""The agent's standard input: each write once, on record before it happens.

Owns: the set of taken keys, `stdin.keys`, and the bytes that wait for the agent to read.
Must not: know who sends, or import anything outside the standard library (the runner starts with `-I -S`).
"""

from __future__ import annotations

import json
import os

from hub.io.runner import files as runner_files

ACCEPTED = "accepted"
DUPLICATE = "duplicate"
CLOSED = "closed"
FULL = "full"
NO_SPACE = "no_space"

MAX_WAITING = 64 * 1024 * 1024


class Input:
    """Takes keyed writes.

    An accepted key stays taken for the life of the run. A refused one (`closed`, `full`, `no_space`) was not
    taken and may be sent again.
    """

    def __init__(self, descriptor: int | None) -> None:
        self.descriptor = descriptor
        self._record = os.open(
            runner_files.KEYS, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        self._record_bytes = 0
        self._keys: set[str] = set()
        self._waiting: list[memoryview] = []
        self._bytes = 0
        self._closing = False

    @property
    def pending(self) -> bool:
        """Whether the pipe has something to do when it becomes writable."""
        return self.descriptor is not None and (bool(self._waiting) or self._closing)

    def take(self, key: str, data: bytes, at: int) -> str:
        """Take a write: `accepted`, or why not."""
        if key in self._keys:
            return DUPLICATE
        if self.descriptor is None or self._closing:
            return CLOSED
        if self._bytes + len(data) > MAX_WAITING:
            return FULL
        line = json.dumps({"key": key, "bytes": len(data), "at": at}).encode() + b"\n"
        try:
            runner_files.write_all(self._record, line)
            os.fsync(self._record)
        except OSError:
            os.ftruncate(self._record, self._record_bytes)
            return NO_SPACE
        self._record_bytes += len(line)
        self._keys.add(key)
        if data:
            self._waiting.append(memoryview(data))
            self._bytes += len(data)
        return ACCEPTED

    def close_when_written(self) -> None:
        """Give the agent end of file behind what it has not read yet."""
        self._closing = True

    def flush(self) -> None:
        """Write what the pipe takes. An agent that closed its end loses what waits: nobody can read it."""
        while self.descriptor is not None and self._waiting:
            try:
                count = os.write(self.descriptor, self._waiting[0][:65536])
            except BlockingIOError:
                return
            except OSError:
                self.close()
                return
            self._bytes -= count
            self._waiting[0] = self._waiting[0][count:]
            if not self._waiting[0]:
                self._waiting.pop(0)
        if self._closing and not self._waiting:
            self.close()

    def close(self) -> None:
        """Close the pipe at once."""
        if self.descriptor is not None:
            os.close(self.descriptor)
        self.descriptor = None
        self._waiting.clear()
        self._bytes = 0
