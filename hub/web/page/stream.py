"""A session's conversation on its page: which things stand in its stream, and whose turn each is.

Owns: the look of each kind of thing there, and what has a place of its own on the page.
Must not: make markup, or read a record (`hub.domain.conversation` does): the page of events has every one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from hub.api.events import EventRecord
from hub.domain.conversation import ConversationFold, ConversationItem, ItemKind, plan_of

_LOOKS: Mapping[ItemKind, str] = {
    ItemKind.SAID: "said",
    ItemKind.RESULT: "said",
    ItemKind.THOUGHT: "thought",
    ItemKind.USER: "you",
    ItemKind.TOOL: "tool",
    ItemKind.GIVEN: "handoff",
    ItemKind.TAKEN: "handoff",
    ItemKind.QUESTION: "waiting",
    ItemKind.REQUEST: "waiting",
    ItemKind.SETTLED: "waiting",
    ItemKind.RETRY: "waiting",
    ItemKind.WAIT: "waiting",
    ItemKind.ERROR: "error",
    ItemKind.CHECK: "note",
    ItemKind.START: "note",
    ItemKind.END: "note",
    ItemKind.NOTE: "note",
}
"""The others have a place of their own: plans, readings, a handoff's states and score, who was passed by."""


@attrs.frozen
class StreamTurn:
    """What came from one agent, or from hub, in one go."""

    key: str
    who: str
    items: list[ConversationItem]


def look_of(item: ConversationItem) -> str:
    """Its class on the page."""
    return "error" if item.kind is ItemKind.CHECK and item.failed else _LOOKS[item.kind]


def items(events: Iterable[EventRecord]) -> list[ConversationItem]:
    """What is shown of a log, the oldest first."""
    fold = ConversationFold()
    found: dict[str, ConversationItem] = {}
    for event in events:
        item = fold.take(
            {"id": event.id, "ts": event.ts, "tag": event.tag, "msg": event.msg, "meta": event.meta}
        )
        if item is None or item.kind not in _LOOKS:
            continue
        if item.again is not None and item.kind is ItemKind.ERROR:
            found.pop(item.again.key, None)  # told again with what to do
        if item.again is None or item.kind is not ItemKind.RESULT:
            found[item.key] = item
    return [item for item in found.values() if item.text.strip()]


def turns(shown: Iterable[ConversationItem]) -> list[StreamTurn]:
    """The conversation by who speaks, the oldest first."""
    found: list[StreamTurn] = []
    for item in shown:
        if not found or found[-1].who != item.who:
            found.append(StreamTurn(f"by-{item.key}", item.who, []))
        found[-1].items.append(item)
    return found


def newest_plan(events: Iterable[EventRecord]) -> tuple[tuple[str, bool], ...]:
    """The list that an agent has told last, each step with whether it is done; () where what is shown has none."""
    told = [event.meta for event in events if "plan" in event.meta]
    return plan_of(told[-1]) if told else ()
