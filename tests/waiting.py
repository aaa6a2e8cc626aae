"""How tests wait: on the kernel's word where it gives one, else for a condition, for a bounded time.

Owns: every wait that is not for a message, and the only polls there are (`until`, `eventually`).
Must not: wait for a time to pass. `tests/test_waiting.py` holds all tests to that.
"""

from __future__ import annotations

import ctypes
import os
import select
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Self, TypeVar

import trio

T = TypeVar("T")
PATIENCE = 90.0
"""Seconds on a machine that has other work too; nobody waits that long for what works."""
_SHORTEST, _LONGEST = 0.005, 0.1
"""Seconds between two looks. A look at a daemon is work for it and for the test: two hundred in a second took a processor."""

_LIBC = ctypes.CDLL(None, use_errno=True)
_MODIFY, _MOVED_TO, _CREATE = 0x2, 0x80, 0x100


def until(condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
    """The first true value of a condition; a bounded poll, for facts of other processes that nothing tells."""
    deadline = time.monotonic() + patience
    ticks = _ticks()
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(next(ticks))
    raise AssertionError(f"not within {patience:g} s: {what}")


async def eventually(condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """As `until`, in Trio: other tasks go on."""
    ticks = _ticks()
    with trio.fail_after(patience):
        while not (found := condition()):  # noqa: ASYNC110  # another process sets no event
            await trio.sleep(next(ticks))
    return found


async def answered(
    ask: Callable[[], Awaitable[T]], fits: Callable[[T], object], patience: float = PATIENCE
) -> T:
    """The first answer that fits, to a question put to an actor again and again.

    Raises:
        trio.TooSlowError: None did in time.
    """
    ticks = _ticks()
    with trio.fail_after(patience):
        while not fits(answer := await ask()):  # noqa: ASYNC110  # as above
            await trio.sleep(next(ticks))
    return answer


def _ticks() -> Iterator[float]:
    """Seconds until the next look: a tenth of what was waited so far."""
    waited = 0.0
    while True:
        tick = min(max(_SHORTEST, waited / 10), _LONGEST)
        yield tick
        waited += tick


def ended(pid: int, patience: float = PATIENCE) -> bool:
    """Wait for the end of a process; False when it did not come in time."""
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([fd], [], [], patience)[0])
    finally:
        os.close(fd)


async def ends(*pids: int, patience: float = PATIENCE) -> None:
    """Wait for the end of processes, whoever's children they are.

    Raises:
        trio.TooSlowError: Not all of them ended in time.
    """
    with trio.fail_after(patience):
        for pid in pids:
            try:
                fd = os.pidfd_open(pid)
            except ProcessLookupError:
                continue
            try:
                await trio.lowlevel.wait_readable(fd)
            finally:
                os.close(fd)


async def changed(folder: Path, condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """The first true value of a condition on the files of a folder, looked at when one of them changes.

    Raises:
        trio.TooSlowError: It did not come true in time.
    """
    # Watched before the first look, so that no change falls between the two.
    fd = _LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if _LIBC.inotify_add_watch(fd, os.fsencode(folder), _MODIFY | _MOVED_TO | _CREATE) < 0:
            raise OSError(ctypes.get_errno(), "inotify_add_watch", str(folder))
        with trio.fail_after(patience):
            while not (found := condition()):
                await trio.lowlevel.wait_readable(fd)
                os.read(fd, 65536)
        return found
    finally:
        os.close(fd)


class Gate:
    """A gate in an agent's script, or in hub: whoever comes there waits, without a clock, until it is opened."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.failpoint = f"wait:{path}"
        """For `HUB_FAILPOINTS`."""
        self.command = f"read _ < {path}"
        """For a shell."""
        # Open for both, so that neither side waits for the other and a word written early is kept.
        self._fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open(self) -> None:
        """Lets one through."""
        os.write(self._fd, b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
