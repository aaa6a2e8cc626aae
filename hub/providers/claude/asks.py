"""What Claude Code asks of hub over its control protocol: permissions and questions.

Owns: the requests that wait, and the form of their answers.
Must not: decide anything.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta, only
from hub.providers import jsonline
from hub.providers.claude.inbox import line
from hub.providers.claude.tools import PATHS, PLANNING
from hub.providers.given import given, shown

QUESTION_TOOL = "AskUserQuestion"
HOOK = "every-tool"
_PATIENCE = 10_000_000
"""Seconds the program waits for the hook's answer: a daemon may be away, and an unanswered hook would be passed over."""
_COMMAND_CAP = 65_536


@attrs.frozen
class _Ask:
    request_id: str
    call: str
    tool: str
    given: Mapping[str, object]

    @property
    def questions(self) -> list[str]:
        asked = (jsonline.mapping(item) for item in jsonline.items(self.given.get("questions")))
        return [found for item in asked if (found := jsonline.text(item.get("question")))]


class ClaudeRequests:
    """The open requests, oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, _Ask] = {}
        self._folders: dict[str, str] = {}
        """Call -> where its shell stands: it goes on where the one before it ended."""

    def ask(self, message: Mapping[str, object]) -> Event | bytes:
        """The event of a request that waits for a person, or the answer to one hub cannot serve."""
        request = jsonline.mapping(message.get("request"))
        request_id = jsonline.text(message.get("request_id"))
        if request.get("subtype") == "hook_callback":
            about = jsonline.mapping(request.get("input"))
            self._folders[jsonline.text(about.get("tool_use_id"))] = jsonline.text(about.get("cwd"))
            return _response({"subtype": "success", "request_id": request_id, "response": _ASK})
        if request.get("subtype") != "can_use_tool":
            error = f"hub does not serve {jsonline.text(request.get('subtype')) or 'this'}"
            return _response({"subtype": "error", "request_id": request_id, "error": error})
        tool = jsonline.text(request.get("tool_name"))
        call = jsonline.text(request.get("tool_use_id"))
        ask = _Ask(request_id, call, tool, jsonline.mapping(request.get("input")))
        self._open[request_id] = ask
        meta: EventMeta = {
            "approvalId": request_id,
            "tool": tool,
            "toolId": call,
            **shown(dict(ask.given)),
        }
        if tool == QUESTION_TOOL:
            return Event(EventType.WAITING, "\n".join(ask.questions), {**meta, "needsInput": True})
        meta |= _subject(ask.given)
        about = given(tool, ask.given)
        # What a task is called names nothing that is read, run or written.
        meta |= only(about, ("named",)) if tool in PLANNING else about
        if folder := self._folders.pop(call, ""):
            meta["cwd"] = folder
        what = jsonline.text(request.get("description")) or meta.get("command") or meta.get("path", "")
        return Event(EventType.WAITING, f"{tool} {what}".strip(), meta)

    def answer(self, request_id: str, *, approved: bool, note: str) -> bytes | None:
        """The answer's line; None when nothing of that id waits. A question is answered with the note."""
        ask = self._open.pop(request_id, None)
        if ask is None:
            return None
        if not approved:
            reply: dict[str, object] = {"behavior": "deny", "message": note or "The user said no."}
        else:
            given = dict(ask.given)
            if ask.tool == QUESTION_TOOL:
                given["answers"] = dict.fromkeys(ask.questions, note)
            # The input goes back as it came: without `updatedInput` the answer does not validate.
            reply = {"behavior": "allow", "updatedInput": given}
        return _response({"subtype": "success", "request_id": request_id, "response": reply})

    def answer_question(self, text: str) -> bytes | None:
        """A user's words as the answer to the oldest open question; None when no question is open."""
        ask = next((ask for ask in self._open.values() if ask.tool == QUESTION_TOOL), None)
        return self.answer(ask.request_id, approved=True, note=text) if ask else None

    def withdraw(self, request_id: str) -> bool:
        """Forgets a request that the agent took back; whether there was one."""
        return self._open.pop(request_id, None) is not None

    def settle(self, call: str) -> None:
        """A tool call has its result: nothing about it waits any more."""
        for request_id in [ask.request_id for ask in self._open.values() if ask.call == call]:
            del self._open[request_id]


_ASK = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "hub has rules about tools",
    }
}
"""The answer to the hook: the call then comes as a request for permission, whatever mode or setting allows it."""


def initialize(request_id: str, *, every_tool: bool) -> bytes:
    """The request whose answer lists the program's commands.

    With `every_tool` it asks before every use of a tool from then on, its read-only ones and a subagent's too.
    """
    hook = {"hookCallbackIds": [HOOK], "timeout": _PATIENCE}
    request = {"subtype": "initialize", **({"hooks": {"PreToolUse": [hook]}} if every_tool else {})}
    return line({"type": "control_request", "request_id": request_id, "request": request})


def _subject(given: Mapping[str, object]) -> EventMeta:
    """The command or the file that the tool is to be used on."""
    path = next((found for name in PATHS if (found := jsonline.text(given.get(name)))), "")
    command = jsonline.cap(jsonline.text(given.get("command")), _COMMAND_CAP)
    return only({"command": command, "path": path}, ("command", "path"))


def _response(body: Mapping[str, object]) -> bytes:
    return line({"type": "control_response", "response": body})
