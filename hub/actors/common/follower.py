"""Following the event log, through every death of it.

Owns: the subscription, and waiting until an event has been read.
Must not: know what an event means, or keep how far it was read: that stands with what was made of it.
Tests: tests/hub/actors/common/test_follower.py
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Awaitable, Callable, Sequence

import attrs
import trio

from hub.actors.common.condition import Condition
from hub.domain.event import Record
from hub.messages.events import EventsHead, Subscribe, Unsubscribe
from supervisors import ActorDied, Ref

_Take = Callable[[Sequence[Record]], Awaitable[None]]
_TIMEOUT = 30.0
_PAGE = 1000
_AGAIN = 2.0
"""Seconds until a log that gave nothing twice is asked again."""
_BREATH = 0.02
"""Three agents write seven hundred lists a second."""


@attrs.define
class LogFollower:
    """Reads on from where its owner says it was.

    Attributes:
        events: The event log.
        place: Asked with the log's newest id before each subscription; answers the id after which to read. A place beyond
            the newest means that the log was put aside, and begins anew.
        breath: Seconds in which what comes is left to be read together.
    """

    events: Ref[EventsHead | Subscribe | Unsubscribe]
    place: Callable[[int], Awaitable[int]]
    breath: float = _BREATH
    _cursor: int = -1
    _progress: Condition = attrs.field(factory=Condition)
    _wanted: int = 0
    """The newest event that somebody waits for, or waited for."""
    _hurry: Condition = attrs.field(factory=Condition)
    _token: int | None = None

    async def follow(self, take: _Take) -> None:
        """For ever: all that have come by then, and after each breath, which whoever waits for one of them ends.

        Raises:
            HubError: Of `place` and `take`.
        """
        tried = -1
        while True:
            try:
                head = await self.events.call(EventsHead(), timeout=_TIMEOUT)
                since = await self.place(head)
                self._moved(since)
                self._wanted = min(self._wanted, head)  # of a log that was put aside nothing is waited for
                found = await self.events.call(Subscribe(since), timeout=_TIMEOUT)
                self._token = found.token
                with found.channel:
                    await self._read(found.channel, take)
                if self._cursor == since == tried:
                    await trio.sleep(_AGAIN)  # what comes there cannot be read: the log's file is damaged
                tried = since
            except (ActorDied, trio.TooSlowError):
                await self.events.wait_alive(math.inf)
            self._token = None

    def _moved(self, cursor: int) -> None:
        """All up to this event has been read."""
        self._cursor = cursor
        self._progress.notify_all()

    async def reach(self, number: int) -> None:
        """Until the event of that id has been read: it is not held back any longer."""
        self._wanted = max(self._wanted, number)
        self._hurry.notify_all()
        await self._progress.wait_for(lambda: self._cursor >= number)

    async def catch_up(self) -> None:
        """Until all that is in the log now has been read.

        Raises:
            ActorDied, trio.TooSlowError: The log is not there.
        """
        await self.reach(await self.events.call(EventsHead(), timeout=_TIMEOUT))

    def leave(self) -> None:
        """Ends the subscription."""
        if self._token is not None:
            self.events.try_cast(Unsubscribe(self._token))

    async def _read(self, channel: trio.MemoryReceiveChannel[Sequence[Record]], take: _Take) -> None:
        async for records in channel:
            page = list(records)
            with contextlib.suppress(trio.WouldBlock, trio.EndOfChannel):
                while len(page) < _PAGE:
                    await trio.lowlevel.checkpoint()  # the log reads on where that was the past
                    page += channel.receive_nowait()
            await take(page)
            self._moved(page[-1].id)
            if len(page) < _PAGE:
                await self._hurry.wait_for(lambda: self._wanted > self._cursor, self.breath)
