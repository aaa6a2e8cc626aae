"""Tool calls as ACP tells them.

Owns: `AcpToolCalls`, which pairs calls with their ends and knows what is in flight.
Must not: know the stream around the updates.

Traps: agents announce a call before they know what it is about (`pending`, without input): it is in flight at
once and told when there is something to tell. A call that needed permission may have no `tool_call` of its own,
only its end; in some agents one that was denied has no end at all (`sequential`). The tool's name stands in
`_meta.toolName`, in the call's id, or nowhere; then its kind has to do. Exit codes are told in the raw output, in
words, or not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.given import given, shown
from hub.providers.records import patched

_DEPTH = 4
ENDED = frozenset({"completed", "failed"})
_WORD = re.compile(r"[\w.:/-]{1,64}")
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9_.-]{0,63}?)__")
_EXIT = re.compile(
    r"\A(?:Command exited with code|Exit Code):? (\d{1,3})\b|\bExit Code: (\d{1,3})\b|with exit code (\d{1,3})>"
)
_CANCELLED = re.compile(r"\ACommand cancelled\b|\AOperation cancelled\b", re.IGNORECASE)
_PATHS = ("file_path", "filePath", "path", "fileName")


@attrs.define
class _Call:
    """A call in flight: all its fields so far, and what was told of it."""

    fields: dict[str, object]
    meta: EventMeta | None = None
    """None = its use is not told yet."""


class AcpToolCalls:
    """The calls in flight.

    Args:
        sequential: The agent runs its tools one after another and tells no end of a denied one: whatever comes next
            tells that a call which needed permission and has no end is over.
    """

    def __init__(self, *, sequential: bool = False) -> None:
        self._sequential = sequential
        self._open: dict[str, _Call] = {}
        self._asked: set[str] = set()
        self.denied = False
        """Whether the newest call to end was one that a person was asked about, and it was not carried out."""

    def __len__(self) -> int:
        return len(self._open)

    def clear(self) -> None:
        """A turn is over."""
        self._open.clear()
        self._asked.clear()
        self.denied = False

    def passed(self) -> None:
        """The agent went on: where tools run one by one, a call that was asked for and has no end was denied."""
        if not self._sequential:
            return
        for call in self._asked:
            self._open.pop(call, None)
        self._asked.clear()

    def asked(self, told: Mapping[str, object], *, deniable: bool) -> list[Event]:
        """A call that needs permission, which a person may deny; the event of its use, once."""
        self.passed()
        call = self._begin(told)
        if deniable:
            self._asked.add(_id(told))
        return _use(call)

    def name(self, told: Mapping[str, object]) -> str:
        """The tool of an open call as it was first told; "" of another. A request may leave the server's name out."""
        call = self._open.get(_id(told))
        return call.meta["tool"] if call is not None and call.meta is not None else ""

    def update(self, told: Mapping[str, object]) -> list[Event]:
        """The events of a `tool_call` or `tool_call_update`."""
        if _id(told) not in self._open:
            self.passed()
        call = self._begin(told)
        ended = jsonline.text(told.get("status")) in ENDED
        events = _use(call) if ended or _is_known(call.fields) else []
        if ended:
            del self._open[_id(told)]
            self.denied = _id(told) in self._asked and told.get("status") == "failed"
            self._asked.discard(_id(told))
            events.append(_result(call))
        return events

    def _begin(self, told: Mapping[str, object]) -> _Call:
        call = self._open.setdefault(_id(told), _Call({}))
        call.fields.update({name: value for name, value in told.items() if value not in (None, [], {})})
        return call


def _id(told: Mapping[str, object]) -> str:
    return jsonline.text(told.get("toolCallId"))


def _is_known(fields: Mapping[str, object]) -> bool:
    more = any(fields.get(name) for name in ("rawInput", "locations", "content"))
    return more or fields.get("status") != "pending"


def describe(call: Mapping[str, object]) -> EventMeta:
    """Meta of a call: its tool, and the file or the command it is about."""
    number = _id(call)
    kind = jsonline.text(call.get("kind"))
    title = jsonline.text(call.get("title"))
    given = jsonline.mapping(call.get("rawInput"))
    named = _NAME.match(number)
    tool = jsonline.text(jsonline.mapping(call.get("_meta")).get("toolName")) or (named[1] if named else "")
    if kind == "other" and _WORD.fullmatch(title):
        tool = tool or title  # some call a tool of the user's so, and no field has its name
    meta: EventMeta = {"tool": tool or kind or "tool", "toolId": number}
    told = [jsonline.text(jsonline.mapping(place).get("path")) for place in _places(call)]
    asked = [jsonline.text(given.get(name)) for name in _PATHS]
    if path := next(filter(None, [*told, *asked, *patched(jsonline.text(call.get("rawInput")))]), ""):
        meta["path"] = path
    if kind == "execute":
        meta["command"] = jsonline.text(given.get("command")) or title
    elif given or title:
        meta["input"] = jsonline.excerpt(dict(given)) if given else {"title": jsonline.excerpt(title)}
    return meta


def asked_about(call: Mapping[str, object]) -> EventMeta:
    """Meta of a call that needs permission: what `describe` tells, and what else rules look at."""
    told = jsonline.mapping(call.get("rawInput"))
    meta = asked_of(call)
    return {**meta, **given(meta["tool"], told, unknown=call.get("kind") == "other")}


def asked_of(call: Mapping[str, object]) -> EventMeta:
    """What `describe` tells, with all of what the call is given."""
    meta = describe(call)
    told = jsonline.mapping(call.get("rawInput"))
    if told or "input" in meta:
        meta |= shown(dict(told) or {"title": jsonline.text(call.get("title"))})
    return meta


def _places(call: Mapping[str, object]) -> list[object]:
    diffs = [part for part in jsonline.items(call.get("content")) if jsonline.mapping(part).get("path")]
    return [*jsonline.items(call.get("locations")), *diffs]


def _use(call: _Call) -> list[Event]:
    """The event of a call's use, the first time."""
    if call.meta is not None:
        return []
    call.meta = describe(call.fields)
    said = call.meta.get("command") or jsonline.text(call.fields.get("title")) or call.meta.get("path", "")
    content = f"{call.meta['tool']} {said}".strip()
    return [Event(EventType.TOOL_USE, content, call.meta.copy())]


def _result(call: _Call) -> Event:
    fields = call.fields
    said = content_text(fields.get("content"))
    meta: EventMeta = {**(call.meta or {})}
    meta.pop("input", None)
    if path := describe(fields).get("path"):
        meta["path"] = path
    if "command" in meta and (code := _exit_code(said, fields.get("rawOutput"))) is not None:
        meta["exitCode"] = code
    failed = fields.get("status") == "failed" or bool(_CANCELLED.match(said)) or bool(meta.get("exitCode"))
    meta["isError"] = failed
    told = said or jsonline.text(fields.get("rawOutput")) or jsonline.text(fields.get("status"))
    return Event(EventType.TOOL_RESULT, told, meta)


def _exit_code(said: str, raw: object) -> int | None:
    output = jsonline.mapping(raw)
    parts = [output, *(jsonline.mapping(part) for part in jsonline.items(output.get("contents")))]
    told = next((c for part in parts if (c := jsonline.integer(part.get("exitCode"))) is not None), None)
    if told is not None:
        return told
    found = _EXIT.search(said)
    return int(found[1] or found[2] or found[3]) if found else None


def content_text(content: object, depth: int = _DEPTH) -> str:
    """The text of a tool call's content, or of one content block; nothing from deeper than any real one."""
    if depth == 0:
        return ""
    if isinstance(content, dict):
        inner = content.get("content")
        return (
            content_text(inner, depth - 1) if isinstance(inner, dict) else jsonline.text(content.get("text"))
        )
    return "\n".join(found for part in jsonline.items(content) if (found := content_text(part, depth - 1)))


def choice(params: Mapping[str, object], *, allow: bool) -> dict[str, object]:
    """The answer to a permission request: this once, never for ever; cancelled where no such option is."""
    wanted = ("allow_once", "allow_always") if allow else ("reject_once", "reject_always")
    options = [jsonline.mapping(option) for option in jsonline.items(params.get("options"))]
    by_kind = {jsonline.text(option.get("kind")): option for option in options}
    chosen = next((by_kind[kind] for kind in wanted if kind in by_kind), None)
    if chosen is None:
        return {"outcome": {"outcome": "cancelled"}}
    return {"outcome": {"outcome": "selected", "optionId": jsonline.text(chosen.get("optionId"))}}
