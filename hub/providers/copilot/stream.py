"""GitHub Copilot CLI over ACP: what it does in its own way.

Owns: Copilot's side of the fold in `hub.providers.acp.stream`.
Must not: repeat the protocol, or classify failures (`failures.py`).

Traps this fold knows, each with a test:
 1. Whatever goes wrong, the turn ends as `end_turn`, as if it had succeeded. The error is a text in the model's place
    ("Error: 401 ..."), whole in one chunk, while a model's own text comes in pieces; retries are told the same way
    ("Info: Request failed ... Retrying...").
 2. A rate limit is retried five times in silence, some 54 s, before it is told.
 3. An answer that safeguards blocked is a turn without a word.
 4. The title of a command is its description; the command is in the raw input, its exit code in the raw output.
 5. Its list of tasks is no plan of the protocol but a table, which it changes by SQL (`todos.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import attrs

from hub.domain.detection.intel_fold import DONE
from hub.domain.event import Event, EventType
from hub.domain.failure import Failure
from hub.providers import jsonline
from hub.providers.acp.failures import classify
from hub.providers.acp.setup import approval_mode
from hub.providers.acp.stream import AcpStream
from hub.providers.acp.tools import ENDED
from hub.providers.base import Assignment, Step, plan_event
from hub.providers.copilot import failures
from hub.providers.copilot.todos import Todos

ALLOW_ALL = "allow-all"
_RETRY = re.compile(r"\bRetrying\b", re.IGNORECASE)
_ASIDE = re.compile(r"(Error|Info|Warning): (.+)", re.DOTALL)


class CopilotStream(AcpStream):
    """The fold over one dispatch of `copilot --acp`."""

    wording = failures.WORDING

    def __init__(self, assignment: Assignment) -> None:
        super().__init__(
            assignment, title="Copilot", people=approval_mode(assignment, ALLOW_ALL, "ask") != ALLOW_ALL
        )
        self._error: Failure | None = None
        self._attempts = 0
        self._todos = Todos()

    def _aside(self, piece: str) -> list[Event] | None:
        found = _ASIDE.fullmatch(piece)
        if found is None:
            if piece.strip():
                self._error = None
            return None
        if found[1] == "Error":
            self._error = classify(found[2], 0, self._now, wording=self.wording)
            return [*self._flush(), *self._tell(self._error)]
        if _RETRY.search(found[2]):
            self._attempts += 1
            return [Event(EventType.RETRY, jsonline.cap(found[2], 1024), {"attempt": self._attempts})]
        return [Event(EventType.SYSTEM, jsonline.cap(piece, 4096))]

    def _tool(self, update: Mapping[str, object]) -> Step:
        self._error = None
        step, call = super()._tool(update), jsonline.text(update.get("toolCallId"))
        if query := jsonline.text(jsonline.mapping(update.get("rawInput")).get("query")):
            self._todos.asked(call, query)
        status = jsonline.text(update.get("status"))
        steps = self._todos.ended(call, failed=status == "failed") if status in ENDED else None
        if steps is None:
            return step
        event = plan_event([{"content": title, "status": state} for title, state in steps], done=DONE)
        return attrs.evolve(step, events=[*step.events, *([event] if event else [])])

    def _wrong(self, stop: str) -> Failure | None:
        return self._error or super()._wrong(stop)
