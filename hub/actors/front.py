"""The front end: the HTTP server as one more actor.

Owns: the listening socket's life: up when the actor is, drained when it stops.
Must not: know a route, or hold any state a client could miss after a restart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Never

import trio

from supervisors import Actor, Exit, ExitKind


class FrontEnd(Actor[Never]):
    """Starts the server with itself and takes it down with itself.

    Args:
        serve: Runs the server until the event it is given is set; reports where it is bound through `task_status`.
        bound: Is told that.
    """

    cleanup_timeout = 6.0

    def __init__(self, serve: Callable[..., Awaitable[None]], bound: Callable[[object], None]) -> None:
        self._serve = serve
        self._bound = bound
        self._stop = trio.Event()
        self._down = trio.Event()

    async def started(self) -> None:
        """Ready when the socket listens."""
        self._bound(await self.ctx.nursery.start(self._run))

    async def _run(self, *, task_status: trio.TaskStatus[object]) -> None:
        try:
            await self._serve(self._stop, task_status=task_status)
        finally:
            self._down.set()

    async def stopped(self, exit: Exit) -> None:
        """Tell every client to come back later, then close."""
        self._stop.set()
        if exit.kind is ExitKind.SHUTDOWN:
            await self._down.wait()
