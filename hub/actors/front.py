"""The front end: the HTTP server as one more actor.

Owns: the listening socket's life: up when the actor is, drained when it stops.
Must not: know a route, or hold any state a client could miss after a restart.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Never, Protocol, TypeVar

import trio

from supervisors import Actor, Exit, ExitKind

B = TypeVar("B")
B_co = TypeVar("B_co", covariant=True)


class Serve(Protocol[B_co]):
    """Runs the server until `stop` is set; reports where it is bound through `task_status`."""

    def __call__(self, stop: trio.Event, *, task_status: trio.TaskStatus[B_co]) -> Awaitable[None]:
        """Serve."""


class FrontEnd(Actor[Never], Generic[B]):
    """Starts the server with itself and takes it down with itself."""

    cleanup_timeout = 6.0

    def __init__(self, serve: Serve[B], bound: Callable[[B], None]) -> None:
        self._serve = serve
        self._bound = bound
        self._stop = trio.Event()
        self._down = trio.Event()

    async def started(self) -> None:
        """Ready when the socket listens."""
        self._bound(await self.ctx.nursery.start(self._run))

    async def _run(self, *, task_status: trio.TaskStatus[B]) -> None:
        try:
            await self._serve(self._stop, task_status=task_status)
        finally:
            self._down.set()

    async def stopped(self, exit: Exit) -> None:
        """Tell every client to come back later, then close."""
        self._stop.set()
        if exit.kind is ExitKind.SHUTDOWN:
            await self._down.wait()
