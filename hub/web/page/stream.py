"""A session's events as a conversation: who speaks, what is said and done, each thing once.

Owns: which events a reader is shown, and which belong together: a tool call and its result, the pieces of a text, the
start of a check and its verdict.
Must not: make markup, or drop what only the event log tells: the page of events has every record.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from hub.api.events import EventRecord
from hub.domain.event import Tag
from hub.domain.handoff import State
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import spoken
from hub.domain.text.figures import agent_name
from hub.domain.text.result import bare


@attrs.define
class StreamItem:
    """One thing that happened.

    Attributes:
        key: The same in every look at the page.
        kind: `said`, `thought`, `you`, `tool`, `note`, `handoff`, `waiting` or `error`.
        at: When; ISO.
        who: The agent, with its account where that has a name; "" = hub itself.
        text: What was said, or what the tool was asked to do.
        meta: What the event tells beside its words.
        result: A tool's result; None = it has not come.
        failed: Whether the tool failed.
    """

    key: str
    kind: str
    at: str
    who: str
    text: str
    meta: EventMeta
    result: str | None = None
    failed: bool = False


@attrs.frozen
class StreamTurn:
    """What came from one agent, or from hub, in one go."""

    key: str
    who: str
    items: list[StreamItem]


@attrs.frozen
class Task:
    """One of an agent's plan."""

    text: str
    done: bool


def turns(events: Iterable[EventRecord]) -> list[StreamTurn]:
    """The conversation, the oldest first."""
    found: list[StreamTurn] = []
    for item in items(events):
        if not found or found[-1].who != item.who:
            found.append(StreamTurn(f"by-{item.key}", item.who, []))
        found[-1].items.append(item)
    return found


def plan_of(events: Iterable[EventRecord]) -> list[Task]:
    """The newest plan that an agent has told; one that is cut short by what is shown is none."""
    told = [event.meta for event in events if "plan" in event.meta]
    if not told:
        return []
    left = told[-1].get("tasksRemaining", ())
    return [Task(task, task not in left) for task in told[-1]["plan"]]


def items(events: Iterable[EventRecord]) -> list[StreamItem]:
    """What is shown of a log, the oldest first."""
    fold = _Fold()
    for event in events:
        fold.take(event)
    return list(fold.found.values())


@attrs.define
class _Fold:
    found: dict[str, StreamItem] = attrs.field(factory=dict)
    _calls: dict[str, StreamItem] = attrs.field(factory=dict)
    _checks: dict[str, str] = attrs.field(factory=dict)
    """Acceptance command -> the item that says it has begun."""
    _piece: StreamItem | None = None
    """A text of which more is to come."""
    _written: StreamItem | None = None
    """A text that is being written: its end has not come."""
    _said: str = ""

    def take(self, event: EventRecord) -> None:
        match event.tag:
            case Tag.TEXT:
                self._text(event)
            case Tag.TOOL_USE:
                self._calls[_call(event)] = self._add(event, "tool")
            case Tag.TOOL_RESULT:
                self._result(event)
            case Tag.QUOTA:
                return  # the page of quotas has them
            case Tag.HANDOFF:
                self._handoff(event)
            case Tag.WAITING:
                self._waiting(event)
            case _:
                self._told(event)

    def _add(self, event: EventRecord, kind: str, text: str | None = None) -> StreamItem:
        meta = event.meta
        words = event.msg if text is None else text
        item = StreamItem(f"e{event.id}", kind, meta.get("at", event.ts), _who(meta), words, meta)
        self.found[item.key] = item
        return item

    def _text(self, event: EventRecord) -> None:
        meta = event.meta
        kind = (
            "you" if meta.get("role") == "user" else "thought" if meta.get("type") == "thinking" else "said"
        )
        if meta.get("delta"):
            if self._written is None:
                self._written = self._add(event, kind)
            else:
                self._written.text += event.msg
            return
        if self._written is not None:  # the same words come whole
            del self.found[self._written.key]
            self._written = None
        if self._piece is None:
            self._piece = self._add(event, kind)
        else:
            self._piece.text += event.msg
        self._said = " ".join(self._piece.text.split())
        if not meta.get("more"):
            self._piece = None

    def _result(self, event: EventRecord) -> None:
        call = self._calls.pop(_call(event), None) or self._add(
            event, "tool", event.meta.get("tool") or "tool"
        )
        call.result = bare(event.msg)
        call.failed = bool(event.meta.get("isError") or event.meta.get("exitCode"))
        if "exitCode" in event.meta:
            call.meta = {**call.meta, "exitCode": event.meta["exitCode"]}

    def _handoff(self, event: EventRecord) -> None:
        """The states are the ribbon's; here it begins, and somebody goes on."""
        meta = event.meta
        if meta.get("from") == State.RUNNING:
            reason = meta.get("reason")
            self._add(event, "handoff", f"handing the work over: {spoken(reason)}" if reason else None)
        elif meta.get("to") == State.RUNNING:
            self._add(event, "handoff", f"{_name(meta)} goes on with the work")
        elif "to" not in meta and "hfs" not in meta:
            self._add(event, "handoff")

    def _waiting(self, event: EventRecord) -> None:
        meta = event.meta
        if meta.get("approvalId") and meta.get("type") and not meta.get("needsInput"):
            return  # the agent's own word for what hub asks
        self._add(event, "waiting")

    def _told(self, event: EventRecord) -> None:
        meta = event.meta
        words = " ".join(event.msg.split())
        if "plan" in meta or meta.get("leftOut") or meta.get("amends"):
            return  # each has a place of its own on the page
        if event.tag == Tag.SYSTEM and meta.get("type"):
            if meta["type"] == "result" and words and words != self._said:
                self._add(event, "said")
            return  # an agent's remarks on itself
        if (command := meta.get("command")) is not None:
            if begun := self._checks.pop(command, None):
                del self.found[begun]
            if event.tag == Tag.SYSTEM and "exitCode" not in meta:
                self._checks[command] = f"e{event.id}"
        self._add(event, "error" if event.tag == Tag.ERROR else "note", spoken(event.msg))


def _call(event: EventRecord) -> str:
    return event.meta.get("toolId") or str(event.id)


def _name(meta: EventMeta) -> str:
    return agent_name(meta.get("provider") or "the next agent", meta.get("account", ""))


def _who(meta: EventMeta) -> str:
    return _name(meta) if meta.get("dispatchId") and meta.get("type") and meta.get("role") != "user" else ""
