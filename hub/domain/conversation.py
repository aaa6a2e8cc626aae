"""A session's log as a conversation: what is said and done, each thing once, for every face that shows it.

Owns: what kind of thing a record tells, which records are one thing (a tool call and its result, the pieces of a text, the
start of a check and its verdict), which say again what was said, and the words for what hub itself tells.
Must not: decide what is shown, or how; a face takes the kinds that it has a place for.

Instants in hub's own words stay as the log has them: each face says them in its place's time.
"""

from __future__ import annotations

from enum import StrEnum

import attrs

from hub.domain.event import EventType, RecordJson, Tag
from hub.domain.handoff import State
from hub.domain.meta import EventMeta
from hub.domain.quota.spoken import spoken
from hub.domain.text.figures import agent_of
from hub.domain.text.result import bare, from_worktree
from hub.domain.text.safe import clean


class ItemKind(StrEnum):
    """What a thing of a conversation is."""

    USER = "user"
    """The user's own words."""
    SAID = "said"
    THOUGHT = "thought"
    TOOL = "tool"
    PLAN = "plan"
    RESULT = "result"
    """The end of an agent's run, in its words."""
    QUESTION = "question"
    """The agent waits for an answer in words."""
    REMARK = "remark"
    """An agent's program speaks of itself."""
    RETRY = "retry"
    READING = "reading"
    """Of a quota, or of tokens."""
    REQUEST = "request"
    """Something waits for the user's word."""
    SETTLED = "settled"
    """A request has its answer."""
    CHECK = "check"
    """An acceptance command."""
    GIVEN = "given"
    """An agent's work is handed over."""
    TAKEN = "taken"
    """An agent goes on with it."""
    MOVED = "move"
    """A state of a handoff between the two."""
    SCORE = "score"
    WAIT = "wait"
    ERROR = "error"
    """An agent's, or hub's own: then it has no agent."""
    START = "start"
    END = "end"
    LEFT_OUT = "left_out"
    """Who takes no part."""
    NOTE = "note"
    """Another word of hub's."""


@attrs.define(eq=False)
class ConversationItem:
    """One thing that was said or done. It is the same object while it goes on."""

    key: str
    """The id of the record that it began with."""
    kind: ItemKind
    at: str
    """When it began; ISO."""
    who: str
    """The agent, with its account where that has a name of its own; "" = hub, or the user."""
    text: str
    """Without what a terminal acts on; of a tool call what is to be done."""
    meta: EventMeta
    """What its records tell beside their words, the later over the earlier."""
    whole: bool = True
    """Whether nothing more of it is to come."""
    result: str | None = None
    """What a tool call or a check has put out; None = it is not over."""
    failed: bool = False
    ended: str = ""
    """When its result came."""
    again: ConversationItem | None = None
    """What said the same just before."""


@attrs.define
class ConversationFold:
    """Takes the records of a log one after the other. It holds what is not over, and each session's last words."""

    _calls: dict[str, ConversationItem] = attrs.field(factory=dict)
    _writing: dict[str, ConversationItem] = attrs.field(factory=dict)
    """Texts that are not whole yet, by run and kind."""
    _parts: dict[str, str] = attrs.field(factory=dict)
    """What of those has come for good."""
    _checks: dict[str, ConversationItem] = attrs.field(factory=dict)
    _last: dict[str, ConversationItem] = attrs.field(factory=dict)

    def take(self, record: RecordJson) -> ConversationItem | None:
        """What the next record begins or changes; None = it tells nothing, or nothing that is not told better elsewhere."""
        meta = record.get("meta", {})
        if "detected" in meta or (meta.get("amends") and "plan" not in meta):
            return None
        text = clean(record["msg"])
        match record["tag"]:
            case Tag.TEXT:
                item = self._text(record, meta, text)
            case Tag.TOOL_USE:
                item = self._call(record, meta, text)
            case Tag.TOOL_RESULT:
                item = self._result(record, meta, text)
            case Tag.QUOTA:
                item = self._item(record, ItemKind.READING, text)
            case Tag.HANDOFF:
                item = self._item(record, *_handoff(meta, text))
            case Tag.WAITING:
                item = self._waiting(record, meta, text)
            case _:
                item = self._told(record, meta, text)
        return item

    def _item(self, record: RecordJson, kind: ItemKind, text: str) -> ConversationItem:
        meta = record.get("meta", {})
        theirs = meta.get("type") and meta.get("role") != "user"
        who = agent_of(meta) if theirs else ""
        return ConversationItem(str(record["id"]), kind, meta.get("at", record["ts"]), who, text, meta)

    def _saying(self, record: RecordJson, kind: ItemKind, text: str) -> ConversationItem:
        """Words that may have been said just before, as a text or an error; hub tells an agent's error with its name.

        The same result of two runs is said twice.
        """
        item, session = self._item(record, kind, text), record.get("meta", {}).get("sessionId", "")
        last, words = self._last.get(session), text.split()
        if last is not None and (said := last.text.split()):
            told_again = kind is ItemKind.ERROR and " ".join(words).endswith(f": {' '.join(said)}")
            item.again = last if words == said or told_again else None
        if kind in (ItemKind.USER, ItemKind.ERROR):
            self._last[session] = item
        return item

    def _text(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem | None:
        if meta.get("role") == "user":
            return self._saying(record, ItemKind.USER, text)
        kind = ItemKind.THOUGHT if meta.get("type") == EventType.THINKING else ItemKind.SAID
        run = f"{meta.get('dispatchId', '')}:{kind}"
        item = self._writing.get(run) or self._item(record, kind, "")
        if meta.get("delta"):
            item.text += text
        else:
            item.text = self._parts.pop(run, "") + text
        item.whole = not (meta.get("delta") or meta.get("more"))
        if item.whole:
            self._writing.pop(run, None)
            if kind is ItemKind.SAID and item.text.strip():
                self._last[meta.get("sessionId", "")] = item
        else:
            self._writing[run] = item
            if not meta.get("delta"):
                self._parts[run] = item.text
        return item if item.text.strip() else None

    def _call(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem:
        item = self._calls[call_of(meta)] = self._item(record, ItemKind.TOOL, from_worktree(text))
        item.whole = False
        return item

    def _result(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem:
        item = self._calls.pop(call_of(meta), None)
        if item is None:
            what = meta.get("command") or meta.get("path") or meta.get("tool") or "a tool"
            item = self._item(record, ItemKind.TOOL, clean(str(what)))
        item.result = from_worktree(bare(text))
        item.failed = bool(meta.get("isError") or meta.get("exitCode"))
        return _over(item, record, meta)

    def _waiting(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem | None:
        if meta.get("needsInput"):
            return self._saying(record, ItemKind.QUESTION, text)
        if meta.get("type"):  # an agent's own request is asked, and told, by hub
            return None if meta.get("approvalId") else self._item(record, ItemKind.RETRY, text)
        if meta.get("needsApproval"):
            return self._item(record, ItemKind.REQUEST, text)
        if meta.get("approvalId") and "approved" in meta:
            return self._item(record, ItemKind.SETTLED, text)
        return self._item(record, ItemKind.WAIT, spoken(wait_words(text, meta)))

    def _told(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem | None:
        error = record["tag"] == Tag.ERROR
        if not meta.get("type") and "command" in meta and (not error or _measured(meta)):
            return self._check(record, meta, text)
        if error:
            return self._saying(record, ItemKind.ERROR, text)
        return (
            self._of_an_agent(record, meta, text)
            if meta.get("type")
            else self._item(record, _own(meta), text)
        )

    def _check(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem:
        item = self._checks.pop(meta["command"], None) or self._item(record, ItemKind.CHECK, text)
        item.text = text
        if not _measured(meta):
            item.whole = False
            self._checks[meta["command"]] = item
            return item
        item.failed, item.result = record["tag"] == Tag.ERROR, clean(str(meta.get("output") or ""))
        return _over(item, record, meta)

    def _of_an_agent(self, record: RecordJson, meta: EventMeta, text: str) -> ConversationItem | None:
        if meta["type"] == EventType.RESULT:
            return self._saying(record, ItemKind.RESULT, text)
        if "plan" in meta:
            return self._item(record, ItemKind.PLAN, text)
        echo = meta.get("role") == "user"  # the reply, as the agent has heard it
        return None if echo else self._item(record, ItemKind.REMARK, text)


def plan_of(meta: EventMeta) -> tuple[tuple[str, bool], ...]:
    """The steps of an agent's list, and whether each is done."""
    left = {clean(step) for step in meta.get("tasksRemaining", ())}
    return tuple((clean(step), clean(step) not in left) for step in meta.get("plan", ()))


def call_of(meta: EventMeta) -> str:
    """What a tool's result has in common with its call: of one agent's run, as two may number theirs alike."""
    return f"{meta.get('dispatchId', '')}:{meta.get('toolId') or meta.get('tool', '')}"


def wait_words(text: str, meta: EventMeta) -> str:
    """Of a wait whose end is known: until when, and why; the seconds are not said beside it."""
    return f"waiting until {meta['until']}: {text.partition('; waiting ')[0]}" if meta.get("until") else text


def _measured(meta: EventMeta) -> bool:
    """Whether a command has ended; one that took too long has no exit status."""
    return "exitCode" in meta or "durationMs" in meta


def _over(item: ConversationItem, record: RecordJson, meta: EventMeta) -> ConversationItem:
    item.ended, item.whole = meta.get("at", record["ts"]), True
    item.meta = {**item.meta, **meta}
    return item


def _handoff(meta: EventMeta, text: str) -> tuple[ItemKind, str]:
    if "hfs" in meta:
        return ItemKind.SCORE, text
    if "to" not in meta:
        return ItemKind.NOTE, text
    if meta.get("from") == State.RUNNING:
        reason = spoken(clean(str(meta.get("reason", ""))))
        return ItemKind.GIVEN, f"handing the work over{f': {reason}' if reason else ''}"
    if meta["to"] == State.RUNNING:
        return ItemKind.TAKEN, f"{agent_of(meta) or 'the next agent'} goes on with the work"
    return ItemKind.MOVED, text


def _own(meta: EventMeta) -> ItemKind:
    if meta.get("ended"):
        return ItemKind.END
    if "taskId" in meta:
        return ItemKind.START
    if meta.get("leftOut"):
        return ItemKind.LEFT_OUT
    return ItemKind.PLAN if "plan" in meta else ItemKind.NOTE
