"""An actor that is not there yet: its place is taken at once, itself is made a moment later or when it is asked.

Owns: the wait for the code of an actor, so that a daemon answers before all of itself is imported.
Must not: lose or reorder a message, or outlive a failure of the actor's start; who speaks to such an actor cannot tell
it from one that is slow to start.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import trio

from hub.errors import Code, HubError
from supervisors import Actor, Exit

T = TypeVar("T")

_OUT_OF_FILES = (errno.EMFILE, errno.ENFILE)
_BREATH = 0.2
"""Seconds until the next try, where no file could be opened."""


async def imported(make: Callable[[], T], limiter: trio.CapacityLimiter) -> T:
    """What imports, in a worker thread. Code is in files: while none can be opened they are waited for, as they come free.

    A supervisor would have given up within a millisecond, and the daemon with it.
    """
    while True:
        try:
            return await trio.to_thread.run_sync(make, limiter=limiter)
        except OSError as error:
            if error.errno not in _OUT_OF_FILES:
                raise
        await trio.sleep(_BREATH)


class NotMadeError(Exception):
    """The actor that was asked for could not start; its cause is why."""


class Late(Actor[Any]):
    """Stands in for an actor until that is made.

    Args:
        make: Makes the actor. Called in a worker thread, for it imports what the actor is made of.
        due: Set when the actor is to begin although nobody asks. An incarnation that starts after that (a restart)
            is ready when the actor is, and fails as it does.
        limiter: Of the threads that import.
        meanwhile: Answers to messages for which the actor need not be there, by their type.
    """

    answers = (HubError,)

    def __init__(
        self,
        make: Callable[[], Actor[Any]],
        due: trio.Event,
        limiter: trio.CapacityLimiter,
        meanwhile: Mapping[type, Any],
    ) -> None:
        self._make = make
        self._due = due
        self._limiter = limiter
        self._meanwhile = meanwhile
        self._made: Actor[Any] | None = None
        self._making = trio.Lock()

    async def started(self) -> None:
        """Ready at once, unless the start of the daemon is over."""
        if self._due.is_set():
            await self._actor()
        else:
            self.ctx.nursery.start_soon(self._begin)

    async def _begin(self) -> None:
        await self._due.wait()
        await self._actor()

    async def _actor(self) -> Actor[Any]:
        async with self._making:
            if self._made is None:
                actor = await imported(self._make, self._limiter)
                actor.ctx = self.ctx
                await actor.started()
                self._made = actor
        return self._made

    async def handle(self, message: Any) -> Any:
        """What the actor answers.

        Who asks first for an actor that cannot start is told why by a coded error, whoever waits behind by `ActorDied`.
        This incarnation is over then, like that of any actor that falls: its supervisor counts it and tries again.
        """
        if self._made is None and type(message) in self._meanwhile:
            return self._meanwhile[type(message)]
        actor = self._made or await self._asked()
        return await actor.handle(message)

    async def _asked(self) -> Actor[Any]:
        """The actor, made because somebody asks.

        Raises:
            NotMadeError: It could not be made or started. No answer to a call, whatever the cause was: half a start is none.
        """
        reply = self.ctx.current_reply
        try:
            return await self._actor()
        except Exception as error:
            if reply is not None:
                reply.fail(_coded(error, self.ctx.name))
            raise NotMadeError(f"{self.ctx.name} could not start: {error}") from error

    async def stopped(self, exit: Exit) -> None:  # noqa: A002 - the hook's name for it
        """The actor's own cleanup; one that was never made has nothing to clean."""
        if self._made is not None:
            await self._made.stopped(exit)


def _coded(error: Exception, name: str) -> HubError:
    if isinstance(error, HubError):
        return error
    return HubError(
        Code.UNAVAILABLE, f"hub's part {name!r} could not start ({type(error).__name__}); it is tried again."
    )
