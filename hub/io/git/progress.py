"""Whether a git gets on with its work.

Owns: how long one may stand still, and the whole run of one for whoever has a thread to wait in: a command, a worker.
Must not: import Trio, without which a short command starts.

Agents write what git reads. Where a `.gitignore` or a loose object is a named pipe, git waits for a writer, for ever. How
long a git may take depends on the repository; how long it may do nothing does not.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from pathlib import Path

import attrs

from hub.errors import Code, HubError
from hub.io.git.guard import guarded

STILL = 10.0
"""Seconds without any work: no processor time, nothing read or written, no disk that is waited for."""
_LOOKS = 5
"""Within that time, and each must find nothing: after a pause of the whole machine one alone does."""


def ran(
    *args: str, root: Path, env: Mapping[str, str] | None = None, data: bytes | None = None
) -> tuple[int, bytes, bytes]:
    """Runs a git to its end: its exit status, and all that it prints and says.

    Args:
        *args: The command and its arguments.
        root: Where it runs.
        env: Its environment; None = the `guarded` one.
        data: Its input.

    Raises:
        HubError: GIT_MISSING, and GIT_FAILED where it stands still.
    """
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            ["git", "-C", str(root), *args], env=env or guarded(), stdin=pipe, stdout=pipe, stderr=pipe
        )
    except FileNotFoundError as error:
        raise HubError(Code.GIT_MISSING, "git was not found on PATH.") from error
    seen = GitProgress(process.pid)
    try:
        while not seen.still:
            with contextlib.suppress(subprocess.TimeoutExpired):
                out, err = process.communicate(data, timeout=pause())
                return process.returncode, out, err
            data = None  # it is on its way
            seen.look()
    finally:
        if process.poll() is None:
            process.terminate()
            process.communicate()
    raise stuck(args[0])


def stuck(command: str) -> HubError:
    """The error of one that stands still."""
    return HubError(
        Code.GIT_FAILED,
        f"git {command} did nothing for {STILL:g} seconds and was ended: it waits for what never comes, as where a named"
        " pipe is in the place of a file.",
        hint="Look for pipes, in the project and where its agents work, and remove them: find . -type p",
    )


def pause() -> float:
    """Seconds between two looks at it."""
    return STILL / _LOOKS


@attrs.define
class GitProgress:
    """What looks at a process have found."""

    _pid: int
    _last: object = None
    _idle: int = 0

    @property
    def still(self) -> bool:
        """Whether it has done nothing between any of the last looks."""
        return self._idle >= _LOOKS

    def look(self) -> None:
        """Once more."""
        done = _done(self._pid)
        self._idle = self._idle + 1 if done is not None and done == self._last else 0
        self._last = done


def _done(pid: int) -> object:
    """What a process and those below it have done so far, to be compared; None where it cannot be said to stand still."""
    import psutil  # hardly a git takes that long

    found = []
    try:
        top = psutil.Process(pid)
        for each in (top, *top.children(recursive=True)):
            if each.status() == psutil.STATUS_DISK_SLEEP:
                return None
            found.append((each.pid, each.cpu_times()))
            with contextlib.suppress(AttributeError, psutil.AccessDenied):  # not every system counts these
                found.append((each.pid, each.io_counters()))
    except psutil.Error:  # one has just ended
        return None
    return found
