"""Single keys from a terminal, and the terminal as it was when nobody reads them any more.

Owns: the terminal's mode while keys are read, its restoring at every end of the process (also Ctrl-Z and back), and the
way from bytes to keys.
Must not: know what a key means.
"""

from __future__ import annotations

import atexit
import codecs
import os
import re
import signal
import sys
import termios
from collections.abc import AsyncGenerator, Callable

import attrs
import trio

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_BEGINS, _ENDS = "\x1b[200~", "\x1b[201~"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O\x1a])")
_BEGUN = re.compile(r"\x1b\[[0-?]*$")
"""A sequence whose end has not come yet."""
_LOOK = 0.5
"""Seconds between two looks whether this process is in front again."""
_AT_ONCE = 65_536


@attrs.frozen
class Key:
    """One key, or a text that was pasted."""

    text: str
    pasted: bool = False


_SUSPEND = Key("\x1a")


@attrs.define
class Parser:
    """From what is read, piece by piece, to keys. What is pasted is one of them, in however many pieces it came."""

    _rest: str = ""
    _pasting: bool = False

    def keys(self, data: str) -> list[Key]:
        """The keys that are complete; arrows and their like are none."""
        found: list[Key] = []
        self._rest += data
        while self._rest:
            before, mark, after = self._rest.partition(_ENDS if self._pasting else _BEGINS)
            if self._pasting:
                if not mark:
                    break
                found.append(Key(before, pasted=True))
            else:
                begun = _BEGUN.search(before) if not mark else None
                whole = before[: begun.start()] if begun else before
                found += [Key(char) for char in _SEQUENCE.sub("", whole)]
                if not mark:
                    self._rest = begun[0] if begun else ""
                    break
            self._rest, self._pasting = after, not self._pasting
        return found


class Keyboard:
    r"""The terminal behind standard input.

    Between `enter` and `leave` each key comes at once and is not echoed; Ctrl-C stays a signal, Ctrl-\ is none, and Ctrl-Z
    is one once the keys before it were taken: the terminal itself would throw them away.
    """

    def __init__(self, fd: int | None = None) -> None:
        self.fd = sys.stdin.fileno() if fd is None else fd
        self._before: list[int | list[bytes | int]] | None = None

    @property
    def in_front(self) -> bool:
        """Whether this process may use the terminal; one in the background would be stopped for it."""
        try:
            return os.tcgetpgrp(self.fd) == os.getpgrp()
        except OSError:
            return False

    def enter(self) -> None:
        """Keys from here on."""
        if self._before is not None or not self.in_front:
            return
        before = termios.tcgetattr(self.fd)
        mode = termios.tcgetattr(self.fd)
        mode[3] &= ~(termios.ICANON | termios.ECHO)
        mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
        # No key for SIGQUIT, which ends a process without giving the terminal back.
        mode[6][termios.VQUIT] = mode[6][termios.VSUSP] = bytes([os.fpathconf(self.fd, "PC_VDISABLE")])
        self._before = before
        _ENTERED.append(self)
        termios.tcsetattr(self.fd, termios.TCSANOW, mode)
        _tell(_PASTE_ON)

    def leave(self) -> None:
        """The terminal as it was; also in the midst of an end."""
        if self._before is None:
            return
        before, self._before = self._before, None
        if self in _ENTERED:
            _ENTERED.remove(self)
        if self.in_front:
            _tell(_PASTE_OFF)
            try:
                termios.tcsetattr(self.fd, termios.TCSADRAIN, before)
            except termios.error:
                return  # the terminal is gone

    def unread(self) -> None:
        """Throw away what was pressed and not read yet."""
        if self.in_front:
            try:
                termios.tcflush(self.fd, termios.TCIFLUSH)
            except termios.error:
                return  # the terminal is gone

    async def keys(self) -> AsyncGenerator[list[Key], None]:
        """What is pressed, for as long as the terminal is there; Ctrl-Z is no key, and what was read behind it is none."""
        decoder, parser = codecs.getincrementaldecoder("utf-8")("replace"), Parser()
        while True:
            await trio.lowlevel.wait_readable(self.fd)
            if not self.in_front:
                await trio.sleep(_LOOK)
                continue
            try:
                data = os.read(self.fd, _AT_ONCE)
            except OSError:
                return
            if not data:
                return
            pressed = parser.keys(decoder.decode(data))
            if _SUSPEND not in pressed:
                yield pressed
                continue
            if before := pressed[: pressed.index(_SUSPEND)]:
                yield before
            os.killpg(0, signal.SIGTSTP)  # the whole job, as the terminal does

    async def suspended(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        """See to Ctrl-Z and its end, for ever: the shell finds its terminal as it was, and so does whoever comes back.

        Args:
            before: Called before the process stands still.
            after: Called when it goes on.
        """
        with trio.open_signal_receiver(signal.SIGTSTP, signal.SIGCONT) as signals:
            async for number in signals:
                if number == signal.SIGTSTP:
                    before()
                    self.leave()
                    usual = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
                    signal.raise_signal(
                        signal.SIGTSTP
                    )  # stops nobody whom no shell could wake, as SIGSTOP would
                    signal.signal(signal.SIGTSTP, usual)
                if self.in_front:
                    self.enter()
                    after()


_ENTERED: list[Keyboard] = []


def _tell(sequence: str) -> None:
    """To the terminal itself, past whatever standard error is at the moment."""
    try:
        os.write(2, sequence.encode())
    except OSError:
        return


@atexit.register
def restore() -> None:
    """The terminal as it was, for an end that runs nothing else."""
    for keyboard in _ENTERED:
        keyboard.leave()
    if _CURSOR:
        _tell("\x1b[?25h")


_CURSOR: list[bool] = []
"""Whether the cursor was hidden."""


def hides_cursor() -> None:
    """Remember that a view hides it: an end that runs nothing else shows it again."""
    _CURSOR.append(True)
