"""A shell or a program in a real terminal: tmux shows what is on its screen, and presses its keys.

Owns: a tmux server of the test's own.
Must not: know any command.
"""

from __future__ import annotations

import contextlib
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path

import attrs
import pytest

from tests.waiting import until


@attrs.frozen
class Terminal:
    """One window."""

    program: str
    socket: Path
    rolls: bool
    """Whether lines go out of sight above: a program of a whole screen draws itself anew."""

    def tmux(self, *words: str) -> str:
        """An order to its server."""
        done = subprocess.run(
            [self.program, "-S", str(self.socket), *words], check=True, capture_output=True, text=True
        )
        return done.stdout

    def screen(self, *, colours: bool = False) -> str:
        """What stands on it, what has gone out of sight included."""
        rolled = ["-J", "-S", "-"] if self.rolls else []
        return self.tmux("capture-pane", "-p", *rolled, *(["-e"] if colours else []))

    def press(self, *keys: str) -> None:
        """Keys by tmux' names (`Enter`, `C-c`), else letter by letter."""
        self.tmux("send-keys", *keys)

    def answers(self, key: str, words: str = "allow it?") -> None:
        """Press a key until the question is gone: one that comes too early to have been read for is not taken."""
        self.shows(words)

        def gone() -> bool:
            if words not in self.screen():
                return True
            self.press(key)
            return False

        until(gone, f"{key} is taken for {words!r}")

    def shows(self, *words: str, gone: str = "") -> str:
        """Wait until it shows all these and, if that is given, no longer the other; the screen."""

        def found() -> str:
            screen = self.screen()
            shown = all(word in screen for word in words)
            return screen if shown and not (gone and gone in screen) else ""

        try:
            return until(found, f"the screen shows {words!r}")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None


_NUMBERS = count()


@contextlib.contextmanager
def terminal(
    folder: Path, env: Mapping[str, str], *, columns: int = 100, lines: int = 40, shows: Sequence[str] = ()
) -> Iterator[Terminal]:
    """A shell in a terminal of this size, or a program of a whole screen; everything in it is gone when the block ends."""
    program = shutil.which("tmux")
    if program is None:
        pytest.skip("tmux is not installed")
    socket = folder.parent / f"t{next(_NUMBERS)}.sock"  # the last one's server may still be ending
    shell = [
        "env",
        "-i",
        *(f"{name}={value}" for name, value in env.items()),
        "PS1=$ ",
        "bash",
        "--norc",
        "-i",
    ]
    size = ["-x", str(columns), "-y", str(lines)]
    begun = f"{shlex.join(shows)}; exec cat" if shows else shlex.join(shell)
    words = [program, "-S", str(socket), "-f", "/dev/null", "new-session", "-d", *size, begun]
    subprocess.run(words, check=True, cwd=folder, env={**env, "LC_ALL": "C.UTF-8"})
    made = Terminal(program, socket, rolls=not shows)
    try:
        if not shows:
            made.shows("$ ")
        yield made
    finally:
        subprocess.run([program, "-S", str(socket), "kill-server"], check=False, capture_output=True)
