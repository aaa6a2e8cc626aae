"""`codex exec --json`: the plain way, for a Codex whose app-server cannot be used.

Owns: the fold over its lines.
Must not: be the default: it takes no replies, has no interrupt and reports no quota.

Traps: an `error` line is not fatal, only `turn.failed` is; the reset is a wall clock in the limit's text;
after SIGINT nothing more is written; the usage is the sum over the thread, earlier runs included; a prompt
of "-" is read from standard input, so neither it nor the contract is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure
from hub.providers import jsonline
from hub.providers.base import Assignment, Ending, Outcome, ProcessExit, Step, Stream, how_it_ended
from hub.providers.codex import failures
from hub.providers.codex.items import TEXT_CAP, ItemBook
from hub.providers.codex.windows import usage_event

_RETRY = ("reconnecting", "retrying")
_Handler = Callable[[Mapping[str, Any], float], Step]


class ExecStream(Stream):
    """The fold over one dispatch of `codex exec --json`."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__()
        self._model = assignment.model
        self._items = ItemBook()
        self._handlers: dict[str, _Handler] = {
            "thread.started": self._thread_started,
            "turn.started": self._turn_started,
            "turn.completed": self._turn_completed,
            "turn.failed": self._turn_failed,
            "item.started": lambda line, _: Step(self._items.started(jsonline.mapping(line.get("item")))),
            "item.updated": self._item_updated,
            "item.completed": self._item_completed,
            "error": self._error,
        }

    @property
    def tools_in_flight(self) -> int:
        """Items that run."""
        return self._items.in_flight

    def _line(self, line: bytes, now: float) -> Step:
        message = jsonline.read(line)
        handler = self._handlers.get(jsonline.text(message.get("type"))) if message is not None else None
        return self._unknown(line) if message is None or handler is None else handler(message, now)

    def _left_over(self) -> list[Event]:
        self._items.clear()
        return []

    def _why(self, end: ProcessExit, now: float) -> Failure:
        how = f"Codex ended in the middle of its turn ({how_it_ended(end)})"
        return self._failure or failures.from_exit(end.stderr_tail, now, how)

    def _thread_started(self, line: Mapping[str, object], _: float) -> Step:
        self._session = jsonline.text(line.get("thread_id"))
        meta = {"nativeSession": self._session, "model": self._model}
        return Step([Event(EventType.SYSTEM, f"Codex started {self._model}".strip(), meta)])

    def _turn_started(self, _: Mapping[str, object], __: float) -> Step:
        self._alive = True
        return Step()

    def _item_updated(self, line: Mapping[str, object], _: float) -> Step:
        item = jsonline.mapping(line.get("item"))
        # Only a todo list tells something in between; of all others the completion is enough.
        return Step(self._items.completed(item) if item.get("type") == "todo_list" else ())

    def _item_completed(self, line: Mapping[str, object], _: float) -> Step:
        events = self._items.completed(jsonline.mapping(line.get("item")))
        for event in events:
            if event.type is EventType.TEXT:
                self._last_text = event.content
        return Step(events)

    def _error(self, line: Mapping[str, object], now: float) -> Step:
        said = jsonline.cap(jsonline.text(line.get("message")), TEXT_CAP)
        if said.lower().startswith(_RETRY):
            kind = failures.class_of(said)
            return Step([Event(EventType.RETRY, said, {"failure": kind.value} if kind else {})])
        return Step(self._tell(failures.classify(said or "unknown error", now)))

    def _turn_completed(self, line: Mapping[str, object], _: float) -> Step:
        usage = usage_event(jsonline.mapping(line.get("usage")), cumulative=True, model=self._model)
        result = Event(EventType.RESULT, self._last_text, {"isError": False})
        self._items.clear()
        return self._end([usage, result] if usage else [result], Outcome(Ending.DONE, text=self._last_text))

    def _turn_failed(self, line: Mapping[str, object], now: float) -> Step:
        told = jsonline.text(jsonline.mapping(line.get("error")).get("message"))
        said = jsonline.cap(told, TEXT_CAP) or "The turn failed"
        self._items.clear()
        return self._fail([], failures.classify(said, now))
