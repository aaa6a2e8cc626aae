"""What the app-server asks of us while a turn runs: permissions and questions.

Owns: the requests that wait for a person, and the form of each method's answer.
Must not: decide policy; the stream says whether a person is asked at all.

With `approvalPolicy: "never"` no permission is asked for. One that comes all the same is declined at once: an
agent that waits for an answer nobody gives would look alive for ever.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

import attrs

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.base import Step, Write
from hub.providers.codex.items import TOOLS, unwrap
from hub.providers.given import given, question_lines, shown
from hub.providers.rpc import Peer, RpcRequest

_COMMAND_CAP = 65_536
QUESTION = "item/tool/requestUserInput"
_Answer = Callable[[bool], Mapping[str, object]]

_ANSWERS: Mapping[str, _Answer] = {
    "item/commandExecution/requestApproval": lambda yes: {"decision": "accept" if yes else "decline"},
    "item/fileChange/requestApproval": lambda yes: {"decision": "accept" if yes else "decline"},
    "execCommandApproval": lambda yes: {"decision": "approved" if yes else "denied"},
    "applyPatchApproval": lambda yes: {"decision": "approved" if yes else "denied"},
}
"""The requests a person can allow."""

_DECLINED: Mapping[str, Mapping[str, object]] = {
    "mcpServer/elicitation/request": {"action": "decline"},
    "item/permissions/requestApproval": {"permissions": {}},
    "item/tool/call": {"contentItems": [], "success": False},
}
"""The requests that are always declined, in their own form."""

_ELICITED = "mcpServer/elicitation/request"
_CALL = "mcp_tool_call"


@attrs.define
class CodexRequests:
    """The open requests of one run. `people` tells whether permissions are asked of a person.

    `paths` gives the files of a file change by its item's id: a request names the item only.
    """

    peer: Peer
    people: bool
    paths: Callable[[str], Sequence[str]]
    _open: dict[str, RpcRequest] = attrs.field(factory=dict)

    def ask(self, asked: RpcRequest) -> Step:
        """A request came: it waits for a person, or it is answered here."""
        if asked.method == QUESTION:
            self._open[asked.key] = asked
            return Step([_question(asked)])
        if asked.method in _ANSWERS and self.people:
            self._open[asked.key] = asked
            return Step([_permission(asked, self.paths)])
        if asked.method == _ELICITED and self.people and _meta(asked).get("codex_approval_kind") == _CALL:
            self._open[asked.key] = asked
            return Step([_tool_call(asked)])
        event = Event(EventType.SYSTEM, f"Declined {asked.method}", {"declined": asked.method})
        return Step([event], [self._decline(asked)])

    def answer(self, approval_id: str, *, approved: bool) -> Write | None:
        """The write that allows or declines; None when nothing of that id waits."""
        asked = self._open.get(approval_id)
        if asked is None or asked.method == QUESTION:
            return None
        del self._open[approval_id]
        if asked.method == _ELICITED:
            accepted = {"action": "accept", "content": {}}
            return self.peer.answer(asked, accepted if approved else _DECLINED[_ELICITED])
        return self.peer.answer(asked, _ANSWERS[asked.method](approved))

    def answer_question(self, text: str, key: str) -> Write | None:
        """The write that answers the oldest open question; None when there is none."""
        asked = next((asked for asked in self._open.values() if asked.method == QUESTION), None)
        if asked is None:
            return None
        del self._open[asked.key]
        ids = [jsonline.text(question.get("id")) for question in _questions(asked)]
        write = self.peer.answer(asked, {"answers": {name: {"answers": [text]} for name in ids}})
        return attrs.evolve(write, key=key)

    def settle(self, params: Mapping[str, object]) -> None:
        """The app-server says that a request is resolved: nobody needs to answer it."""
        number = params.get("requestId")
        self._open.pop(str(number) if isinstance(number, int) else f"s:{jsonline.text(number)}", None)

    def _decline(self, asked: RpcRequest) -> Write:
        if asked.method in _ANSWERS:
            return self.peer.answer(asked, _ANSWERS[asked.method](False))
        if asked.method in _DECLINED:
            return self.peer.answer(asked, _DECLINED[asked.method])
        return self.peer.refuse(asked)


def _meta(asked: RpcRequest) -> Mapping[str, object]:
    return jsonline.mapping(asked.params.get("_meta"))


def _tool_call(asked: RpcRequest) -> Event:
    """A tool of an MCP server is to be called; the form it comes in is empty."""
    meta = _meta(asked)
    told = jsonline.mapping(meta.get("tool_params"))
    tool = f"{jsonline.text(asked.params.get('serverName'))}.{jsonline.text(meta.get('tool_name'))}"
    about: EventMeta = {"approvalId": asked.key, "tool": tool, **shown(dict(told))}
    said = jsonline.cap(f"Asks for permission for a tool: {tool}", 4_096)
    return Event(EventType.WAITING, said, {**about, **given(f"mcp {tool}", told)})


def _questions(asked: RpcRequest) -> list[Mapping[str, object]]:
    return [jsonline.mapping(question) for question in jsonline.items(asked.params.get("questions"))]


def _question(asked: RpcRequest) -> Event:
    said = jsonline.cap(question_lines(_questions(asked)), 4_096) or "The agent asks something"
    return Event(EventType.WAITING, said, {"needsInput": True})


def _permission(asked: RpcRequest, paths: Callable[[str], Sequence[str]]) -> Event:
    params = asked.params
    said = (
        _command(params.get("command"))
        or jsonline.text(params.get("reason"))
        or jsonline.text(params.get("grantRoot"))
    )
    meta: EventMeta = {"approvalId": asked.key}
    item = jsonline.text(params.get("itemId"))
    if item:
        meta["toolId"] = item
    if asked.method in ("item/commandExecution/requestApproval", "execCommandApproval"):
        what = "a command"
        meta |= {"tool": TOOLS["command_execution"], "command": jsonline.cap(said, _COMMAND_CAP)}
        if len(said) > _COMMAND_CAP:
            meta["cut"] = True
        if folder := jsonline.text(params.get("cwd")):
            meta["cwd"] = folder
    else:
        what = "a file change"
        meta["tool"] = TOOLS["file_change"]
        # The older request carries its changes, by path; the newer one names an item that was told as started.
        if touched := [*jsonline.mapping(params.get("fileChanges"))] or list(paths(item)):
            meta |= {"path": touched[0], "paths": touched}
            said = said or ", ".join(touched)
    words = f"Asks for permission for {what}: {said}".rstrip(": ")
    return Event(EventType.WAITING, jsonline.cap(words, 4_096), meta)


def _command(told: object) -> str:
    """The command as the model wrote it, without the shell around it: rules are written for that."""
    return unwrap(jsonline.text(told) or shlex.join(jsonline.texts(told)))
