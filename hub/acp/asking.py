"""The questions for permission that an editor shows.

Owns: a request as the protocol's question, that each is asked once, and put away when somebody has answered it elsewhere.
Must not: decide, or remember an answer: the daemon does.
Tests: tests/hub/acp/test_conversation.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import PurePath

import attrs
import trio

from hub.acp.connection import EditorConnection
from hub.acp.daemon import ProjectDaemon
from hub.acp.prompts import fenced
from hub.acp.telling import content, kind_of, line
from hub.api.approvals import Approval, Resolution, Resolved
from hub.domain.approval import Action
from hub.domain.jsonvalue import JsonObject
from hub.domain.meta import EventMeta, only
from hub.domain.text.change import change
from hub.domain.text.safe import clean
from hub.domain.wallclock import moment
from hub.errors import HubError
from hub.wire.frames import RefusedError

ONCE, ALWAYS, REJECT = "allow_once", "allow_always", "reject_once"
_OPTIONS = (
    {ONCE: "Allow", REJECT: "Reject"},
    {ONCE: "Allow", ALWAYS: "Allow this for the whole session", REJECT: "Reject"},
)


def question(approval: Approval, call_id: str, tree: PurePath) -> JsonObject:
    """The parameters of `session/request_permission`, but for the session.

    Args:
        approval: What is asked.
        call_id: The tool call that it is about: editors show the question at that.
        tree: Where the agent works.
    """
    context = approval.context
    call: JsonObject = {
        "toolCallId": call_id,
        "title": line(clean(approval.action), tree),
        "kind": kind_of(approval.tool, context) if approval.kind is Action.TOOL else "other",
        "status": "pending",
        "content": [content(_words(approval, context))],
        "rawInput": only(context, ("command", "path", "paths", "input")),
    }
    paths = [context.get("path"), *(context.get("paths") or ())]
    if places := [{"path": str(tree / path)} for path in paths if path]:
        call["locations"] = places
    options = _OPTIONS[approval.kind is Action.TOOL]
    return {
        "toolCall": call,
        "options": [{"optionId": kind, "name": name, "kind": kind} for kind, name in options.items()],
    }


def chosen(answer: JsonObject) -> str:
    """The option that was chosen; "" = none: the question was put away, and still waits."""
    match answer.get("outcome"):
        case {"outcome": "selected", "optionId": str(option)} if option in (ONCE, ALWAYS, REJECT):
            return option
    return ""


def _words(approval: Approval, context: EventMeta) -> str:
    """Who wants to do what, and why it is asked; the command and what else the tool is given in full."""
    lines = [f"{approval.who} asks: {clean(approval.why)}" if approval.why else f"{approval.who} asks"]
    if command := context.get("command"):
        lines.append(fenced(clean(command)))
    if given := "\n".join(change(context.get("input"))):
        lines.append(fenced(given))
    lines += [approval.cut, approval.lapse(lambda at: moment(at, time.time()))]
    return "\n\n".join(filter(None, lines))


@attrs.define
class Asking:
    """Those of one conversation.

    Args:
        conversation: Its id.
        daemon: The project's.
        editor: Who is asked.
        tree_of: Where the agents of a session work.
        call_of: The tool call that a request is about.
    """

    conversation: str
    daemon: ProjectDaemon
    editor: EditorConnection
    tree_of: Callable[[str], PurePath]
    call_of: Callable[[str], str]
    _shown: dict[str, trio.CancelScope] = attrs.field(factory=dict)
    """By approval."""

    async def ask(self, number: str) -> None:
        """Ask the user; whoever answers first, here or elsewhere, has answered."""
        if number in self._shown:
            return
        with trio.CancelScope() as scope:
            self._shown[number] = scope
            try:
                await self._ask(number)
            except (HubError, RefusedError):
                return  # answered elsewhere, or the editor cannot ask: it waits, and every other face shows it
            finally:
                del self._shown[number]

    def settled(self, number: str) -> None:
        """It has its answer, or needs none any more."""
        if (scope := self._shown.get(number)) is not None:
            scope.cancel()

    def close(self) -> None:
        """Put every question away. They still wait."""
        for scope in self._shown.values():
            scope.cancel()

    async def _ask(self, number: str) -> None:
        waiting = await self.daemon.get(list[Approval], "/api/approvals")
        found = next((one for one in waiting if one.id == number), None)
        if found is None:
            return
        asked = question(found, self.call_of(number), self.tree_of(found.session_id))
        said = await self.editor.ask("session/request_permission", {"sessionId": self.conversation, **asked})
        if option := chosen(said):
            answer = Resolution(id=number, approved=option != REJECT, always=option == ALWAYS)
            await self.daemon.insist(Resolved, "/api/approvals/{id}", answer)
