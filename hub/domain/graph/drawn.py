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
from hub.domain.intent.memory import RanCommand, Touched

ORDER = "order"
"""Of what was kept when it was read."""
DONE_ORDER = "doneOrder"
"""Of a finished step of the plan."""
OUTLINE = "intent"
"""The member of the task's node that holds the `outline`."""
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
_OWN = [field.name for field in attrs.fields(Intent) if field.name not in (*_LISTS, "done")]


def outline(intent: Intent, *, whole: bool) -> dict[str, object]:
    """What of an intent is about the session as a whole; the rest are nodes of their own.

    Args:
        intent: The intent.
        whole: Whether all of the session was read, from the task on.
    """
    return {"whole": whole, "items": _items(intent), **{name: getattr(intent, name) for name in _OWN}}


def _items(intent: Intent) -> int:
    """How many items are nodes of their own: a graph that lacks one of them is not to be drawn from."""
    return sum(len(getattr(intent, name)) for name in _LISTS)


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
    told = next((task[OUTLINE] for task in found[NodeType.TASK] if OUTLINE in task), None)
    if told is None or not told["whole"]:
        return None
    intent = _intent(msgspec.convert(told, Intent), found, session_id)
    return intent if _items(intent) == told["items"] else None


def _intent(own: Intent, found: Mapping[str, list[Mapping[str, Any]]], session_id: str) -> Intent:
    def ordered(kind: str, by: str = ORDER) -> list[Mapping[str, Any]]:
        keyed = (node for node in found[kind] if node.get(by) is not None)
        return sorted(keyed, key=lambda node: node[by])

    def facts(kind: str) -> tuple[Sourced, ...]:
        return tuple(Sourced(node["text"], node["source"]) for node in ordered(kind))

    done = tuple(Sourced(node["text"], node["done"]) for node in ordered(NodeType.DO_NOT_REDO, DONE_ORDER))
    return attrs.evolve(
        own,
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
