"""The files of a run directory: what a runner leaves for the daemon, readable with the runner dead.

Owns: names and forms of the files, durable writes, the exclusive claim, and the spool with its index.
Must not: know the agent's processes or sockets, or import anything outside the standard library but the seal and `proc`
(the runner starts with `-I -S`).

The spool. `stdout.spool` and `stderr.spool` hold the agent's raw bytes. `spool.index` has one record of 24
bytes for each read: both spools' ends after it, and the epoch milliseconds at which it came. It gives a
replay the order of the two streams and the times of the first play. A byte is forwarded only when it is in
the spool, synced, and its record written, so a daemon never saw a byte that a replay lacks.
"""

from __future__ import annotations

import contextlib
import json
import os
import struct

from hub.io.files import seal
from hub.io.runner.proc import OWN_END, own

LAUNCH = "launch.json"
CLAIM = "claim"
AGENT = "agent.json"
VERDICT = "verdict.json"
SOCKET = "control.sock"
KEYS = "stdin.keys"
STDOUT = "stdout.spool"
STDERR = "stderr.spool"
INDEX = "spool.index"
LOG = "runner.log"
RESERVED = frozenset({LAUNCH, CLAIM, AGENT, VERDICT, SOCKET, KEYS, STDOUT, STDERR, INDEX, LOG})

RECORD = struct.Struct(">QQQ")
_CREATE = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class UnsealedError(Exception):
    """A file of a run is not the one that its runner wrote."""


def sync_directory() -> None:
    """Make the names of the directory in which this process works durable."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, over short writes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _write_new(name: str, data: bytes) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_TRUNC | _CREATE, 0o600)
    try:
        write_all(descriptor, data + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sealed(name: str, value: dict[str, object], key: bytes) -> bytes:
    return seal.closed(key, name.encode(), json.dumps(value).encode())


def write_json(name: str, value: dict[str, object], key: bytes) -> None:
    """Write a file durably, as a whole and sealed: after a crash it is there entirely or not at all."""
    temporary = f"{own(name)}0{OWN_END}"
    try:
        _write_new(temporary, _sealed(name, value, key))
        os.rename(temporary, name)
    except OSError:
        remove(temporary)
        raise
    sync_directory()


def claim(value: dict[str, object], key: bytes) -> bool:
    """Take the run directory for good: True for exactly one caller ever, durable and whole when it returns.

    A link is as exclusive as O_EXCL, and no reader ever sees a claim half written.
    """
    temporary = f"{own(CLAIM)}0{OWN_END}"
    try:
        _write_new(temporary, _sealed(CLAIM, value, key))
        os.link(temporary, CLAIM)
    except FileExistsError:
        return False
    finally:
        remove(temporary)
    sync_directory()
    return True


def remove(name: str) -> None:
    """Take a file away; it may be gone already."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)


def read_json(name: str, key: bytes | None = None) -> dict[str, object] | None:
    """The JSON object of a file; None when the file is not there. With a key, of a file that was sealed with it.

    Raises:
        ValueError: It is there and holds something else.
        UnsealedError: It was not sealed with the key, and was not read as anything.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        data = file.read()
    if key is not None:
        body = seal.opened(key, name.rpartition("/")[2].encode(), data)
        if body is None:
            raise UnsealedError(name)
        data = body
    value = json.loads(data)
    if not isinstance(value, dict):
        raise TypeError(f"{name} does not hold an object")
    return value


class Spool:
    """The writing side. Position attributes count only what is synced and indexed."""

    def __init__(self, stderr_limit: int) -> None:
        flags = os.O_RDWR | _CREATE
        self.files = [os.open(name, flags | os.O_APPEND, 0o600) for name in (STDOUT, STDERR)]
        self.index = os.open(INDEX, flags, 0o600)
        self.ends = [0, 0]
        """Bytes of stdout and stderr that are durable."""
        self.seen = [0, 0]
        """Bytes of stdout and stderr that were read from the agent."""
        self.records = 0
        self.tail = b""
        """The last 64 KiB of stderr, also of what the limit kept out of the spool."""
        self._limit = stderr_limit
        self._rest: tuple[int, memoryview, int] | None = None

    @property
    def blocked(self) -> bool:
        """Whether bytes wait for the disk; nothing may be appended until `retry` has brought them there."""
        return self._rest is not None

    def append(self, stream: int, data: bytes, at: int) -> None:
        """Take the bytes of one read (stream 0 is stdout, 1 is stderr).

        Raises:
            OSError: They are not all durable; the rest is kept, and `retry` goes on where this stopped.
        """
        self.seen[stream] += len(data)
        if stream == 1:
            self.tail = (self.tail + data)[-65536:]
            data = data[: max(0, self._limit - self.ends[1])]
        if data:
            self._rest = (stream, memoryview(data), at)
            self.retry()

    def retry(self) -> None:
        """Bring what waits to the disk.

        Raises:
            OSError: As `append`.
        """
        if self._rest is None:
            return
        stream, view, at = self._rest
        while view:
            view = view[os.write(self.files[stream], view) :]
            self._rest = (stream, view, at)
        os.fdatasync(self.files[stream])
        ends = list(self.ends)
        ends[stream] = os.fstat(self.files[stream]).st_size
        # By its place: a record half written by a full disk is overwritten whole.
        record = RECORD.pack(ends[0], ends[1], at)
        if os.pwrite(self.index, record, self.records * RECORD.size) != RECORD.size:
            raise OSError(28, "no space for the index")
        self.ends = ends
        self.records += 1
        self._rest = None

    def close(self) -> None:
        """Make the index durable and let go of the files."""
        with contextlib.suppress(OSError):
            os.fdatasync(self.index)
        for descriptor in (*self.files, self.index):
            os.close(descriptor)


class Cursor:
    """The reading side: hands out the chunks of a spool in the order and with the times of their reads.

    Holds a position, never bytes, so any number of readers costs nothing.
    """

    def __init__(self, files: list[int], index: int, out_from: int, err_from: int) -> None:
        self._files = files
        self._index = index
        self._at = [out_from, err_from]
        self._record = self._first()
        self._now: tuple[int, int, int] | None = None
        """That record, once it was read."""

    def _read(self, record: int) -> tuple[int, int, int] | None:
        raw = os.pread(self._index, RECORD.size, record * RECORD.size)
        return RECORD.unpack(raw) if len(raw) == RECORD.size else None

    def _first(self) -> int:
        """The first record with a byte past the position: both ends only rise, so halving finds it."""
        low, high = 0, os.fstat(self._index).st_size // RECORD.size
        while low < high:
            middle = (low + high) // 2
            record = self._read(middle)
            if record is not None and record[0] <= self._at[0] and record[1] <= self._at[1]:
                low = middle + 1
            else:
                high = middle
        return low

    def next(self, limit: int) -> tuple[int, int, int, bytes] | None:
        """The next (stream, offset, epoch ms, bytes) of at most `limit` bytes; None when all were read."""
        while (record := self._now or self._read(self._record)) is not None:
            self._now = record
            for stream in (0, 1):
                offset = self._at[stream]
                if record[stream] > offset:
                    data = os.pread(self._files[stream], min(limit, record[stream] - offset), offset)
                    if not data:
                        return None
                    self._at[stream] += len(data)
                    return stream, offset, record[2], data
            self._record, self._now = self._record + 1, None
        return None

    def rest(self, limit: int) -> tuple[int, int, int, bytes] | None:
        """As `next`, for bytes whose record was lost with the machine: they get the last known time."""
        for stream in (0, 1):
            offset = self._at[stream]
            if data := os.pread(self._files[stream], limit, offset):
                self._at[stream] += len(data)
                last = self._read(max(0, self._record - 1))
                return stream, offset, last[2] if last else 0, data
        return None
