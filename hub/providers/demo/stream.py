"""The demo agent's stream: its JSON lines -> events, writes and an outcome.

Owns: hub's side of the demo protocol.
Must not: know what the scripts do, or start anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure
from hub.domain.meta import EventMeta, only
from hub.providers import jsonline
from hub.providers.base import (
    Assignment,
    Ending,
    Outcome,
    ProcessExit,
    Step,
    Stream,
    Write,
    crash,
    how_it_ended,
)
from hub.providers.demo import failures

_Handler = Callable[[Mapping[str, object]], Step]


class DemoStream(Stream):
    """The fold over one dispatch of a demo agent."""

    def __init__(self, assignment: Assignment) -> None:
        self._calls: dict[str, EventMeta] = {}
        super().__init__(self._calls)
        self._name = assignment.dispatch_id
        self._model = ""
        self._approvals: set[str] = set()
        self._handlers: dict[str, _Handler] = {
            "start": self._start,
            "text": lambda message: _said(EventType.TEXT, message),
            "thinking": lambda message: _said(EventType.THINKING, message),
            "heard": lambda message: _said(EventType.SYSTEM, message, {"role": "user"}),
            "plan": self._plan,
            "tool": self._tool,
            "tool_result": self._tool_result,
            "usage": self._usage,
            "quota": self._quota,
            "ask": self._ask,
            "approve": self._approve,
            "answered": self._answered,
            "done": self._done,
            "interrupted": lambda _: self._end(self._left_over(), Outcome(Ending.INTERRUPTED)),
        }

    def _line(self, line: bytes, now: float) -> Step:
        message = jsonline.read(line)
        kind = jsonline.text(message.get("type")) if message is not None else ""
        if message is not None and kind in failures.KINDS:
            return self._fail(self._left_over(), failures.read(kind, message))
        if message is None or kind not in self._handlers:
            return self._unknown(line)
        return self._handlers[kind](message)

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """The user's words: the answer to an open question, else a remark."""
        return () if self._outcome is not None else [_write(key, type="reply", text=text)]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Answers an approval that waits; () when none of that id does."""
        if approval_id not in self._approvals:
            return ()
        return [_write(f"answer-{approval_id}", type="answer", id=approval_id, approved=approved, note=note)]

    def interrupt(self) -> Sequence[Write]:
        """Ends the run at once; the step in hand is not completed."""
        return () if self._outcome is not None else [_write("interrupt", type="interrupt")]

    def _left_over(self) -> list[Event]:
        self._calls.clear()
        return []

    def _why(self, end: ProcessExit, now: float) -> Failure:
        how = f"The demo agent ended without a last line ({how_it_ended(end)})"
        return crash(how, end.stderr_tail.strip())

    def _start(self, message: Mapping[str, object]) -> Step:
        self.native_session = jsonline.text(message.get("session"))
        self.alive = True
        self._model = jsonline.text(message.get("model"))
        resumed = message.get("resumed") is True
        said = "The demo agent goes on" if resumed else "The demo agent starts"
        meta: EventMeta = {
            "nativeSession": self.native_session,
            "model": self._model,
            "resumed": resumed,
        }
        return Step([Event(EventType.SYSTEM, said, meta)])

    def _plan(self, message: Mapping[str, object]) -> Step:
        plan = jsonline.texts(message.get("plan"))
        left = jsonline.texts(message.get("tasksRemaining"))
        said = f"Plan: {len(left)} of {len(plan)} left"
        return Step([Event(EventType.SYSTEM, said, {"plan": plan, "tasksRemaining": left})])

    def _tool(self, message: Mapping[str, object]) -> Step:
        call = jsonline.text(message.get("id"))
        meta: EventMeta = {"tool": jsonline.text(message.get("tool")), "toolId": call, **_subject(message)}
        meta = self._calls[call] = only(meta, meta)
        said = f"{meta.get('tool', '')} {meta.get('path') or meta.get('command', '')}"
        if "text" in message:
            meta = {**meta, "input": {"text": jsonline.excerpt(message.get("text"))}}
        return Step([Event(EventType.TOOL_USE, said, meta)])

    def _tool_result(self, message: Mapping[str, object]) -> Step:
        call = jsonline.text(message.get("id"))
        meta: EventMeta = {**self._calls.pop(call, {"toolId": call}), "isError": message.get("error") is True}
        if (code := jsonline.integer(message.get("exitCode"))) is not None:
            meta["exitCode"] = code
        return Step([Event(EventType.TOOL_RESULT, jsonline.text(message.get("text")), meta)])

    def _usage(self, message: Mapping[str, object]) -> Step:
        meta: EventMeta = {
            "tokensIn": jsonline.count(message.get("tokensIn")),
            "tokensOut": jsonline.count(message.get("tokensOut")),
            "cachedIn": jsonline.count(message.get("cachedIn")),
            "model": self._model,
            "costUsdMicros": 0,
        }
        return Step([Event(EventType.USAGE, f"{meta['tokensIn']} tokens in, {meta['tokensOut']} out", meta)])

    def _quota(self, message: Mapping[str, object]) -> Step:
        used = max(0, round((jsonline.number(message.get("used")) or 0.0) * 1000))
        meta: EventMeta = {"used": used, "window": failures.WINDOW}
        if (resets_at := jsonline.instant(message.get("resetsAt"))) is not None:
            meta["resetsAt"] = int(resets_at)
        return Step([Event(EventType.QUOTA, f"{used / 10:g} % used", meta)])

    def _ask(self, message: Mapping[str, object]) -> Step:
        question = jsonline.text(message.get("question"))
        return Step([Event(EventType.WAITING, question, {"needsInput": True})])

    def _approve(self, message: Mapping[str, object]) -> Step:
        approval = jsonline.text(message.get("id"))
        self._approvals.add(approval)
        action = jsonline.text(message.get("action"))
        tool = jsonline.text(message.get("tool")) or "approve"
        meta: EventMeta = {"approvalId": approval, "tool": tool}
        meta |= _subject(message) or {"command": action}
        return Step([Event(EventType.WAITING, action, meta)])

    def _answered(self, message: Mapping[str, object]) -> Step:
        approval = jsonline.text(message.get("id"))
        self._approvals.discard(approval)
        approved = message.get("approved") is True
        note = jsonline.text(message.get("text"))
        said = ("Approved" if approved else "Denied") + (f": {note}" if note else "")
        return Step([Event(EventType.SYSTEM, said, {"approvalId": approval, "approved": approved})])

    def _done(self, message: Mapping[str, object]) -> Step:
        self._last_text = jsonline.text(message.get("text"))
        return self._completed(self._left_over())


def _subject(message: Mapping[str, object]) -> EventMeta:
    path, command = jsonline.text(message.get("path")), jsonline.text(message.get("command"))
    return only({"path": path, "command": command}, ("path", "command"))


def _said(kind: EventType, message: Mapping[str, object], meta: EventMeta | None = None) -> Step:
    return Step([Event(kind, jsonline.text(message.get("text")), meta or {})])


def _write(key: str, **members: object) -> Write:
    return Write(key, json.dumps(members).encode() + b"\n")
