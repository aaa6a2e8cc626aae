"""Codex's items: commands, file changes, messages and the rest, as events.

Owns: `ItemBook`, which pairs started with completed items and knows what is in flight.
Must not: know the stream around the items.

Traps: an interrupted command never completes, so the end of a turn clears what is in flight. One file change
may touch many files: each gets its own `tool_use` event, with one id. A command comes wrapped in the user's
shell (`/bin/bash -lc '...'`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.domain.interpreters import line_of
from hub.domain.meta import EventMeta
from hub.providers import jsonline

TEXT_CAP = 65_536
_UNWRAP_CAP = 16_384
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FAILED = frozenset({"failed", "declined"})
_QUIET = frozenset({"user_message", "hook_prompt", "function_call_output"})
TOOLS: Mapping[str, str] = {
    "command_execution": "exec_command",
    "file_change": "apply_patch",
    "mcp_tool_call": "mcp",
    "dynamic_tool_call": "tool",
    "web_search": "web_search",
    "collab_tool_call": "collab",
    "collab_agent_tool_call": "collab",
    "image_generation": "image_generation",
    "image_view": "view_image",
}


class ItemBook:
    """The items in flight, by id, and the thread each belongs to."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._changes: dict[str, list[str]] = {}

    def paths(self, call: str) -> list[str]:
        """The files that the file change `call`, told as started, is about."""
        return self._changes.get(call, [])

    def __len__(self) -> int:
        return len(self._open)

    def clear(self, thread: str | None = None) -> None:
        """A turn is over: what has not completed by then never will. None = of every thread."""
        self._open = {} if thread is None else {i: t for i, t in self._open.items() if t != thread}
        self._changes = {call: paths for call, paths in self._changes.items() if call in self._open}

    def started(self, item: Mapping[str, object], thread: str) -> list[Event]:
        """The events of `item/started`: a tool call begins; anything else waits for its completion."""
        kind = kind_of(item)
        if kind not in TOOLS:
            return []
        call = jsonline.text(item.get("id"))
        self._open[call] = thread
        events = _uses(kind, item, call)
        if found := [event.meta["path"] for event in events if "path" in event.meta]:
            self._changes[call] = found
        return events

    def completed(self, item: Mapping[str, object], thread: str) -> list[Event]:
        """The events of `item/completed`. A tool that was never seen to start gets both its events here."""
        kind = kind_of(item)
        if kind in TOOLS:
            call = jsonline.text(item.get("id"))
            opening = [] if call in self._open else self.started(item, thread)
            self._open.pop(call, None)
            self._changes.pop(call, None)
            return [*opening, _result(kind, item, call)]
        return [] if kind in _QUIET else [event for event in (_said(kind, item),) if event]


def kind_of(item: Mapping[str, object]) -> str:
    """The item's type in snake_case."""
    return _CAMEL.sub("_", jsonline.text(item.get("type"))).lower()


def _said(kind: str, item: Mapping[str, object]) -> Event | None:
    match kind:
        case "agent_message":
            said = jsonline.text(item.get("text"))
            if said and item.get("questions"):
                # For them it does not stop: the answer is a reply like any other.
                return Event(EventType.WAITING, said, {"needsInput": True})
            return _words(EventType.TEXT, said)
        case "reasoning":
            parts = jsonline.texts(item.get("summary")) or jsonline.texts(item.get("content"))
            return _words(EventType.THINKING, "\n".join(parts) or jsonline.text(item.get("text")))
        case "plan":
            return _words(EventType.THINKING, jsonline.text(item.get("text")))
        case "sub_agent_activity":
            told = (jsonline.text(item.get(name)) for name in ("agentPath", "kind"))
            return Event(EventType.SYSTEM, " ".join(("Subagent", *filter(None, told))))
        case _:
            return Event(EventType.SYSTEM, kind or "item", {"item": jsonline.excerpt(dict(item))})


def _words(kind: EventType, said: str) -> Event | None:
    return Event(kind, said) if said.strip() else None


def _uses(kind: str, item: Mapping[str, object], call: str) -> list[Event]:
    if kind == "file_change":
        meta: EventMeta = {"tool": TOOLS[kind], "toolId": call}
        changes = [jsonline.mapping(change) for change in jsonline.items(item.get("changes"))]
        found = [
            Event(
                EventType.TOOL_USE, f"apply_patch {path}", {**meta, "path": path, "change": _change(change)}
            )
            for change in changes
            if (path := jsonline.text(change.get("path")))
        ]
        return found or [Event(EventType.TOOL_USE, "apply_patch", meta)]
    meta = _meta(kind, item, call)
    return [Event(EventType.TOOL_USE, f"{meta['tool']} {meta.get('command', '')}".strip(), meta)]


def _meta(kind: str, item: Mapping[str, object], call: str) -> EventMeta:
    meta: EventMeta = {"tool": TOOLS[kind], "toolId": call}
    if kind == "command_execution":
        meta["command"] = unwrap(jsonline.text(item.get("command")))
    elif kind == "web_search":
        meta["input"] = {"query": jsonline.excerpt(item.get("query"))}
    elif kind == "image_view":
        meta["path"] = jsonline.text(item.get("path"))
    elif tool := jsonline.text(item.get("tool")):
        server = jsonline.text(item.get("server"))
        meta["tool"] = f"{server}.{tool}" if server else tool
        meta["input"] = jsonline.excerpt(item.get("arguments"))
        if server:
            meta["mcps"] = [server]
    return meta


def _result(kind: str, item: Mapping[str, object], call: str) -> Event:
    meta = _meta(kind, item, call)
    meta.pop("input", None)
    status = jsonline.text(item.get("status"))
    exit_code = jsonline.integer(item.get("exitCode"))
    if exit_code is not None:
        meta["exitCode"] = exit_code
    meta["isError"] = status in _FAILED or bool(exit_code) or item.get("success") is False
    said = jsonline.text(item.get("aggregatedOutput"))
    error = item.get("error")
    said = said or jsonline.text(jsonline.mapping(error).get("message")) or jsonline.text(error) or status
    return Event(EventType.TOOL_RESULT, said, meta)


def _change(change: Mapping[str, object]) -> str:
    kind = change.get("kind")
    return jsonline.text(kind) or jsonline.text(jsonline.mapping(kind).get("type"))


def unwrap(command: str) -> str:
    """The command without the shell around it; as it came where it is not so wrapped."""
    if len(command) > _UNWRAP_CAP or " -" not in command[:64]:
        return command
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return line_of(words) or command
