"""One subscription for all WebSockets that are up to date.

Owns: who is up to date, and the one pass over them when something new was said.
Must not: wait for a client, or keep anything for one that has left.

A client begins with a subscription of its own, which knows where it left off. Once it has been sent what the feed
brought last, the feed takes it over: from then on a new event is made text once, and written to each socket in turn,
without a channel and a task's turn for each client, which cost three times what the write itself does.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Sequence
from typing import Protocol

import trio

from hub.domain.event import Record
from hub.errors import HubError
from hub.messages.events import Subscription
from hub.web.context import Context
from hub.web.encoder import Encoder
from hub.web.websocket import FAULT, RESTART, TOO_SLOW, Close
from supervisors import ActorDied

FEW = 16
"""Clients that are served at once; each further one makes all wait, so that what comes meanwhile goes together."""
PACE = 0.00015
"""Seconds between two writes, for each client beyond the first few."""
MAX_PACE = 0.02
_REACH = 1024
"""How many of the newest records a client may be behind when it joins."""
_TURN = 64
"""Clients that are written to before others have their turn."""

_log = logging.getLogger("hub.web")


class FeedMember(Protocol):
    """A client that is up to date."""

    batch: bool

    def take(self, records: Sequence[Record], frames: bytes) -> None:
        """What is new, and the same as bytes for its socket. Never waits."""

    def end(self, close: Close) -> None:
        """Nothing more comes."""


def pace(clients: int) -> float:
    """Seconds from one write to the next when so many are served."""
    return min(PACE * max(0, clients - FEW), MAX_PACE)


class Feed:
    """Gives what is new to every member; to be run beside the server."""

    def __init__(self, context: Context, encoder: Encoder) -> None:
        self._context = context
        self._encoder = encoder
        self._members: dict[FeedMember, None] = {}
        self._recent: deque[Record] = deque(maxlen=_REACH)
        self._followed = 0
        self._wanted = trio.Event()
        self._scope = trio.CancelScope()

    def follow(self) -> None:
        """A client is there that will want to join. Each call is followed by one of `leave`."""
        self._followed += 1
        self._wanted.set()

    def leave(self, member: FeedMember) -> None:
        """The client has gone."""
        self._members.pop(member, None)
        self._followed -= 1
        if not self._followed:
            self._scope.cancel(reason="nobody follows")

    def join(self, member: FeedMember, last: int) -> bool:
        """Takes over a client that was sent all up to the record `last`; false while it is too far from the newest.

        What it lacks is given to it at once; nothing is told twice or left out.
        """
        recent = self._recent
        if not recent or not recent[0].id - 1 <= last <= recent[-1].id:
            return False
        missing = [record for record in recent if record.id > last]
        if missing:
            member.take(missing, self._encoder.frames(missing, batch=member.batch))
        self._members[member] = None
        return True

    async def run(self) -> None:
        """Serves until it is cancelled; when the log goes down, the members are told, and it begins anew."""
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            if not self._followed:
                continue
            close = await self._serve()
            self._recent.clear()
            members, self._members = self._members, {}
            for member in members:
                member.end(close)

    async def _serve(self) -> Close:
        try:
            with trio.CancelScope() as self._scope:
                async with self._context.subscribe(None) as subscription:
                    await self._pump(subscription)
                if subscription.lagged.is_set():
                    return TOO_SLOW
        except (ActorDied, HubError, trio.TooSlowError):
            pass  # the log is down; whoever follows has a subscription of its own, and is told by that
        except Exception:  # noqa: BLE001  # told to the members as our fault, and logged
            _log.exception("the feed ended by an unforeseen error")
            return FAULT
        return RESTART

    async def _pump(self, subscription: Subscription) -> None:
        channel = subscription.channel
        async for records in channel:
            page = list(records)
            with contextlib.suppress(trio.WouldBlock, trio.EndOfChannel):
                while len(page) < _REACH:
                    page += channel.receive_nowait()
            await self._give(page)
            if wait := pace(len(self._members)):
                await trio.sleep(wait)

    async def _give(self, records: Sequence[Record]) -> None:
        self._recent += records
        forms: dict[bool, bytes] = {}
        for number, member in enumerate(tuple(self._members), 1):
            if member in self._members:
                if member.batch not in forms:
                    forms[member.batch] = self._encoder.frames(records, batch=member.batch)
                member.take(records, forms[member.batch])
            if number % _TURN == 0:
                await trio.lowlevel.checkpoint()
