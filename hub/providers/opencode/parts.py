"""OpenCode's messages and their parts: texts, thoughts, tool calls, token counts.

Owns: `PartBook`: whose message a part belongs to, which texts are still being written, which tools are in flight.
Must not: know sessions' states, failures, or how a run ends.

Traps: a part comes again with each change of it, so only what is new is told; the user's own messages and the
program's notes to itself (a compaction's summary and its "go on") have parts like the model's; a subagent's messages
come on the same stream under the session of its own.

Tests: tests/hub/providers/opencode/test_opencode_stream.py
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline

_FLUSH = 8_192
"""A streamed text is told in pieces of about this length, so that a long one does not look like silence."""
_TEXTS = {"text": EventType.TEXT, "reasoning": EventType.THINKING}
_ASIDES = frozenset({"compaction", "summary", "title"})
_ABORTED = re.compile(r"User aborted the command|Tool execution aborted")


class PartBook:
    """What is known of the parts so far."""

    def __init__(self, *, deltas: bool) -> None:
        self._deltas = deltas
        self._spoken: dict[str, bool] = {}
        """Message id -> whether the model speaks in it (and not the user, or the program to itself)."""
        self._texts: dict[str, str] = {}
        """Part id -> what was written and not yet told."""
        self._kinds: dict[str, EventType] = {}
        """Part id -> what its text is: said or thought."""
        self._told: set[str] = set()
        self.tools: dict[str, EventMeta] = {}
        """Tool calls that run, or wait for permission."""
        self._inputs: dict[str, Mapping[str, object]] = {}
        """Call -> its input, while it runs."""
        self._model = ""
        self.last_text = ""
        self.finished_tools = 0

    def clear(self) -> None:
        """Nothing runs any more."""
        self.tools.clear()
        self._inputs.clear()

    def given(self, call: str) -> Mapping[str, object]:
        """What a call that runs is given."""
        return self._inputs.get(call, {})

    def message(self, info: Mapping[str, object]) -> None:
        """A message began or changed."""
        aside = info.get("summary") is True or jsonline.text(info.get("mode")) in _ASIDES
        self._spoken[jsonline.text(info.get("id"))] = info.get("role") == "assistant" and not aside
        self._model = jsonline.text(info.get("modelID")) or self._model

    def speaks(self, part: Mapping[str, object]) -> bool:
        """Whether the part is the model's work."""
        return self._spoken.get(jsonline.text(part.get("messageID")), False)

    def updated(self, part: Mapping[str, object], *, sub: bool) -> list[Event]:
        """The events of a part that came or changed; `sub` for a subagent's, whose words are its own."""
        if part.get("type") == "step-finish":
            return self._usage(part)
        if not self.speaks(part):
            return []
        if part.get("type") == "tool":
            return self._tool(part, sub=sub)
        kind = _TEXTS.get(jsonline.text(part.get("type")))
        if sub or kind is None:
            return []
        self._kinds[jsonline.text(part.get("id"))] = kind
        ended = jsonline.mapping(part.get("time")).get("end") is not None
        return self._whole(part) if ended else []

    def delta(self, properties: Mapping[str, object], *, sub: bool) -> list[Event]:
        """The events of a piece of a text."""
        piece = jsonline.text(properties.get("delta"))
        part = jsonline.text(properties.get("partID"))
        if sub or not piece or properties.get("field") != "text" or not self.speaks(properties):
            return []
        kind = self._kinds.get(part, EventType.TEXT)
        events = [Event(kind, piece, {"delta": True})] if self._deltas else []
        self._texts[part] = self._texts.get(part, "") + piece
        if len(self._texts[part]) >= _FLUSH:
            events += self._tell(part, {"more": True})
        return events

    def flush(self) -> list[Event]:
        """What was being written when it ended."""
        return [event for part in list(self._texts) for event in self._tell(part, {"partial": True})]

    def _whole(self, part: Mapping[str, object]) -> list[Event]:
        name = jsonline.text(part.get("id"))
        if name not in self._told:
            self._texts[name] = jsonline.text(part.get("text"))
        # Else parts of it were told as it was written; what is left stands in the buffer.
        return self._tell(name)

    def _tell(self, part: str, how: EventMeta | None = None) -> list[Event]:
        said = self._texts.pop(part, "")
        kind = self._kinds.get(part, EventType.TEXT)
        self._told.add(part)
        if not said.strip():
            return []
        if kind is EventType.TEXT:
            self.last_text = said.strip()
        return [Event(kind, said, how or {})]

    def _tool(self, part: Mapping[str, object], *, sub: bool) -> list[Event]:
        state = jsonline.mapping(part.get("state"))
        status = jsonline.text(state.get("status"))
        name = jsonline.text(part.get("id"))
        if status not in ("running", "completed", "error") or name in self._told:
            return []
        events = []
        call = jsonline.text(part.get("callID"))
        if status == "running":
            self._inputs[call] = jsonline.mapping(state.get("input"))
        else:
            self._inputs.pop(call, None)
        if name not in self.tools:
            self.tools[name] = _describe(part, state, sub=sub)
            events.append(_use(self.tools[name], state))
        if status != "running":
            self._told.add(name)
            self.finished_tools += 1
            events.append(_result(self.tools.pop(name), state))
        return events

    def _usage(self, part: Mapping[str, object]) -> list[Event]:
        tokens = jsonline.mapping(part.get("tokens"))
        cache = jsonline.mapping(tokens.get("cache"))
        cached = jsonline.count(cache.get("read"))
        tokens_in = jsonline.count(tokens.get("input")) + jsonline.count(cache.get("write")) + cached
        tokens_out = jsonline.count(tokens.get("output")) + jsonline.count(tokens.get("reasoning"))
        name = jsonline.text(part.get("id"))
        if name in self._told or not tokens_in + tokens_out:
            return []
        self._told.add(name)
        meta: EventMeta = {"tokensIn": tokens_in, "tokensOut": tokens_out, "cachedIn": cached}
        meta["model"] = self._model
        if cost := jsonline.number(part.get("cost")):
            meta["costUsdMicros"] = max(0, round(cost * 1_000_000))
        return [Event(EventType.USAGE, f"{tokens_in} tokens in, {tokens_out} out", meta)]


def _describe(part: Mapping[str, object], state: Mapping[str, object], *, sub: bool) -> EventMeta:
    given = jsonline.mapping(state.get("input"))
    meta: EventMeta = {
        "tool": jsonline.text(part.get("tool")) or "tool",
        "toolId": jsonline.text(part.get("callID")),
    }
    if path := jsonline.text(given.get("filePath")):
        meta["path"] = path
    if command := jsonline.text(given.get("command")):
        meta["command"] = command
    return {**meta, "subagent": True} if sub else meta


def _use(meta: EventMeta, state: Mapping[str, object]) -> Event:
    given = jsonline.excerpt(dict(jsonline.mapping(state.get("input"))))
    text = f"{meta['tool']} {meta.get('path') or meta.get('command', '')}".strip()
    return Event(EventType.TOOL_USE, text, {**meta, "input": given})


def _result(meta: EventMeta, state: Mapping[str, object]) -> Event:
    said = jsonline.text(state.get("output")) or jsonline.text(state.get("error"))
    code = jsonline.integer(jsonline.mapping(state.get("metadata")).get("exit"))
    if code is not None:
        meta["exitCode"] = code
    meta["isError"] = state.get("status") == "error" or bool(code) or _ABORTED.search(said) is not None
    return Event(EventType.TOOL_RESULT, said or jsonline.text(state.get("title")), meta)
