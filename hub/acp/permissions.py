"""A request for permission: what the editor's user is asked, and what the answer means.

Owns: the form of the question, with everything that is known of what is asked, and its answers.
Must not: decide, or remember an answer.
"""

from __future__ import annotations

from pathlib import PurePath

from hub.acp.prompts import fenced
from hub.acp.telling import content, kind_of
from hub.api.approvals import Approval
from hub.domain.approval import CUT, Action
from hub.domain.text.change import change
from hub.domain.text.safe import clean
from hub.wire.frames import JsonObject

ONCE, ALWAYS, REJECT = "allow_once", "allow_always", "reject_once"
_OPTIONS = (
    {ONCE: "Allow", REJECT: "Reject"},
    {ONCE: "Allow", ALWAYS: "Allow this for the whole session", REJECT: "Reject"},
)


def question(approval: Approval, tree: PurePath) -> JsonObject:
    """The parameters of `session/request_permission`, but for the session.

    Args:
        approval: What is asked.
        tree: Where the agent works.
    """
    context = approval.context
    given = {name: context[name] for name in ("command", "path", "paths", "input") if context.get(name)}
    call: JsonObject = {
        "toolCallId": approval.id,
        "title": " ".join(clean(approval.action).split()),
        "kind": kind_of(approval.tool, context) if approval.kind is Action.TOOL else "other",
        "status": "pending",
        "content": [content(_words(approval, context))],
        "rawInput": given,
    }
    paths = [context.get("path"), *(context.get("paths") or ())]
    if places := [{"path": str(tree / path)} for path in paths if isinstance(path, str) and path]:
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


def _words(approval: Approval, context: JsonObject) -> str:
    """Who wants to do what, and why it is asked; the command and what else the tool is given in full."""
    lines = [f"{approval.provider} asks: {clean(approval.reason)}"]
    if command := context.get("command"):
        lines.append(fenced(clean(str(command))))
    if given := "\n".join(change(context.get("input"))):
        lines.append(fenced(given))
    if context.get("cut"):
        lines.append(CUT)
    if approval.expires_at:
        lines.append(f"Without an answer until {approval.expires_at} it is a no.")
    return "\n\n".join(lines)
