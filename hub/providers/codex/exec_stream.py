"""`codex exec --json`: the plain way, for a Codex whose app-server cannot be used.

Owns: the fold over its lines.
Must not: be the default: it takes no replies, has no interrupt and reports no quota.

Traps: an `error` line is not fatal, only `turn.failed` is; the reset is a wall clock in the limit's text;
after SIGINT nothing more is written; the usage is the sum over the thread, earlier runs included; a prompt
of "-" is read from standard input, so neither it nor the contract is an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure
from hub.providers import jsonline
from hub.providers.base import Assignment, Ending, Exit, Outcome, Step, Write
from hub.providers.codex import failures
from hub.providers.codex.items import TEXT_CAP, ItemBook
from hub.providers.codex.windows import usage_event

_RETRY = ("reconnecting", "retrying")
_Handler = Callable[[Mapping[str, Any], float], Step]


class ExecStream:
    """The fold over one dispatch of `codex exec --json`."""

    def __init__(self, assignment: Assignment) -> None:
        self._model = assignment.model
        self._items = ItemBook()
        self._thread = ""
        self._alive = False
        self._last_text = ""
        self._failure: Failure | None = None
        self._outcome: Outcome | None = None
        self._unknown_lines = 0
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
    def native_session(self) -> str:
        """The thread's id, from the first line on."""
        return self._thread

    @property
    def tools_in_flight(self) -> int:
        """Items that run."""
        return self._items.in_flight

    @property
    def alive(self) -> bool:
        """True once a turn has started."""
        return self._alive

    @property
    def unknown_lines(self) -> int:
        """Lines of no known form."""
        return self._unknown_lines

    def open(self) -> Step:
        """Nothing: the prompt is a file on standard input."""
        return Step()

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output."""
        if not line.strip():
            return Step()
        message = jsonline.read(line)
        handler = self._handlers.get(jsonline.text(message.get("type"))) if message is not None else None
        if message is None or handler is None:
            self._unknown_lines += 1
            return Step([jsonline.unknown(line)])
        return handler(message, now)

    def feed_stderr(self, line: bytes, now: float) -> Step:  # noqa: ARG002 - the contract's signature
        """Standard error holds only its log; `finish` sees the tail."""
        return Step()

    def reply(self, text: str, key: str) -> Sequence[Write]:  # noqa: ARG002 - the contract's signature
        """Takes none."""
        return ()

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:  # noqa: FBT001, ARG002 - the contract's
        """Asks for none."""
        return ()

    def interrupt(self) -> Sequence[Write]:
        """Has none: signals are used."""
        return ()

    def finish(self, end: Exit, now: float) -> Step:
        """The process has ended: the outcome."""
        self._items.clear()
        if self._outcome is not None:
            return Step(outcome=self._outcome)
        if end.asked:
            self._outcome = Outcome(Ending.INTERRUPTED, text=self._last_text)
            return Step(outcome=self._outcome)
        events: list[Event] = []
        if self._failure is None:
            how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.code}"
            self._failure = failures.from_exit(
                end.stderr_tail, now, f"Codex ended in the middle of its turn ({how})"
            )
            events.append(failures.event(self._failure))
        self._outcome = Outcome(Ending.FAILED, self._failure, self._failure.text)
        return Step(events, outcome=self._outcome)

    def _thread_started(self, line: Mapping[str, Any], _: float) -> Step:
        self._thread = jsonline.text(line.get("thread_id"))
        meta = {"nativeSession": self._thread, "model": self._model}
        return Step([Event(EventType.SYSTEM, f"Codex started {self._model}".strip(), meta)])

    def _turn_started(self, _: Mapping[str, Any], __: float) -> Step:
        self._alive = True
        return Step()

    def _item_updated(self, line: Mapping[str, Any], _: float) -> Step:
        item = jsonline.mapping(line.get("item"))
        # Only a todo list tells something in between; of all others the completion is enough.
        return Step(self._items.completed(item) if item.get("type") == "todo_list" else ())

    def _item_completed(self, line: Mapping[str, Any], _: float) -> Step:
        events = self._items.completed(jsonline.mapping(line.get("item")))
        for event in events:
            if event.type is EventType.TEXT:
                self._last_text = event.content
        return Step(events)

    def _error(self, line: Mapping[str, Any], now: float) -> Step:
        said = jsonline.cap(jsonline.text(line.get("message")), TEXT_CAP)
        if said.lower().startswith(_RETRY):
            kind = failures.class_of(said)
            return Step([Event(EventType.RETRY, said, {"failure": kind.value} if kind else {})])
        self._failure = failures.classify(said or "unknown error", now)
        return Step([failures.event(self._failure)])

    def _turn_completed(self, line: Mapping[str, Any], _: float) -> Step:
        usage = usage_event(jsonline.mapping(line.get("usage")), cumulative=True, model=self._model)
        result = Event(EventType.RESULT, self._last_text, {"isError": False})
        self._items.clear()
        return self._end([usage, result] if usage else [result], Outcome(Ending.DONE, text=self._last_text))

    def _turn_failed(self, line: Mapping[str, Any], now: float) -> Step:
        told = jsonline.text(jsonline.mapping(line.get("error")).get("message"))
        said = jsonline.cap(told, TEXT_CAP) or "The turn failed"
        failure = failures.classify(said, now)
        repeated = self._failure is not None and self._failure.text == said
        self._failure = failure
        self._items.clear()
        events = [] if repeated else [failures.event(failure)]
        return self._end(events, Outcome(Ending.FAILED, failure, said))

    def _end(self, events: Sequence[Event], outcome: Outcome) -> Step:
        if self._outcome is not None:
            return Step(events)
        self._outcome = outcome
        return Step(events, outcome=outcome)
