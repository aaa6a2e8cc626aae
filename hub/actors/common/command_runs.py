"""The two ways in which a command is run for the user: in a terminal, and in the background.

Owns: one command from its start to its end, and the telling of what it prints.
Must not: choose the command.
Tests: tests/hub/actors/detector/test_adopting.py
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import attrs

from hub.actors.common.condition import beside
from hub.actors.common.job import Say
from hub.actors.common.live_output import LiveOutput
from hub.domain.terminal import TerminalCommand
from hub.errors import Code, HubError
from hub.io.processes.commands import base_env, run_command
from hub.io.processes.terminal import Opened, open_terminal

_OWN_SETTINGS = ("npm_config_", "pip_", "uv_")
"""Prefixes of the variables by which users point an installer at their own registry and folders."""
_PATIENCE = 3600.0
"""Seconds a terminal is watched."""
_INSTALL_SECONDS = 900.0
_PROGRESS = 2.0
"""Seconds between two lines of progress."""


@attrs.define
class InTerminal:
    """A command in a terminal of the user's."""

    title: str
    provider: str
    command: TerminalCommand
    folder: Path
    terminal: Sequence[str]
    ended: Callable[[int], Awaitable[str]]
    """Answers, from the exit status, what to say; or raises."""
    keep: bool = False
    opened: Opened | None = None
    _read: int = 0

    async def begin(self) -> str:
        """Open the terminal."""
        self.opened = await open_terminal(self.command, self.folder, self.terminal, keep=self.keep)
        return f"{self.title} in a terminal ({self.opened.program}): {self.command.text()}"

    async def carry(self, say: Say) -> str:
        """Wait for the command's end, telling what it prints where that is kept."""
        assert self.opened is not None  # noqa: S101  # begin came first
        output = LiveOutput(say, _PROGRESS, self._more)
        try:
            # The terminal itself may go at once, having handed on its work; it is only taken off the books.
            code = await beside(
                partial(self.opened.status, _PATIENCE), self.opened.process.wait, output.follow
            )
            await output.finish()
        finally:
            self.opened.clear()
        if code is None:
            raise HubError(
                Code.TIMEOUT,
                "The terminal did not report the end of the command.",
                hint="Look at it, then ask again.",
            )
        return await self.ended(code)

    def _more(self) -> bytes:
        found = self.opened.output()[self._read :] if self.opened is not None and self.keep else b""
        self._read += len(found)
        return found


@attrs.define
class InBackground:
    """A command without a terminal; what it prints is told in the event log."""

    title: str
    provider: str
    command: TerminalCommand
    cwd: Path
    ended: Callable[[int], Awaitable[str]]

    async def begin(self) -> str:
        """Nothing can go wrong before the start."""
        return f"{self.title}: {self.command.text()}"

    async def carry(self, say: Say) -> str:
        """Run it; nothing of it is left when this ends, whatever ends it."""
        output = LiveOutput(say, _PROGRESS)
        env = {**base_env(), **_installer_env(os.environ)}
        run = partial(
            run_command,
            shlex.join(self.command.argv),
            cwd=self.cwd,
            env=env,
            timeout=_INSTALL_SECONDS,
            on_output=output.hold,
        )
        done = await beside(run, output.follow)
        await output.finish()
        if done.timed_out:
            raise HubError(Code.TIMEOUT, f"It took longer than {_INSTALL_SECONDS:g} s.")
        return await self.ended(-1 if done.exit_code is None else done.exit_code)


def _installer_env(environ: Mapping[str, str]) -> dict[str, str]:
    return {n: v for n, v in environ.items() if n.lower().startswith(_OWN_SETTINGS)}
