"""A session's intent, drawn from the nodes of the graph.

Owns: what of the intent stands in the task's node, and how all of it is read back from the nodes of one session.
Must not: know where nodes are kept, or how they came to be there (`activity` does).

A node that is part of the intent has an order. One without is known all the same: it had to give way to newer ones, as in
every bounded collection of the intent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs
import msgspec

from hub.domain.contract import Sourced
from hub.domain.graph.vocabulary import NodeType
from hub.domain.intent.fold import Intent, not_again
from hub.domain.intent.memory import InFlight, RanCommand, Touched

ORDER = "order"
"""Of what was kept when it was read."""
DONE_ORDER = "doneOrder"
"""Of a finished step of the plan."""
_OUTLINE = "intent"
_LISTS = ("do_not_redo", "decisions", "constraints", "files", "commands", "failed_attempts")
DRAWN_FROM = (
    NodeType.TASK,
    NodeType.DECISION,
    NodeType.CONSTRAINT,
    NodeType.DO_NOT_REDO,
    NodeType.FILE,
    NodeType.COMMAND,
    NodeType.FAILURE,
)
"""The types of the nodes that an intent is drawn from."""


@attrs.frozen(kw_only=True)
class Outline:
    """What of an intent is about the session as a whole; the rest are nodes of their own."""

    whole: bool
    """Whether all of the session was read, from the task on."""
    items: int
    """How many items are nodes of their own: a graph that lacks one of them is not to be drawn from."""
    initial_prompt: str
    plan: tuple[Sourced, ...]
    tasks_remaining: tuple[Sourced, ...]
    skills_loaded: tuple[Sourced, ...]
    skills_in_use: tuple[Sourced, ...]
    skills_to_use: tuple[Sourced, ...]
    mcps: tuple[Sourced, ...]
    in_flight_code: tuple[InFlight, ...]
    model: Sourced | None = None
    next_action: Sourced | None = None

    @classmethod
    def of(cls, intent: Intent, *, whole: bool) -> Outline:
        """The outline of an intent."""
        own = [field.name for field in attrs.fields(cls) if field.name not in ("whole", "items")]
        items = sum(len(getattr(intent, name)) for name in _LISTS)
        return cls(whole=whole, items=items, **{name: getattr(intent, name) for name in own})


def outline_payload(outline: Outline) -> dict[str, object]:
    """What the task's node says of it."""
    return {_OUTLINE: msgspec.to_builtins(outline)}


def drawn(nodes: Iterable[tuple[str, Mapping[str, object]]], session_id: str) -> Intent | None:
    """The intent that a session's nodes tell; None where they do not tell all of it.

    Args:
        nodes: Type and payload of each node of the session.
        session_id: The session: a file's node is the next session's that touches it.
    """
    found: dict[str, list[Mapping[str, Any]]] = {kind: [] for kind in DRAWN_FROM}
    for kind, payload in nodes:
        if kind in found:
            found[kind].append(payload)
    outline = _outline(found[NodeType.TASK])
    if outline is None or not outline.whole:
        return None
    intent = _intent(outline, found, session_id)
    return intent if Outline.of(intent, whole=True) == outline else None


def _outline(tasks: list[Mapping[str, Any]]) -> Outline | None:
    told = next((task[_OUTLINE] for task in tasks if _OUTLINE in task), None)
    return None if told is None else msgspec.convert(told, Outline)


def _intent(outline: Outline, found: Mapping[str, list[Mapping[str, Any]]], session_id: str) -> Intent:
    def ordered(kind: str, by: str = ORDER) -> list[Mapping[str, Any]]:
        keyed = (node for node in found[kind] if node.get(by) is not None)
        return sorted(keyed, key=lambda node: node[by])

    def facts(kind: str) -> tuple[Sourced, ...]:
        return tuple(Sourced(node["text"], node["source"]) for node in ordered(kind))

    done = tuple(Sourced(node["text"], node["done"]) for node in ordered(NodeType.DO_NOT_REDO, DONE_ORDER))
    own = {name: value for name, value in _fields(outline).items() if name not in ("whole", "items")}
    return Intent(
        **own,
        done=done,
        do_not_redo=not_again(done, facts(NodeType.DO_NOT_REDO)),
        decisions=facts(NodeType.DECISION),
        constraints=facts(NodeType.CONSTRAINT),
        files=tuple(
            Touched(node["path"], node["written"], node["source"])
            for node in ordered(NodeType.FILE)
            if node.get("by") == session_id
        ),
        commands=tuple(
            RanCommand(node["command"], node.get("exitCode"), node["failed"], node["source"])
            for node in ordered(NodeType.COMMAND)
        ),
        failed_attempts=facts(NodeType.FAILURE),
    )


def _fields(outline: Outline) -> dict[str, Any]:
    return {field.name: getattr(outline, field.name) for field in attrs.fields(Outline)}
