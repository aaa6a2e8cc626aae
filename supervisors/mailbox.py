"""The bounded inbox of one incarnation.

Owns: order, bounds, the overflow rule, the fate of every message that was accepted.
Must not: know who sends; keep a message of one incarnation for the next (at most once, never redelivered).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from enum import Enum
from typing import Any, Final

import attrs
import trio

from supervisors.call import Reply


class MailboxFull(Exception):
    """The overflow rule refused a message, or pushed a waiting call out.

    Args:
        name: The actor whose mailbox is full.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"the mailbox of {name} is full")
        self.name = name


class Overflow(Enum):
    """What happens to a message that finds the mailbox full."""

    BLOCK = "block"
    """The sender waits."""
    FAIL = "fail"
    """The sender gets MailboxFull."""
    DROP_OLDEST = "drop_oldest"
    """The oldest waiting cast goes; when only calls wait, the oldest of them gets MailboxFull."""
    COALESCE = "coalesce"
    """A cast replaces a waiting cast with the same key, in the older one's place in the order, full or not; a key of None
    never matches. With no match and no room the sender waits, as in BLOCK."""


def _check_capacity(_: object, __: object, value: float) -> None:
    if isinstance(value, bool) or not (value == math.inf or (isinstance(value, int) and value >= 1)):
        raise ValueError(f"capacity must be a whole number from 1, not {value!r}")


@attrs.frozen
class MailboxSpec:
    """How much may wait, and what happens to what does not fit."""

    capacity: float = attrs.field(validator=_check_capacity)
    overflow: Overflow = attrs.field(validator=attrs.validators.instance_of(Overflow))
    key: Callable[[Any], Hashable | None] | None = None
    """Of a message, for COALESCE."""


class Envelope:
    """A message on its way: a call when it has a reply, a cast when not."""

    __slots__ = ("key", "lost", "message", "reply")

    def __init__(self, message: Any, reply: Reply | None = None) -> None:
        self.message = message
        self.reply = reply
        self.key: Hashable | None = None
        self.lost = False


_NUDGE: Final = Envelope(None)
_open_channel: Final = trio.open_memory_channel[Envelope]


class Mailbox:
    """One incarnation's queue: FIFO for each sender, on one Trio memory channel.

    Args:
        spec: Capacity and overflow rule.
        on_overflow: Told of each message pushed out.
    """

    __slots__ = (
        "_channel",
        "_head",
        "_keys",
        "_send",
        "accepting",
        "closed",
        "on_overflow",
        "spec",
        "stopping",
    )

    def __init__(self, spec: MailboxSpec, on_overflow: Callable[[Envelope], None]) -> None:
        self.spec = spec
        self.on_overflow = on_overflow
        self._send, self._channel = _open_channel(spec.capacity)
        self._keys: dict[Hashable, Envelope] | None = {} if spec.overflow is Overflow.COALESCE else None
        self._head: Envelope | None = None
        self.accepting = True
        """Whether senders are let in."""
        self.stopping = False
        """Whether the actor is to take no further message."""
        self.closed = False

    def put_nowait(self, envelope: Envelope) -> bool:
        """Accept it now if the rule allows; False when its sender would have to wait, or is refused."""
        if self._keys is not None and self._coalesce(envelope):
            return True
        try:
            self._send.send_nowait(envelope)
        except trio.WouldBlock:
            if self.spec.overflow is not Overflow.DROP_OLDEST:
                self._unlist(envelope)
                return False
            self._push_out()
            self._send.send_nowait(envelope)
        return True

    async def put(self, envelope: Envelope) -> None:
        """Wait for room. Ends too when the incarnation does: then the envelope is `lost`, its reply failed."""
        if self._keys is not None and self._coalesce(envelope):
            return
        try:
            await self._send.send(envelope)
        except BaseException:
            self._unlist(envelope)
            raise

    def _coalesce(self, envelope: Envelope) -> bool:
        key, keys = self.spec.key, self._keys
        if envelope.reply is not None or key is None or keys is None:
            return False
        envelope.key = key(envelope.message)
        if envelope.key is None:
            return False
        waiting = keys.setdefault(envelope.key, envelope)
        waiting.message = envelope.message
        return waiting is not envelope

    def _unlist(self, envelope: Envelope) -> None:
        if self._keys is not None and self._keys.get(envelope.key) is envelope:
            del self._keys[envelope.key]

    def _push_out(self) -> None:
        waiting = list(self._receive_all())
        victim = next((one for one in waiting if one.reply is None), waiting[0])
        for envelope in waiting:
            if envelope is not victim:
                self._send.send_nowait(envelope)
        self.on_overflow(victim)

    def _receive_all(self) -> Iterator[Envelope]:
        while True:
            try:
                yield self._channel.receive_nowait()
            except trio.WouldBlock:
                return

    async def get(self) -> Envelope | None:
        """The next message, or None after a nudge. Always a checkpoint; a cancellation loses no message."""
        envelope = await self._channel.receive()
        if self._keys is not None:
            self._unlist(envelope)
        return None if envelope is _NUDGE else envelope

    def unget(self, envelope: Envelope) -> None:
        """Put the message taken last back in front: it shares the fate of those that still wait."""
        self._head = envelope

    def nudge(self) -> bool:
        """Wake the actor if it waits for a message, and say whether it did; it takes no other one if `stopping`."""
        waits = self._channel.statistics().tasks_waiting_receive > 0
        if waits:
            self._send.send_nowait(_NUDGE)
        return waits

    def close(self) -> list[Envelope]:
        """End the queue, free those who wait to send, return all that was accepted. Never awaits."""
        self.accepting = False
        self.closed = True
        waiting = [] if self._head is None else [self._head]
        waiting.extend(self._receive_all())
        self._channel.close()
        self._send.close()
        return waiting

    @property
    def depth(self) -> int:
        """Messages waiting."""
        return self._channel.statistics().current_buffer_used + (self._head is not None)

    @property
    def peak(self) -> int:
        """The most that ever waited."""
        return self._channel.statistics().peak_buffer_used
