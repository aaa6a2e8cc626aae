"""The program an acceptance command runs under: nothing the command started outlives it.

Owns: the shell as its child, and the end of the whole tree below it.
Must not: read the command's output (it goes straight to the daemon), or import anything outside the standard
library but the runner's parts (it is started with `-I -S`).

    python -I -S command.py COMMAND

Its stdin is a lifeline: at its end (the daemon asks for a stop, or is dead) the group gets SIGTERM, and a
second later everything below it SIGKILL. Its stdout is the command's stdout and stderr. On its stderr it
tells the shell's wait status when nothing is left. It adopts orphans: a process that left the group is found too.
"""

from __future__ import annotations

import os
import signal
import sys

# As in main.py: the parts are found in the tree this file stands in, behind the standard library.
_HERE = os.path.abspath(__file__)
sys.path.append(_HERE.rpartition("/hub/io/")[0])

from hub.io.runner.agent import reset_signals  # noqa: E402
from hub.io.runner.loop import READ, Loop  # noqa: E402
from hub.io.runner.proc import (  # noqa: E402
    PR_SET_PDEATHSIG,
    become,
    exterminate,
    prctl,
    reap,
)

TERM_SECONDS = 1.0
KILL_SECONDS = 5.0
SHELL = "/bin/sh"


class ShellCommand:
    """One shell and what it starts."""

    def __init__(self, command: str) -> None:
        self._loop = Loop()
        self._status: int | None = None
        self._over = False
        # Handlers come before the fork: a shell that ends at once must not be missed.
        self._loop.on_signal(signal.SIGCHLD, self._child_ended)
        warden = os.getpid()
        self._shell = os.fork()
        if self._shell == 0:
            _be_the_shell(command, warden)
        quiet = os.open("/dev/null", os.O_WRONLY | os.O_CLOEXEC)
        os.dup2(quiet, 1)
        self._loop.watch(0, READ, lambda _: self._stop())

    def run(self) -> int | None:
        """Wait for the end of the shell, or of the lifeline, and end what is left; the shell's wait status."""
        while not self._over:
            self._loop.turn()
        exterminate(KILL_SECONDS, self._reaped)
        return self._status

    def _stop(self) -> None:
        self._loop.watch(0, 0)
        if self._status is None:
            _signal_group(self._shell, signal.SIGTERM)
        self._loop.after("kill", TERM_SECONDS, self._end)

    def _end(self) -> None:
        self._over = True

    def _child_ended(self) -> None:
        for pid, status in reap()[0]:
            self._reaped(pid, status)

    def _reaped(self, pid: int, status: int) -> None:
        if pid == self._shell:
            self._status = status
            self._over = True


def _signal_group(leader: int, number: int) -> None:
    """Signal the group; the leader alone while it has not made one yet."""
    for send in (os.killpg, os.kill):
        try:
            send(leader, number)
        except ProcessLookupError:
            continue
        except PermissionError:
            pass  # a member of another user: the others were reached
        return


def _be_the_shell(command: str, warden: int) -> None:
    """Never returns."""
    try:
        reset_signals()
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != warden:
            os._exit(127)
        os.dup2(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC), 0)
        os.dup2(1, 2)
        os.umask(0o022)
        os.execv(SHELL, [SHELL, "-c", command])  # noqa: S606  # a command is a shell text by definition
    finally:
        os._exit(127)


def main(command: str) -> int:
    """Run the command to its end and report."""
    become("hub-command")
    status = ShellCommand(command).run()
    if status is not None:
        os.write(2, b"%d" % status)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
