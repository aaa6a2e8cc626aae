"""A word for whoever waits at a terminal.

Owns: when it is said, and that it is gone again.
Must not: be said to a program, or by a command that is quick.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer

_LONG = 1.0
"""Seconds of silence after which a person wonders."""
_ERASED = "\r\x1b[K"


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Say on standard error what takes so long, once it does and for as long. Where nobody looks on nothing is said."""
    if not sys.stderr.isatty() or os.environ.get("TERM", "") in ("", "dumb", "unknown"):
        yield
        return
    told = _Line(f"{what} ...")
    timer = Timer(_LONG, told.show)
    timer.daemon = True  # an interrupted command ends at once
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        told.erase()


class _Line:
    """The last line of the terminal; whoever erases it may come before it is shown."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._lock = Lock()
        self._state = "due"

    def show(self) -> None:
        with self._lock:
            if self._state == "due":
                self._state = "shown"
                _write(self._words)

    def erase(self) -> None:
        with self._lock:
            if self._state == "shown":
                _write(_ERASED)
            self._state = "over"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
