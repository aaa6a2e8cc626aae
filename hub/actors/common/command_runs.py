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
import trio

from hub.actors.common.condition import beside
from hub.actors.common.job import Say
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
_MAX_HELD = 64 * 1024


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

    async def begin(self) -> str:
        """Open the terminal."""
        self.opened = await open_terminal(self.command, self.folder, self.terminal, keep=self.keep)
        return f"{self.title} in a terminal ({self.opened.program}): {self.command.text()}"

    async def carry(self, say: Say) -> str:
        """Wait for the command's end, telling what it prints where that is kept."""
        assert self.opened is not None  # noqa: S101  # begin came first
        try:
            # The terminal itself may go at once, having handed on its work; it is only taken off the books.
            code = await beside(
                partial(self.opened.status, _PATIENCE), self.opened.process.wait, partial(self._follow, say)
            )
        finally:
            self.opened.clear()
        if code is None:
            raise HubError(
                Code.TIMEOUT,
                "The terminal did not report the end of the command.",
                hint="Look at it, then ask again.",
            )
        return await self.ended(code)

    async def _follow(self, say: Say) -> None:
        assert self.opened is not None  # noqa: S101  # as above
        told = 0
        while self.keep:
            await trio.sleep(_PROGRESS)
            text = self.opened.output()
            lines = text[told : told + _MAX_HELD].rpartition(b"\n")[0]
            if lines.strip():
                await say(lines.decode("utf-8", "replace"))
            told += len(lines)


@attrs.define
class InBackground:
    """A command without a terminal; what it prints is told in the event log."""

    title: str
    provider: str
    command: TerminalCommand
    cwd: Path
    ended: Callable[[int], Awaitable[str]]
    _held: bytearray = attrs.field(factory=bytearray)

    async def begin(self) -> str:
        """Nothing can go wrong before the start."""
        return f"{self.title}: {self.command.text()}"

    async def carry(self, say: Say) -> str:
        """Run it; nothing of it is left when this ends, whatever ends it."""
        env = {**base_env(), **_installer_env(os.environ)}
        run = partial(
            run_command,
            shlex.join(self.command.argv),
            cwd=self.cwd,
            env=env,
            timeout=_INSTALL_SECONDS,
            on_output=self._hold,
        )
        done = await beside(run, partial(self._follow, say))
        await self._tell(say)
        if done.timed_out:
            raise HubError(Code.TIMEOUT, f"It took longer than {_INSTALL_SECONDS:g} s.")
        return await self.ended(-1 if done.exit_code is None else done.exit_code)

    def _hold(self, data: bytes) -> None:
        self._held += data
        del self._held[:-_MAX_HELD]

    async def _follow(self, say: Say) -> None:
        while True:
            await trio.sleep(_PROGRESS)
            await self._tell(say)

    async def _tell(self, say: Say) -> None:
        text = bytes(self._held).decode("utf-8", "replace").strip()
        self._held.clear()
        if text:
            await say(text)


def _installer_env(environ: Mapping[str, str]) -> dict[str, str]:
    return {n: v for n, v in environ.items() if n.lower().startswith(_OWN_SETTINGS)}
