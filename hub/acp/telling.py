"""What the event log tells, as the protocol's updates of a conversation.

Owns: which update a record becomes: words, thoughts, tool calls, plan, and hub's own notes between them; that a text which
came in pieces is not told again as a whole, and that two texts do not run into each other.
Must not: send anything, ask the daemon, or change an agent's words.

A record is told the same way while it happens and when it is read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import attrs

from hub.acp.prompts import fenced
from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import spoken
from hub.domain.text.result import bare
from hub.domain.text.safe import clean, headline
from hub.wire.frames import JsonObject

MESSAGE, THOUGHT, USER = "agent_message_chunk", "agent_thought_chunk", "user_message_chunk"
_GAP = "\n\n"


@attrs.define
class Speech:
    """Editors put the chunks of a kind together as they come, until something else is told."""

    said: str = ""
    """What the agent said last."""
    _shown: str = ""
    """The kind that the next chunk would be put to; "" = something else was told."""
    _goes_on: bool = False
    """Whether the next text belongs to the one before."""
    _pieces: str = ""
    """What is told of a text that is not whole yet."""

    def piece(self, kind: str, words: str) -> JsonObject:
        """A part of a text that is told again when it is whole."""
        gap = self._gap(kind)
        self._pieces += words
        return chunk(kind, gap + words)

    def whole(self, kind: str, words: str, *, goes_on: bool = False) -> list[JsonObject]:
        """A text; of one that came in pieces what is left of it.

        Args:
            kind: Whose.
            words: All of it.
            goes_on: Whether the next one belongs to it.
        """
        told = self._pieces if words.startswith(self._pieces) else ""
        gap = "" if told else self._gap(kind)
        self._pieces, self._goes_on = "", goes_on
        if kind == MESSAGE:
            self.said = words
        rest = words[len(told) :]
        return [chunk(kind, gap + rest)] if rest else []

    def repeats(self, words: str) -> bool:
        """Whether this is what the agent said last."""
        return words.split() == self.said.split()

    def note(self, words: str) -> JsonObject:
        """Hub's own words: in a quote, so that nobody takes them for the agent's."""
        self.interrupted()
        quoted = "\n".join(f"> {line}".rstrip() for line in clean(words).splitlines())
        return chunk(MESSAGE, f"{_GAP}{quoted}{_GAP}")

    def interrupted(self) -> None:
        """Something else was told."""
        self._shown = ""

    def _gap(self, kind: str) -> str:
        begins = self._shown == kind and not self._goes_on and not self._pieces
        self._shown, self._goes_on = kind, False
        return _GAP if begins else ""


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
_LATER = ("usage", "quota", "retry")
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
    _speech: Speech = attrs.field(factory=Speech)
    _titled: bool = False
    """Whether the conversation has its title: its first task."""
    _verifying: str = ""
    _who: str = ""
    """The agent whose run began last."""
    _dispatches: set[str] = attrs.field(factory=set)
    _calls: dict[str, str] = attrs.field(factory=dict)
    """The tool calls that were told, and how each stands."""
    _paths: dict[str, str] = attrs.field(factory=dict)
    """The file that each tool call is about."""
    _asked: dict[str, str] = attrs.field(factory=dict)
    """The tool call that each request for permission is about."""

    def tell(self, record: RecordJson) -> list[Update]:
        """The updates of a record; [] = it is nothing for an editor."""
        meta = record.get("meta", {})
        updates = [*self._taken_over(meta), *self._updates(record, meta)]
        if any(update["sessionUpdate"] not in _SPOKEN for update in updates):
            self._speech.interrupted()
        return updates

    def note(self, words: str) -> Update:
        """Hub's own words."""
        return self._speech.note(words)

    def call_of(self, approval: str) -> str:
        """The tool call that a request for permission is about; one of its own where its agent named none."""
        return self._asked.get(approval, approval)

    def _updates(self, record: RecordJson, meta: EventMeta) -> Iterator[Update]:
        words = clean(record["msg"])
        if meta.get("type") in _LATER or "detected" in meta:
            return
        match record.get("tag"):
            case "text":
                yield from self._text(words, meta)
            case "tool_use":
                yield self._tool_call(words, meta)
            case "tool_result":
                yield self._tool_result(bare(words), meta)
            case "handoff":
                yield from self._handoff(meta)
            case "waiting":
                yield from self._waiting(words, meta)
            case "system":
                yield from self._system(words, meta)
            case "error" if _is_verify(meta, words):
                yield self._verify(words, meta)
            case "error":
                who = meta.get("provider") if meta.get("type") else ""
                self._speech.said = words
                hint = f"\n{meta['hint']}" if meta.get("hint") else ""
                yield self.note(f"{f'**{who}:** ' if who else ''}{words}{clean(hint)}")

    def _text(self, words: str, meta: EventMeta) -> Iterator[Update]:
        if meta.get("role") == "user":
            if not meta.get("type"):  # else an agent repeats what it was told
                yield chunk(USER, words)
            return
        kind = THOUGHT if meta.get("type") == "thinking" else MESSAGE
        if meta.get("delta"):
            yield self._speech.piece(kind, words)
        else:
            yield from self._speech.whole(kind, words, goes_on=bool(meta.get("more")))

    def _tool_call(self, words: str, meta: EventMeta) -> Update:
        tool, number = meta.get("tool", ""), _call_id(meta)
        status = "pending" if self._calls.get(number) == "pending" else "in_progress"
        call = self._call(number, status, line(words, self.tree) or tool, kind=kind_of(tool, meta))
        if given := raw_input(meta):
            call["rawInput"] = given
        return call | self._locations(number, meta)

    def _tool_result(self, words: str, meta: EventMeta) -> Update:
        number, ran = _call_id(meta), "command" in meta or "exitCode" in meta
        told = [content(fenced(words) if ran else words)] if words.strip() else []
        update = self._call(number, "failed" if meta.get("isError") else "completed", content=told)
        if "exitCode" in meta:
            update["rawOutput"] = {"exitCode": meta["exitCode"]}
        return update | self._locations(number, meta)

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

    def _locations(self, call: str, meta: EventMeta) -> Update:
        """Most agents name the file when they begin, and not again."""
        if "path" in meta:
            self._paths[call] = meta["path"]
        path = self._paths.get(call)
        return {"locations": [{"path": str(self.tree / path)}]} if path else {}

    def _taken_over(self, meta: EventMeta) -> Iterator[Update]:
        """Before the first word of an agent that goes on with another one's work."""
        dispatch = meta.get("dispatchId") if meta.get("type") else ""
        if not dispatch or dispatch in self._dispatches:
            return
        yield from self._unfinished()
        self._dispatches.add(dispatch)
        who, before = _who(meta), self._who
        self._who = who
        if before and before != who:
            yield self.note(f"**hub:** {who} goes on with the work.")

    def _handoff(self, meta: EventMeta) -> Iterator[Update]:
        if (meta.get("from"), meta.get("to")) == ("RUNNING", "PAUSING"):
            why = spoken(clean(meta.get("reason") or "a handoff was asked for"))
            yield self.note(f"**hub:** {_who(meta)} stops here: {why}. The work is handed on.")

    def _waiting(self, words: str, meta: EventMeta) -> Iterator[Update]:
        if meta.get("needsInput"):
            if not self._speech.repeats(words):
                yield from self._speech.whole(MESSAGE, words)
        elif "approvalId" in meta and not meta.get(
            "type"
        ):  # else an agent's own, which hub asks in its stead
            yield self._approval(words, meta)
        elif not meta.get("type"):
            until = f" (until {meta['until']})" if meta.get("until") else ""
            yield self.note(f"**hub:** {words}{until}")

    def _approval(self, words: str, meta: EventMeta) -> Update:
        number, title = meta["approvalId"], line(meta.get("action", words), self.tree)
        call = self._asked[number] = meta.get("callId", number)
        if meta.get("needsApproval"):
            return self._call(call, "pending", title)
        if meta.get("approved") and call != number:
            return self._call(
                call, "in_progress", title, content=[]
            )  # the question's words have had their time
        status = "completed" if meta.get("approved") else "failed"
        return self._call(call, status, title, content=[content(words)])

    def _system(self, words: str, meta: EventMeta) -> Iterator[Update]:
        if "ended" in meta:
            yield from self._unfinished()
            yield self.note(f"**hub:** {ended_words(meta)}")
        elif "plan" in meta:
            yield _plan(meta)
        elif meta.get("type") == "result":
            if words.strip() and not self._speech.repeats(words):
                yield from self._speech.whole(MESSAGE, words)
        elif meta.get("type"):
            return  # an agent's program speaks of itself
        elif "task" in meta:
            task = clean(meta["task"])
            yield chunk(USER, task)
            if not self._titled:
                self._titled = True
                yield {"sessionUpdate": "session_info_update", "title": headline(task)}
        elif _is_verify(meta, words):
            yield self._verify(words, meta)
        else:
            yield self.note(f"**hub:** {words}")

    def _verify(self, words: str, meta: EventMeta) -> Update:
        """An acceptance command is a tool call of hub's own."""
        if words.startswith("verify: "):
            self._verifying = f"verify {meta.get('at', '')} {meta['command']}"
            given = {"command": meta["command"]}
            return self._call(self._verifying, "in_progress", _line(words), kind="execute", rawInput=given)
        output = clean(str(meta.get("output", ""))).rstrip()
        status = "completed" if meta.get("exitCode") == 0 else "failed"
        told = "\n\n".join(filter(None, (words, fenced(output) if output else "")))
        return self._call(self._verifying, status, content=[content(told)])


def _is_verify(meta: EventMeta, words: str) -> bool:
    return "command" in meta and not meta.get("type") and words.startswith("verify")


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
    plan, left = meta["plan"], meta.get("tasksRemaining", [])
    at = next((step for step in plan if step in left), "")
    entries = [
        {
            "content": clean(step),
            "priority": "medium",
            "status": "completed" if step not in left else "in_progress" if step == at else "pending",
        }
        for step in plan
    ]
    return {"sessionUpdate": "plan", "entries": entries}


def _call_id(meta: EventMeta) -> str:
    """Of one agent's run: two agents may number theirs alike."""
    return f"{meta.get('dispatchId', '')}:{meta.get('toolId', '')}"


def _who(meta: EventMeta) -> str:
    account = meta.get("account")
    provider = meta.get("provider", "")
    return f"{provider}/{account}" if account else provider


def line(words: str, tree: PurePath) -> str:
    """In one line, with the agent's files named from their root."""
    return _line(words.replace(f"{tree}/", ""))


def _line(words: str) -> str:
    return " ".join(words.split())
