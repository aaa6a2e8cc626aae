"""A conversation as the protocol's updates of it.

Owns: which update a thing of the conversation becomes: words, thoughts, tool calls, plan, and hub's own notes between them;
that a text which came in pieces is not told again as a whole, and that two texts do not run into each other.
Must not: send anything, ask the daemon, or change an agent's words.

A record is told the same way while it happens and when it is read back.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import PurePath

import attrs

from hub.acp.prompts import fenced
from hub.domain.conversation import ConversationFold, ConversationItem, ItemKind, plan_of
from hub.domain.event import RecordJson
from hub.domain.jsonvalue import JsonObject
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import told
from hub.domain.text.safe import clean, headline

MESSAGE, THOUGHT, USER = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
_GAP = "\n\n"


def chunk(kind: str, words: str) -> JsonObject:
    """The update of a text."""
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}}


Update = JsonObject

_KINDS = {
    "execute": ("bash", "shell", "run", "exec", "command", "terminal"),
    "edit": ("write", "edit", "patch", "append", "create", "replace", "notebook"),
    "read": ("read", "view", "open", "cat"),
    "search": ("grep", "glob", "search", "find", "list", "ls"),
    "fetch": ("fetch", "web", "browse"),
    "delete": ("delete", "remove"),
    "move": ("move", "rename"),
    "think": ("think", "todo", "plan", "task"),
}
"""Kind of the protocol -> parts of the names that agents give such tools."""
_SPOKEN = (MESSAGE, THOUGHT)
_OPEN = ("pending", "in_progress")
_ENDED = {
    ("completed", True): "Done, and the acceptance commands say so.",
    ("completed", None): "Done, not verified: no acceptance command is configured.",
    ("completed", False): "Done, not verified.",
    ("failed", None): "The session failed; every byte is on its branch.",
    ("stopped", None): "Stopped; every byte is on its branch.",
}


@attrs.define
class Teller:
    """Tells the records of one conversation, in their order.

    Args:
        tree: Where the agents work: their names of files are relative to that.
    """

    tree: PurePath
    _fold: ConversationFold = attrs.field(factory=ConversationFold)
    _shown: str = ""
    """The kind that the editor would put the next chunk to; "" = something else was told since."""
    _of: ConversationItem | None = None
    """The text that the last chunk was of."""
    _sent: dict[str, str] = attrs.field(factory=dict)
    """What is told of the texts that are not whole yet."""
    _titled: bool = False
    """Whether the conversation has its title: its first task."""
    _who: str = ""
    """The agent whose run began last."""
    _dispatches: set[str] = attrs.field(factory=set)
    _calls: dict[str, str] = attrs.field(factory=dict)
    """The tool calls that were told, and how each stands."""
    _asked: dict[str, str] = attrs.field(factory=dict)
    """The tool call that each request for permission is about."""

    def tell(self, record: RecordJson) -> list[Update]:
        """The updates of a record; [] = it is nothing for an editor."""
        item = self._fold.take(record)
        if item is None:
            return []
        meta = record.get("meta", {})
        updates = [*self._taken_over(item, meta), *self._updates(item, meta)]
        if any(update["sessionUpdate"] not in _SPOKEN for update in updates):
            self._shown = ""
        return updates

    def note(self, words: str) -> Update:
        """Hub's own words: in a quote, so that nobody takes them for the agent's."""
        self._shown = ""
        quoted = "\n".join(f"> {line}".rstrip() for line in clean(words).splitlines())
        return chunk(MESSAGE, f"{_GAP}{quoted}{_GAP}")

    def call_of(self, approval: str) -> str:
        """The tool call that a request for permission is about; one of its own where its agent named none."""
        return self._asked.get(approval, approval)

    def _updates(self, item: ConversationItem, meta: EventMeta) -> Iterator[Update]:
        match item.kind:
            case ItemKind.SAID | ItemKind.THOUGHT:
                yield from self._text(item)
            case ItemKind.RESULT | ItemKind.QUESTION if item.text.strip() and item.again is None:
                yield from self._text(item)
            case ItemKind.USER if not meta.get("type"):  # else an agent repeats what it was told
                yield chunk(USER, item.text)
            case ItemKind.TOOL:
                yield from self._tool(item)
            case ItemKind.PLAN:
                yield _plan(meta)
            case ItemKind.REQUEST | ItemKind.SETTLED:
                yield self._approval(item.text, meta)
            case _:
                yield from self._own(item, meta)

    def _text(self, item: ConversationItem) -> Iterator[Update]:
        """What was not told of it yet; editors put the chunks of a kind together, so a gap is between two texts."""
        kind = THOUGHT if item.kind is ItemKind.THOUGHT else MESSAGE
        sent = self._sent.pop(item.key, "")
        rest = item.text.removeprefix(sent)
        if not item.whole:
            self._sent[item.key] = item.text
        if rest:
            gap = _GAP if self._shown == kind and self._of is not item else ""
            self._shown, self._of = kind, item
            yield chunk(kind, gap + rest)

    def _tool(self, item: ConversationItem) -> Iterator[Update]:
        meta, number = item.meta, _call_id(item.meta)
        if "plan" in meta:
            yield _plan(meta)
        more: Update = {"locations": [{"path": str(self.tree / meta["path"])}]} if "path" in meta else {}
        if item.result is None:
            if given := raw_input(meta):
                more["rawInput"] = given
            status = "pending" if self._calls.get(number) == "pending" else "in_progress"
            tool = meta.get("tool", "")
            yield self._call(
                number, status, line(item.text, self.tree) or tool, kind=kind_of(tool, meta), **more
            )
            return
        if "exitCode" in meta:
            more["rawOutput"] = {"exitCode": meta["exitCode"]}
        ran = "command" in meta or "exitCode" in meta
        result = [content(fenced(item.result) if ran else item.result)] if item.result.strip() else []
        yield self._call(number, "failed" if item.failed else "completed", content=result, **more)

    def _call(self, number: str, status: str, title: str = "", **more: object) -> Update:
        """How a tool call stands; the first word of it is what makes it."""
        known = number in self._calls
        self._calls[number] = status
        return {
            "sessionUpdate": "tool_call_update" if known else "tool_call",
            "toolCallId": number,
            **({} if known and not title else {"title": title or "tool"}),
            "status": status,
            **more,
        }

    def _unfinished(self) -> Iterator[Update]:
        """Of the runs that were told, which are over, nothing goes on."""
        for number, status in self._calls.items():
            if status in _OPEN and number.partition(":")[0] in self._dispatches:
                yield self._call(number, "failed")

    def _taken_over(self, item: ConversationItem, meta: EventMeta) -> Iterator[Update]:
        """Before the first word of an agent that goes on with another one's work."""
        dispatch = meta.get("dispatchId") if item.who else ""
        if not dispatch or dispatch in self._dispatches:
            return
        yield from self._unfinished()
        self._dispatches.add(dispatch)
        before, self._who = self._who, item.who
        if before and before != item.who:
            yield self.note(f"**hub:** {item.who} goes on with the work.")

    def _approval(self, words: str, meta: EventMeta) -> Update:
        number, title = meta["approvalId"], line(meta.get("action", words), self.tree)
        call = self._asked[number] = meta.get("callId", number)
        if meta.get("needsApproval"):
            return self._call(call, "pending", title)
        if meta.get("approved") and call != number:  # the question's words have had their time
            return self._call(call, "in_progress", title, content=[])
        status = "completed" if meta.get("approved") else "failed"
        return self._call(call, status, title, content=[content(words)])

    def _own(self, item: ConversationItem, meta: EventMeta) -> Iterator[Update]:
        """What hub itself does, and an agent's error."""
        match item.kind:
            case ItemKind.START:
                yield from self._start(clean(meta.get("task", "")))
            case ItemKind.END:
                yield from self._unfinished()
                yield self.note(f"**hub:** {ended_words(meta)}")
            case ItemKind.CHECK:
                yield self._check(item)
            case ItemKind.ERROR:
                hint = f"\n{meta['hint']}" if meta.get("hint") else ""
                said = f"**{item.who}:** {item.text}" if item.who else told(item.text, time.time())
                yield self.note(f"{said}{hint}")
            case ItemKind.GIVEN | ItemKind.WAIT | ItemKind.LEFT_OUT | ItemKind.NOTE:
                yield self.note(f"**hub:** {told(item.text, time.time())}")

    def _start(self, task: str) -> Iterator[Update]:
        yield chunk(USER, task)
        if not self._titled:
            self._titled = True
            yield {"sessionUpdate": "session_info_update", "title": headline(task)}

    def _check(self, item: ConversationItem) -> Update:
        """An acceptance command is a tool call of hub's own."""
        number, given = f"verify {item.at} {item.meta['command']}", {"command": item.meta["command"]}
        if item.result is None:
            return self._call(number, "in_progress", _line(item.text), kind="execute", rawInput=given)
        said = "\n\n".join(filter(None, (item.text, fenced(item.result) if item.result.strip() else "")))
        status, title = (
            "failed" if item.failed else "completed",
            "" if number in self._calls else _line(item.text),
        )
        return self._call(number, status, title, content=[content(said)])


def kind_of(tool: str, meta: EventMeta) -> str:
    """The protocol's kind of a tool call."""
    if meta.get("command"):
        return "execute"
    name = tool.lower()
    return next((kind for kind, parts in _KINDS.items() if any(part in name for part in parts)), "other")


def raw_input(meta: EventMeta) -> JsonObject:
    """What a tool was given, as far as it is told."""
    given = meta.get("input")
    whole = given if isinstance(given, dict) else {}
    return {**whole, **{name: meta[name] for name in ("command", "path") if meta.get(name)}}


def content(words: str) -> JsonObject:
    """Text as the content of a tool call."""
    return {"type": "content", "content": {"type": "text", "text": words}}


def ended_words(meta: EventMeta) -> str:
    """How a session ended, for people."""
    state, verified = meta["ended"], meta.get("verified")
    return _ENDED.get((state, verified)) or _ENDED.get((state, None), f"The session has ended: {state}.")


def _plan(meta: EventMeta) -> Update:
    steps = plan_of(meta)
    at = next((step for step, done in steps if not done), "")
    entries = [
        {
            "content": step,
            "priority": "medium",
            "status": "completed" if done else "in_progress" if step == at else "pending",
        }
        for step, done in steps
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _call_id(meta: EventMeta) -> str:
    """As hub's requests name the call that they are about (`callId`)."""
    return f"{meta.get('dispatchId', '')}:{meta.get('toolId', '')}"


def line(words: str, tree: PurePath) -> str:
    """In one line, with the agent's files named from their root."""
    return _line(words.replace(f"{tree}/", ""))


def _line(words: str) -> str:
    return " ".join(words.split())
