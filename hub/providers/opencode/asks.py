"""What OpenCode asks: permissions and questions.

Owns: the requests that wait, and which write answers each.
Must not: decide anything but what the settings decided: where everything is allowed, a request is allowed too.
Tests: tests/hub/providers/opencode/test_opencode_stream.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hub.domain.event import Event, EventType
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.base import Assignment, Step, Write
from hub.providers.given import given, question_lines, shown
from hub.providers.opencode import rest

ALLOW = "allow"
_ANY = "*"
"""The pattern of a permission that has no other, as that of a tool of the user's own."""
_FILES = frozenset({"read", "edit", "write", "list", "external_directory"})
"""Permissions whose patterns are files; a search's patterns are what it looks for."""
_SUBJECT_CAP = 65_536


ASK = "ask"
_EVERYTHING = ("*", "*")
_NO_TOOL = frozenset({"external_directory", "doom_loop"})
"""Permissions that stand beside that of a tool, which is asked for anyway."""


def permission(assignment: Assignment) -> object:
    """The `permission` setting: the user's own, by default `allow`; `ask` where rules wait for requests."""
    return ASK if assignment.asks else assignment.options.get("permission") or ALLOW


def rules(agents: object) -> list[Mapping[str, str]]:
    """The rules of a session in which every tool asks, whatever the settings allow.

    A subagent has a session of its own, which takes over no `ask` of its parent's. So only those may be started whose
    own rules ask for everything; `agents` is the program's list of all, with the rules that its settings come to.
    """
    known = [jsonline.mapping(agent) for agent in jsonline.items(agents)]
    asking = [jsonline.text(agent.get("name")) for agent in known if _asks_for_all(agent.get("permission"))]
    return [
        {"permission": "*", "pattern": "*", "action": ASK},
        {"permission": "task", "pattern": "*", "action": "deny"},
        *({"permission": "task", "pattern": name, "action": ASK} for name in asking if name),
    ]


def _asks_for_all(ruleset: object) -> bool:
    """Whether nothing is allowed behind the last rule that asks for everything; the last that matches decides."""
    asks = False
    for rule in map(jsonline.mapping, jsonline.items(ruleset)):
        name, action = jsonline.text(rule.get("permission")), rule.get("action")
        if (name, rule.get("pattern")) == _EVERYTHING:
            asks = action == ASK
        elif action not in (ASK, "deny") and name not in _NO_TOOL:
            asks = False
    return asks


class OpenCodeRequests:
    """The open requests, oldest first. `inputs` gives what a call is given: a request tells only a part of it."""

    def __init__(self, *, people: bool, inputs: Callable[[str], Mapping[str, object]]) -> None:
        self._people = people
        self._inputs = inputs
        self._permissions: set[str] = set()
        self._early: dict[str, Mapping[str, object]] = {}
        """Call -> its request, which came before its input."""
        self._questions: dict[str, int] = {}

    def permission(self, asked: Mapping[str, object]) -> Step:
        """A tool waits for permission. One that tells nothing of its input waits here until its call does."""
        call = jsonline.text(jsonline.mapping(asked.get("tool")).get("callID"))
        if self._people and call and not asked.get("metadata") and not self._inputs(call):
            self._early[call] = asked
            return Step()
        return self._tell(asked, call)

    def begun(self, call: str) -> Step:
        """A call runs, and its input is known: what it asked before is told now."""
        asked = self._early.pop(call, None)
        return Step() if asked is None else self._tell(asked, call)

    def _tell(self, asked: Mapping[str, object], call: str) -> Step:
        name = jsonline.text(asked.get("id"))
        what = jsonline.text(asked.get("permission"))
        patterns = " ".join(jsonline.texts(asked.get("patterns")))
        said = jsonline.cap(f"{what} {patterns}".strip(), 2_000)
        if not self._people:
            event = Event(EventType.SYSTEM, f"Allowed by policy: {said}", {"allowed": True})
            return Step([event], [rest.permission(name, approved=True, note="")])
        self._permissions.add(name)
        meta: EventMeta = {"approvalId": name, "tool": what, "toolId": call}
        told = {**jsonline.mapping(asked.get("metadata")), **self._inputs(call)}
        if what == "bash":
            meta["command"] = jsonline.cap(jsonline.text(told.get("command")) or patterns, _SUBJECT_CAP)
        elif what in _FILES and patterns:
            meta["path"] = jsonline.cap(patterns, _SUBJECT_CAP)
        own = what not in _FILES and not asked.get("metadata")
        about = given(f"mcp {what}" if own else what, told)
        if named := [text for text in jsonline.texts(asked.get("patterns")) if text != _ANY]:
            if what in _FILES:
                about["paths"] = list(dict.fromkeys([*named, *about.get("paths", ())]))
            else:
                about["texts"] = list(dict.fromkeys([*named, *about.get("texts", ())]))
        meta |= about
        meta |= shown(told)
        return Step([Event(EventType.WAITING, f"Asks for permission: {said}", meta)])

    def question(self, asked: Mapping[str, object]) -> Step:
        """The model asks the user."""
        name = jsonline.text(asked.get("id"))
        questions = [jsonline.mapping(item) for item in jsonline.items(asked.get("questions"))]
        self._questions[name] = len(questions)
        meta: EventMeta = {"approvalId": name, "tool": "question", "needsInput": True}
        return Step([Event(EventType.WAITING, jsonline.cap(question_lines(questions), 8_000), meta)])

    def settled(self, told: Mapping[str, object]) -> None:
        """A request has its answer, whoever gave it."""
        name = jsonline.text(told.get("requestID"))
        self._permissions.discard(name)
        self._questions.pop(name, None)

    def answer(self, name: str, *, approved: bool, note: str) -> list[Write]:
        """The answer to a request; empty when none of that id waits. A question is answered with the note."""
        if name in self._permissions:
            self._permissions.discard(name)
            return [rest.permission(name, approved=approved, note=note)]
        if name in self._questions:
            count = self._questions.pop(name)
            return [rest.answers(f"answer-{name}", name, count, note) if approved else rest.reject(name)]
        return []

    def reply(self, text: str, key: str) -> list[Write]:
        """A user's words as the answer to the oldest open question; empty when no question is open."""
        name = next(iter(self._questions), None)
        return [] if name is None else [rest.answers(key, name, self._questions.pop(name), text)]
