"""What an actor tells the event log and the audit log.

Owns: the form of what is told, and how long a log is waited for that is restarting, slow or full.
Must not: decide what is told, or in which order.
Tests: tests/hub/actors/common/test_outbox.py

What is told with a key is logged once: both logs skip a key they have. So whoever is not sure tells it again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeVar, cast

import attrs

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.errors import HubError
from hub.io.events.store import NewEvent
from hub.messages.audit import AuditAppend, AuditEntry
from hub.messages.events import EventAppend
from supervisors import Ref, Sent

M = TypeVar("M")
T = TypeVar("T")


class Scrub(Protocol):
    """What hides secrets in a JSON value."""

    def __call__(self, value: T, /) -> T:
        """The value without them."""


def _as_it_is(value: T, /) -> T:
    return value


@attrs.frozen
class Outbox:
    """One actor's way to both logs.

    Attributes:
        events: The event log.
        clock: Epoch seconds.
        audit: The audit log; None for an actor that has nothing to say there.
        scrub: Hides secrets.
        patience: Seconds that a log may take. What it has not taken by then is lost, and nobody is told. Without an end:
            a call returns when the log has it, and raises what the log refused it for.
    """

    events: Ref[EventAppend]
    clock: Callable[[], float]
    audit: Ref[AuditAppend] | None = None
    scrub: Scrub = _as_it_is
    patience: float = math.inf

    async def publish(self, tag: Tag, words: str, meta: EventMeta, key: str = "", part: int = 0) -> None:
        """One event. Of those with the same key, one for each `part` is logged.

        Raises:
            HubError: The log does not take it.
        """
        await self._send(self.events, EventAppend([self.event(tag, words, meta, key, part)]))

    def event(self, tag: Tag, words: str, meta: EventMeta, key: str = "", part: int = 0) -> NewEvent:
        """What `publish` sends."""
        at_ms = int(self.clock() * 1000)
        return NewEvent(str(tag), self.scrub(words), self.scrub(meta.copy()), at_ms, key, part if key else -1)

    async def log(self, events: Sequence[NewEvent], *, spooled: bool = False) -> list[int]:
        """Events as they are, whatever the patience; answers their ids.

        Raises:
            HubError: The log does not take them.
        """
        return await call_until_answered(self.events, EventAppend(events, spooled))

    async def record(self, event: str, data: Mapping[str, object], key: str = "") -> None:
        """One entry of the audit log.

        Raises:
            HubError: The log does not take it.
        """
        if self.audit is not None:
            await self._send(self.audit, AuditAppend([AuditEntry(event, self.scrub({**data}), key=key)]))

    async def trouble(self, error: HubError) -> None:
        """An error that nobody asked for.

        Raises:
            HubError: The log does not take it.
        """
        await self.publish(Tag.ERROR, error.detail, known({"code": str(error.code), "hint": error.hint}))

    async def _send(self, ref: Ref[M], message: Sent[M, object]) -> None:
        if self.patience == math.inf:
            await call_until_answered(ref, message)
        else:
            await call_or_none(ref, message, self.patience)


def known(meta: EventMeta) -> EventMeta:
    """What of this is known: without ""."""
    return cast("EventMeta", {name: value for name, value in meta.items() if value != ""})
