"""What an agent said or did, in one shape for all agents.

Owns: `Event` ({Type, Content, Meta} of the specification), the event types, the tags of the event log
and the mapping from the one to the other.
Must not: know any agent's native format.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypedDict

import attrs

from hub.domain.meta import EventMeta


class EventType(StrEnum):
    """The internal event types (`Type`)."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    USAGE = "usage"
    QUOTA = "quota"
    RETRY = "retry"
    WAITING = "waiting"
    ERROR = "error"
    RESULT = "result"
    SYSTEM = "system"


class Tag(StrEnum):
    """The tags of event-log records."""

    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    TEXT = "text"
    SYSTEM = "system"
    QUOTA = "quota"
    HANDOFF = "handoff"
    WAITING = "waiting"
    ERROR = "error"


TAG_OF: Mapping[EventType, Tag] = {
    EventType.TEXT: Tag.TEXT,
    EventType.THINKING: Tag.TEXT,
    EventType.TOOL_USE: Tag.TOOL_USE,
    EventType.TOOL_RESULT: Tag.TOOL_RESULT,
    EventType.USAGE: Tag.QUOTA,
    EventType.QUOTA: Tag.QUOTA,
    EventType.RETRY: Tag.WAITING,
    EventType.WAITING: Tag.WAITING,
    EventType.ERROR: Tag.ERROR,
    EventType.RESULT: Tag.SYSTEM,
    EventType.SYSTEM: Tag.SYSTEM,
}


@attrs.frozen
class Event:
    """One normalised event of an agent.

    `meta` holds JSON values only.
    """

    type: EventType
    content: str
    meta: EventMeta = attrs.field(factory=EventMeta)

    @property
    def tag(self) -> Tag:
        """The tag under which this event enters the log."""
        return TAG_OF[self.type]

    def but(self, content: str, meta: EventMeta) -> Event:
        """The same with other words and other meta."""
        return Event(self.type, content, meta)

    def to_json(self) -> dict[str, object]:
        """The `{Type, Content, Meta}` of the specification."""
        return {"Type": self.type.value, "Content": self.content, "Meta": dict(self.meta)}


DOING = frozenset({EventType.TEXT, EventType.THINKING, EventType.TOOL_USE, EventType.TOOL_RESULT})
"""What a model does, and no program without one."""


def answers(event: Event) -> bool:
    """Whether the event shows that the agent's model has answered, by what the agent says and not by who it is.

    That its program has started, met a limit, tries again or has no login shows nothing of the kind.
    """
    meta = event.meta
    match event.type:
        case EventType.USAGE:
            return bool(meta.get("tokensOut"))
        case EventType.WAITING:
            return bool(meta.get("approvalId") or meta.get("needsInput"))
        case EventType.RESULT:
            return not (meta.get("isError") or meta.get("interrupted"))
        case EventType.SYSTEM:
            return "plan" in meta
        case kind:
            return kind in DOING


class _Told(TypedDict):
    id: int
    ts: str
    tag: str
    msg: str


class RecordJson(_Told, total=False):
    """A record on the wire, for those who read a thousand a second; `meta` only where there is any."""

    meta: EventMeta


@attrs.frozen
class Record:
    """One record of the durable event log: `{id, ts, tag, msg}` plus `meta`."""

    id: int
    ts: str
    """Time of day, `HH:MM:SS.mmm`, UTC."""
    tag: str
    msg: str
    meta: EventMeta = attrs.field(factory=EventMeta)
    """`at` (full timestamp), `sessionId`, `provider`, and the event's own meta."""

    def to_json(self) -> RecordJson:
        """The wire form."""
        body: RecordJson = {"id": self.id, "ts": self.ts, "tag": self.tag, "msg": self.msg}
        if self.meta:
            body["meta"] = self.meta.copy()
        return body
