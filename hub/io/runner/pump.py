"""From the agent's pipes into the spool.

Owns: reading both pipes, waiting for space on the disk, and holding the agent back meanwhile.
Must not: drop a byte, decide what a full spool means, or import anything outside the standard library (the
runner starts with `-I -S`).
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable

from hub.io.runner.files import Spool
from hub.io.runner.loop import READ, Loop

READ_BYTES = 1024 * 1024
"""What is read at once, into one buffer for all reads: a new one would be mapped, cut and given back for each line."""
RETRY = 1.0
NO_SPACE = {errno.ENOSPC, errno.EDQUOT}
PACE = 0.004
"""Seconds from one moment of reading to the next, the same moments for all runners: what is read at once is one sync, one
message, and one batch of a daemon, which cost as much for ten lines as for one."""
MUCH = 16 * 1024
"""Bytes of one read behind which more is likely to wait: the next one is not put off."""
_LAST_READS = 8
"""Reads of what a pipe still holds when every writer is dead: it holds one MiB at most."""


def now_ms() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000


class Pump:
    """Moves bytes; tells `notify` what happened: `data`, `eof`, `no_space`, `space` or `broken`.

    `broken` means that a sync failed otherwise than for space. Such a sync may not be tried again (the
    kernel has thrown the pages away and would report success), so nothing is read or forwarded after it.
    """

    def __init__(
        self, loop: Loop, spool: Spool, sources: tuple[int, int], notify: Callable[[str], None]
    ) -> None:
        self._loop = loop
        self._spool = spool
        self._open = dict(enumerate(sources))
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._notify = notify
        self._halted = False
        self._rest_until = 0.0
        self.broken = 0

    @property
    def no_space(self) -> bool:
        """Whether bytes wait for space on the disk."""
        return self._spool.blocked and not self.broken

    @property
    def exhausted(self) -> bool:
        """Whether both pipes have ended and all their bytes are in the spool."""
        return not self._open and not self.no_space

    def watch(self) -> None:
        """Read as the agent writes."""
        for stream in self._open:
            self._watch(stream)

    def _watch(self, stream: int) -> None:
        self._loop.watch(self._open[stream], READ, lambda _: self._read(stream))

    def rest(self) -> None:
        """Let an agent that has just spoken say more, until the next moment; one that was quiet has waited for nothing."""
        until, self._rest_until = self._rest_until, 0.0
        if (left := until - time.monotonic()) > 0:
            time.sleep(left)

    def halt(self) -> None:
        """Read no more: the agent's next writes wait in its pipe."""
        self._halted = True
        self._hold()

    def _hold(self) -> None:
        for descriptor in self._open.values():
            self._loop.watch(descriptor, 0)

    def empty(self) -> bool:
        """Take what the pipes still hold, every writer being dead. False when the disk takes no more."""
        for stream in list(self._open):
            for _ in range(_LAST_READS):
                if self.no_space:
                    return False
                if not self._read(stream):
                    break
        return not self.no_space

    def _read(self, stream: int) -> bool:
        """One read into the spool; False when there was nothing."""
        try:
            data = bytes(self._buffer[: os.readv(self._open[stream], [self._buffer])])
        except (BlockingIOError, KeyError):
            return False
        if not data:
            descriptor = self._open.pop(stream)
            self._loop.watch(descriptor, 0)
            os.close(descriptor)
            self._notify("eof")
            return False
        if len(data) < MUCH:
            self._rest_until = (time.monotonic() // PACE + 1) * PACE
        return self._try(lambda: self._spool.append(stream, data, now_ms()))

    def _try(self, work: Callable[[], None]) -> bool:
        if self.broken:
            return True
        try:
            work()
        except OSError as error:
            self._failed(error)
            return False
        self._notify("data")
        return True

    def _failed(self, error: OSError) -> None:
        self._hold()
        if error.errno not in NO_SPACE:
            self.broken = error.errno or errno.EIO
            self._notify("broken")
            return
        self._loop.after("space", RETRY, self._retry)
        self._notify("no_space")

    def _retry(self) -> None:
        if self._try(self._spool.retry):
            if not self._halted:
                self.watch()
            self._notify("space")
