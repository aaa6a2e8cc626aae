"""Gemini's tool calls as ACP tells them.

Owns: `ToolBook`, which pairs calls with their ends and knows what is in flight.
Must not: know the stream around the updates.

Traps: a call that needed permission has no `tool_call` of its own, only its end; one that was denied has no
end at all. Gemini runs its tools one after another, so whatever comes next tells that a call whose end is
missing is over (`passed`). The tool's name stands only in the call's id; arguments and exit codes are not
told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hub.domain.event import Event, EventType
from hub.providers import jsonline

RESULT_CAP = 16_384
_DEPTH = 4
_ENDED = frozenset({"completed", "failed"})
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_.-]{0,63}?)__")
_EXIT = re.compile(r"\A(?:Command exited with code|Exit Code):? (\d{1,3})\b|\bExit Code: (\d{1,3})\b")
_CANCELLED = re.compile(r"\ACommand cancelled\b|\AOperation cancelled\b", re.IGNORECASE)


class ToolBook:
    """The calls in flight."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, Any]] = {}
        self._asked: set[str] = set()

    @property
    def in_flight(self) -> int:
        """Calls started, or waiting for permission, and not ended."""
        return len(self._open)

    def clear(self) -> None:
        """A turn is over."""
        self._open.clear()
        self._asked.clear()

    def passed(self) -> None:
        """The agent went on: a call that was asked for and has no end was denied."""
        for call in self._asked:
            self._open.pop(call, None)
        self._asked.clear()

    def asked(self, call: Mapping[str, Any], *, deniable: bool) -> Event:
        """A call that needs permission, which a person may deny; the event of its use."""
        self.passed()
        meta = self._begin(call)
        if deniable:
            self._asked.add(meta["toolId"])
        return _use(meta, call)

    def update(self, update: Mapping[str, Any]) -> list[Event]:
        """The events of a `tool_call` or `tool_call_update`."""
        call = jsonline.text(update.get("toolCallId"))
        events = []
        if call not in self._open:
            self.passed()
            events.append(_use(self._begin(update), update))
        if jsonline.text(update.get("status")) in _ENDED:
            meta = self._open.pop(call)
            self._asked.discard(call)
            events.append(_result(meta, update))
        return events

    def _begin(self, call: Mapping[str, Any]) -> dict[str, Any]:
        meta = describe(call)
        self._open[meta["toolId"]] = meta
        return meta


def describe(call: Mapping[str, Any]) -> dict[str, Any]:
    """Meta of a call: its tool, and the file or the command it is about."""
    number = jsonline.text(call.get("toolCallId"))
    kind = jsonline.text(call.get("kind"))
    named = _NAME.match(number)
    meta: dict[str, Any] = {"tool": named[1] if named else kind or "tool", "toolId": number}
    paths = [jsonline.text(jsonline.mapping(place).get("path")) for place in _places(call)]
    if path := next((path for path in paths if path), ""):
        meta["path"] = path
    if kind == "execute":
        meta["command"] = jsonline.text(call.get("title"))
    elif title := jsonline.text(call.get("title")):
        meta["input"] = {"title": jsonline.excerpt(title)}
    return meta


def plan_event(entries: Sequence[Any]) -> Event | None:
    """The event of a plan; None for an empty one."""
    steps = [jsonline.mapping(entry) for entry in entries]
    plan = [said for step in steps if (said := jsonline.text(step.get("content")))]
    rest = [
        said
        for step in steps
        if (said := jsonline.text(step.get("content"))) and step.get("status") != "completed"
    ]
    if not plan:
        return None
    said = f"Plan: {len(plan) - len(rest)} of {len(plan)} done"
    return Event(EventType.SYSTEM, said, {"plan": plan, "tasksRemaining": rest})


def _places(call: Mapping[str, Any]) -> list[Any]:
    diffs = [part for part in jsonline.items(call.get("content")) if jsonline.mapping(part).get("path")]
    return [*jsonline.items(call.get("locations")), *diffs]


def _use(meta: Mapping[str, Any], call: Mapping[str, Any]) -> Event:
    said = jsonline.text(call.get("title")) or meta.get("path", "")
    return Event(EventType.TOOL_USE, jsonline.cap(f"{meta['tool']} {said}".strip(), RESULT_CAP), dict(meta))


def _result(meta: dict[str, Any], update: Mapping[str, Any]) -> Event:
    said = content_text(update.get("content"))
    meta.pop("input", None)
    found = _EXIT.search(said)
    if "command" in meta and found:
        meta["exitCode"] = int(found[1] or found[2])
    failed = update.get("status") == "failed" or bool(_CANCELLED.match(said)) or bool(meta.get("exitCode"))
    meta["isError"] = failed
    return Event(
        EventType.TOOL_RESULT, jsonline.cap(said or jsonline.text(update.get("status")), RESULT_CAP), meta
    )


def content_text(content: Any, depth: int = _DEPTH) -> str:
    """The text of a tool call's content, or of one content block; nothing from deeper than any real one."""
    if depth == 0:
        return ""
    if isinstance(content, dict):
        inner = content.get("content")
        return (
            content_text(inner, depth - 1) if isinstance(inner, dict) else jsonline.text(content.get("text"))
        )
    return "\n".join(found for part in jsonline.items(content) if (found := content_text(part, depth - 1)))


def choice(params: Mapping[str, Any], *, allow: bool) -> dict[str, Any]:
    """The answer to a permission request: this once, never for ever; cancelled where no such option is."""
    wanted = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
    options = [jsonline.mapping(option) for option in jsonline.items(params.get("options"))]
    by_kind = {jsonline.text(option.get("kind")): option for option in options}
    chosen = next((by_kind[kind] for kind in wanted if kind in by_kind), None)
    if chosen is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": jsonline.text(chosen.get("optionId"))}}
