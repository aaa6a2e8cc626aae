"""Opening a terminal with a script in it, and learning how that ended.

Owns: the choice among the terminals that are installed, the script's folder, and the wait for its status.
Must not: end a terminal: it is the user's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import attrs
import trio

from hub.domain.terminal import TerminalCommand, openers, script
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.project.places import make_private_dir

SCRIPT = "run.command"
"""macOS opens a file of this suffix in its terminal."""
_STATUS = "status"
_PID = "pid"
_OUTPUT = "output"
CLOSED = 129
"""The exit status of what is ended by the end of its terminal: SIGHUP's."""
_SETTLE = 1.5
"""Seconds within which a terminal that cannot be opened says so."""
_LOOK = 0.25
_OUTPUT_LIMIT = 16 * 1024 * 1024
_OLD = 86_400.0


@attrs.frozen
class Opened:
    """A terminal with a script in it."""

    folder: Path
    program: str
    """The terminal's name."""
    process: trio.Process

    async def status(self, patience: float) -> int | None:
        """The exit status of what runs in it, `CLOSED` when it was closed; None when neither within `patience` seconds."""
        with trio.move_on_after(patience):
            while True:
                closed = self._closed()
                # In this order: what ends by itself tells its status before it is gone.
                if (code := self._number(_STATUS)) is not None:
                    return code
                if closed:
                    return CLOSED
                await trio.sleep(_LOOK)
        return None

    def output(self) -> bytes:
        """What was printed so far, where that is kept."""
        try:
            return read_bounded(self.folder / _OUTPUT, _OUTPUT_LIMIT)
        except (OSError, HubError):
            return b""

    def clear(self) -> None:
        """Take the folder away; the script may still stand open."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _closed(self) -> bool:
        pid = self._number(_PID)
        try:
            if pid is not None:
                os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            pass
        return False

    def _number(self, name: str) -> int | None:
        try:
            return int(read_bounded(self.folder / name, 64))
        except (OSError, HubError, ValueError):
            return None


async def open_terminal(
    command: TerminalCommand, folder: Path, configured: Sequence[str], *, keep: bool = False
) -> Opened:
    """Open the first terminal that can be opened.

    Args:
        command: What runs in it.
        folder: Made here (0700) for the script and its status; its parent too.
        configured: `[terminal] command`.
        keep: Whether the output is kept.

    Raises:
        HubError: `no_terminal`, with the command to type; nothing was started.
    """
    make_private_dir(folder.parent)
    _forget_old(folder.parent)
    make_private_dir(folder)
    path = folder / SCRIPT
    path.write_text(script(command, str(folder), keep=keep))
    path.chmod(0o700)
    for opener in _installed(configured):
        process = await _try([*opener, *_within(opener, path)])
        if process is not None:
            return Opened(folder, Path(opener[0]).name, process)
    shutil.rmtree(folder, ignore_errors=True)
    raise no_terminal(command)


def has_terminal(configured: Sequence[str]) -> bool:
    """Whether there is one to be tried; it may still fail to open."""
    return any(True for _ in _installed(configured))


def _installed(configured: Sequence[str]) -> Iterator[Sequence[str]]:
    found = openers(configured, os.environ, sys.platform)
    return (opener for opener in found if shutil.which(opener[0]) is not None)


def no_terminal(command: TerminalCommand) -> HubError:
    """What is said where no terminal can be opened."""
    return HubError(
        Code.NO_TERMINAL,
        f"No terminal could be opened here. Run by hand: {command.text()}",
        hint="Type that command, or set [terminal] command in your config.toml",
        command=command.text(),
    )


def _within(opener: Sequence[str], path: Path) -> list[str]:
    return [str(path)] if opener[0] == "open" else ["/bin/sh", str(path)]


async def _try(argv: Sequence[str]) -> trio.Process | None:
    """The terminal's process, once it shows that it stays or has handed on its work; None when it failed."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("HUB_")}
    try:
        process = await trio.lowlevel.open_process(
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )
    except OSError:
        return None
    with trio.move_on_after(_SETTLE):
        await process.wait()
    return process if process.returncode in {None, 0} else None


def _forget_old(jobs: Path) -> None:
    """Take away what daemons that died have left."""
    for folder in jobs.iterdir():
        found = folder.lstat()
        if (folder / _STATUS).exists() or time.time() - found.st_mtime > _OLD:
            shutil.rmtree(folder, ignore_errors=True)
