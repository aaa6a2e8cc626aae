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

from hub.cli.terminal.width import columns
from hub.domain.terminal import supports_ansi
from hub.domain.text.safe import clean

_LONG = 1.0
"""Seconds of silence after which a person wonders."""
_NARROW = 80
"""Columns where the terminal does not tell."""
_ERASED = "\r\x1b[K"


@contextmanager
def waiting_for(what: str) -> Iterator[None]:
    """Say on standard error what takes so long, once it does and for as long. Where nobody looks on nothing is said."""
    if not sys.stderr.isatty() or not supports_ansi(os.environ):
        yield
        return
    told = _Line(what)
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
                _write(_one_line(self._words))

    def erase(self) -> None:
        with self._lock:
            if self._state == "shown":
                _write(_ERASED)
            self._state = "over"


def _one_line(words: str) -> str:
    """As much of it as fits: of several lines one alone could be taken back. A folder's name may hold anything."""
    from rich.cells import cell_len, set_cell_size  # a command that is quick has no use for it

    text, room = " ".join(clean(words).split()), (columns(sys.stderr) or _NARROW) - len("... ") - 1
    return f"{text if cell_len(text) <= room else set_cell_size(text, room).rstrip()} ..."


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
