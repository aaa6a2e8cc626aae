"""Gemini over ACP, the Agent Client Protocol: JSON-RPC lines, both ways.

Owns: the fold from its messages to events, writes and an outcome; when a run is over.
Must not: take tool calls apart (`tools.py`) or classify failures (`failures.py`).

The conversation: `initialize` -> `session/new` (or `session/load`) -> `session/prompt`, whose answer is the
end of the turn. The process outlives it and leaves on EOF.

Traps this fold knows, each with a test:
 1. A blocked answer is `end_turn` without a word: a turn that ends so has failed.
 2. The limit's error has no reset; standard error tells it, perhaps later. Then the outcome waits for the
    process, whose input is closed at once.
 3. `session/load` replays the history as if it happened now, before its answer and after it. A request for
    nothing (`settle-<n>`) is repeated until one comes back with no history before it: only then the prompt
    goes out, so that old work is not told as new.
 4. `session/load` in the UTC minute in which the session began destroys it: a fresh session takes over.
 5. A prompt that begins with "/" or "$" is a command of the program itself.
 6. A prompt that comes while one runs cancels it, and a turn that is cancelled while text streams leaves the
    agent's memory whole: task, contract and work. So a reply waits for the turn's end. It waits in the
    stream: hub asks for a method the program does not know, whose name holds the text, and the program's
    error echoes the name. So a daemon that starts anew finds the reply in these lines like all else.
 7. Without a login the program talks to a person on standard output and takes our JSON for an answer.
 8. Retries are told on standard error only (`retries.py`).
 9. A change of the approval mode is told as words of the model ("[MODE_UPDATE] yolo").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.providers import jsonline
from hub.providers.base import Assignment, Ending, Exit, Outcome, Step, Write
from hub.providers.gemini import failures
from hub.providers.gemini.retries import Retries
from hub.providers.gemini.tools import ToolBook, choice, content_text, describe, plan_event
from hub.providers.gemini.usage import usage_events
from hub.providers.rpc import Answered, Asked, Fault, Peer, Told

YOLO = "yolo"
_NOTHING = "_hub/nothing"
"""A request for nothing: ACP leaves names with an underscore to extensions, and the program answers at once
that it does not know it. Its answer marks a place in the stream."""
_REPLY = "_hub/reply:"
_SETTLE = "settle-"
_TURN = "turn-"
_TEXT_CAP = 65_536
_FLUSH = 8_192
"""A streamed text is told in pieces of about this length, so that a long one does not look like silence."""
_HISTORY = frozenset(
    {
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
    }
)
_QUIET = frozenset({
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "user_message_chunk",
})  # fmt: skip
_STOPS: Mapping[str, tuple[FailureClass, str]] = {
    "refusal": (FailureClass.REFUSAL, "The model refused to go on."),
    "max_tokens": (FailureClass.CONTEXT_OVERFLOW, "The task no longer fits the model's context."),
    "max_turn_requests": (FailureClass.UNKNOWN, "Gemini stopped: too many steps in one turn, or a loop."),
}
_MODE_UPDATE = re.compile(r"\[MODE_UPDATE\] \w{1,32}")
_Handler = Callable[[Mapping[str, Any]], Step]


class GeminiStream:
    """The fold over one dispatch of `gemini --acp`."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._people = approval_mode(assignment) != YOLO
        self._deltas = assignment.options.get("partial") is True
        self._peer = Peer()
        self._tools = ToolBook()
        self._permissions: dict[str, Asked] = {}
        self._session = ""
        self._model = assignment.model
        self._prompted = False
        self._history = False
        self._replies: list[str] = []
        self._turns = 0
        self._alive = False
        self._buffer = ""
        self._answer = ""
        self._last_text = ""
        self._retries = Retries()
        self._limit: Failure | None = None
        self._outcome: Outcome | None = None
        self._unknown_lines = 0
        self._updates: dict[str, _Handler] = {
            "agent_message_chunk": self._message,
            "agent_thought_chunk": self._thought,
            "tool_call": self._tool,
            "tool_call_update": self._tool,
            "plan": self._plan,
        }

    @property
    def native_session(self) -> str:
        """The session id."""
        return self._session

    @property
    def tools_in_flight(self) -> int:
        """Tool calls that run or wait for permission."""
        return self._tools.in_flight

    @property
    def alive(self) -> bool:
        """True from the first update of the prompt's turn on."""
        return self._alive

    @property
    def unknown_lines(self) -> int:
        """Lines of no known form."""
        return self._unknown_lines

    def open(self) -> Step:
        """The handshake. Files and terminals are the agent's own business, so neither is offered."""
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        client = {"name": "hub", "title": "hub", "version": "1"}
        params = {"protocolVersion": 1, "clientInfo": client, "clientCapabilities": capabilities}
        return Step(writes=[self._peer.request("init", "initialize", params)])

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output."""
        if not line.strip():
            return Step()
        match self._peer.read(line):
            case Answered() as answered:
                return self._answered(answered, now)
            case Asked() as asked:
                return self._asked(asked)
            case Told("session/update", params):
                return self._updated(jsonline.mapping(params.get("update")), line)
            case _:
                return self._unknown(line)

    def feed_stderr(self, line: bytes, now: float) -> Step:
        """One line of standard error: retries and the limit's reset are told nowhere else."""
        return Step(self._retries.feed(line, now))

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """The next prompt, once the running turn has ended."""
        if self._outcome is not None or self._limit is not None or not self._prompted:
            return ()
        return [self._peer.request(key, _REPLY + text, {})]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:  # noqa: FBT001, ARG002 - the contract's
        """Allows or denies; () when nothing of that id waits."""
        asked = self._permissions.pop(approval_id, None)
        return [] if asked is None else [self._peer.answer(asked, choice(asked.params, allow=approved))]

    def interrupt(self) -> Sequence[Write]:
        """Cancels the turn; a running tool is stopped and told as such."""
        if self._outcome is not None or not self._prompted:
            return ()
        params = {"sessionId": self._session}
        return [self._peer.notify(f"interrupt-{self._turns}", "session/cancel", params)]

    def finish(self, end: Exit, now: float) -> Step:
        """The process has ended: what was left half said, and the outcome."""
        self._tools.clear()
        events = self._flush(partial=True)
        if self._outcome is not None:
            return Step(events, outcome=self._outcome)
        if self._limit is not None:
            hint = self._retries.hint(now) or failures.last_hint(end.stderr_tail, now)
            failure = failures.with_reset(self._limit, hint, now)
            return self._fail(events, failure)
        if end.asked:
            self._outcome = Outcome(Ending.INTERRUPTED, text=self._last_text)
            return Step(events, outcome=self._outcome)
        how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.code}"
        return self._fail(
            events, failures.from_exit(end.stderr_tail, now, f"Gemini ended in its turn ({how})")
        )

    def _unknown(self, line: bytes) -> Step:
        if failures.asks_for_login(line.decode("utf-8", "replace")) and not self._prompted:
            if self._outcome is not None:
                return Step()
            text = "Gemini is not logged in: it asks for a login in the browser."
            return self._fail([], Failure(FailureClass.AUTH, text))
        self._unknown_lines += 1
        return Step([jsonline.unknown(line)])

    # Answers to our own requests: the id tells what was asked.

    def _answered(self, answered: Answered, now: float) -> Step:
        if answered.id.startswith(_SETTLE):
            return self._settled(answered.id)
        if answered.id.startswith(_TURN):
            return self._turn_ended(answered, now)
        if answered.id not in ("init", "load", "new"):
            return self._echoed(answered)
        if answered.error is not None:
            return self._not_opened(answered.id, answered.error, now)
        if answered.id == "init":
            return Step(writes=[self._open_session(answered.result)])
        return self._session_opened(answered)

    def _echoed(self, answered: Answered) -> Step:
        """A reply comes back as the name of a method that the program does not know."""
        data = jsonline.mapping(answered.error.data if answered.error is not None else None)
        name = jsonline.text(data.get("method"))
        if not name.startswith(_REPLY) or self._outcome is not None or self._limit is not None:
            said = "The reply was not taken: the turn has ended"
            return Step([Event(EventType.SYSTEM, said, {"notTaken": answered.id})])
        self._replies.append(name.removeprefix(_REPLY))
        return Step()

    def _not_opened(self, what: str, error: Fault, now: float) -> Step:
        if what == "load":
            return self._start_afresh(error)
        return self._fail([], failures.classify(error.message, error.code, now, self._retries.hint(now)))

    def _open_session(self, result: Mapping[str, Any]) -> Write:
        can_load = jsonline.mapping(result.get("agentCapabilities")).get("loadSession") is True
        params: dict[str, Any] = {"cwd": str(self._assignment.worktree), "mcpServers": []}
        if self._assignment.resume_id and can_load:
            return self._peer.request(
                "load", "session/load", {"sessionId": self._assignment.resume_id, **params}
            )
        return self._peer.request("new", "session/new", params)

    def _start_afresh(self, error: Fault) -> Step:
        why = jsonline.text(jsonline.mapping(error.data).get("details")) or error.message
        self._history = False
        said = f"The session could not be resumed ({jsonline.cap(why, 512)}); a fresh one starts"
        params = {"cwd": str(self._assignment.worktree), "mcpServers": []}
        return Step(
            [Event(EventType.SYSTEM, said, {"resumed": False})],
            [self._peer.request("new", "session/new", params)],
        )

    def _session_opened(self, answered: Answered) -> Step:
        result = answered.result
        resumed = answered.id == "load"
        self._session = self._assignment.resume_id if resumed else jsonline.text(result.get("sessionId"))
        mode = jsonline.text(jsonline.mapping(result.get("modes")).get("currentModeId"))
        model = jsonline.text(jsonline.mapping(result.get("models")).get("currentModelId"))
        self._model = model or self._model
        meta = {"nativeSession": self._session, "model": self._model, "mode": mode, "resumed": resumed}
        event = Event(EventType.SYSTEM, f"Gemini started with {self._model}", meta)
        self._history = False
        return Step([event], [self._settle(1) if resumed else self._first_prompt()])

    def _settle(self, number: int) -> Write:
        return self._peer.request(f"{_SETTLE}{number}", _NOTHING, {})

    def _settled(self, name: str) -> Step:
        if self._prompted:
            return Step()
        if not self._history:
            return Step(writes=[self._first_prompt()])
        self._history = False
        digits = name.removeprefix(_SETTLE)
        number = int(digits) if digits.isdecimal() and len(digits) < 7 else 0  # noqa: PLR2004 - a sane count
        return Step(writes=[self._settle(number + 1)])

    def _first_prompt(self) -> Write:
        self._prompted = True
        envelope = [self._assignment.envelope] if self._assignment.envelope else []
        return self._prompt([*envelope, self._assignment.prompt])

    def _prompt(self, texts: Sequence[str]) -> Write:
        head = ["Task:\n"] if texts[0].lstrip().startswith(("/", "$")) else []
        # Gemini glues the blocks together; a contract must not run into the task behind it.
        spaced = [f"{text}\n\n" for text in texts[:-1]]
        blocks = [{"type": "text", "text": text} for text in (*head, *spaced, texts[-1])]
        params = {"sessionId": self._session, "prompt": blocks}
        return self._peer.request(f"{_TURN}{self._turns + 1}", "session/prompt", params)

    def _next_prompt(self) -> Write:
        given, self._replies = self._replies, []
        self._answer = ""
        return self._prompt(given)

    def _turn_ended(self, answered: Answered, now: float) -> Step:
        self._turns += 1
        events = [*self._flush(), *usage_events(answered.result, self._model)]
        if answered.error is not None:
            failure = failures.classify(
                answered.error.message, answered.error.code, now, self._retries.hint(now)
            )
            if failure.kind is FailureClass.USAGE_LIMIT and failure.resets_at is None:
                self._limit = failure
                return Step(events, close_stdin=True)
            return self._fail(events, failure)
        stop = jsonline.text(answered.result.get("stopReason"))
        self._tools.clear()
        if stop == "cancelled":
            events.append(Event(EventType.RESULT, "The turn was interrupted", {"isError": False}))
            return self._end(events, Outcome(Ending.INTERRUPTED, text=self._last_text))
        if stop == "end_turn" and self._answer.strip() and self._replies:
            return Step([*events, Event(EventType.SYSTEM, "The reply is given")], [self._next_prompt()])
        if stop == "end_turn" and self._answer.strip():
            events.append(Event(EventType.RESULT, self._last_text, {"isError": False}))
            return self._end(events, Outcome(Ending.DONE, text=self._last_text))
        blank = (FailureClass.REFUSAL, failures.NO_ANSWER) if stop == "end_turn" else None
        kind, text = blank or _STOPS.get(
            stop, (FailureClass.UNKNOWN, f"Gemini stopped: {stop or 'no reason'}")
        )
        return self._fail(events, Failure(kind, text))

    # What the agent asks and tells.

    def _asked(self, asked: Asked) -> Step:
        if asked.method != "session/request_permission":
            return Step(writes=[self._peer.refuse(asked, "hub does not serve this request")])
        call = jsonline.mapping(asked.params.get("toolCall"))
        events = [*self._flush(), self._tools.asked(call, deniable=self._people)]
        self._answer = ""
        title = jsonline.text(call.get("title"))
        if not self._people:
            events.append(Event(EventType.SYSTEM, f"Allowed by policy: {title}", {"allowed": True}))
            return Step(events, [self._peer.answer(asked, choice(asked.params, allow=True))])
        self._permissions[asked.key] = asked
        meta = {**describe(call), "approvalId": asked.key, "needsInput": True}
        return Step([*events, Event(EventType.WAITING, f"Asks for permission: {title}", meta)])

    def _updated(self, update: Mapping[str, Any], line: bytes) -> Step:
        kind = jsonline.text(update.get("sessionUpdate"))
        if not self._prompted:
            self._history = self._history or kind in _HISTORY
            return Step()
        handler = self._updates.get(kind)
        if handler is not None:
            self._alive = True
            return handler(update)
        return Step() if kind in _QUIET else self._unknown(line)

    def _message(self, update: Mapping[str, Any]) -> Step:
        piece = content_text(update.get("content"))
        if _MODE_UPDATE.fullmatch(piece):
            return Step([Event(EventType.SYSTEM, piece)])
        self._tools.passed()
        self._buffer += piece
        self._answer = (self._answer + piece)[-_TEXT_CAP:]
        events = [Event(EventType.TEXT, piece, {"delta": True})] if self._deltas and piece else []
        if len(self._buffer) >= _FLUSH:
            events += self._flush()
        return Step(events)

    def _thought(self, update: Mapping[str, Any]) -> Step:
        self._tools.passed()
        said = content_text(update.get("content"))
        events = self._flush()
        if said.strip():
            events.append(Event(EventType.THINKING, jsonline.cap(said, _TEXT_CAP)))
        return Step(events)

    def _tool(self, update: Mapping[str, Any]) -> Step:
        events = [*self._flush(), *self._tools.update(update)]
        self._answer = ""
        return Step(events)

    def _plan(self, update: Mapping[str, Any]) -> Step:
        event = plan_event(jsonline.items(update.get("entries")))
        return Step([event] if event else ())

    # The end.

    def _flush(self, *, partial: bool = False) -> list[Event]:
        said, self._buffer = self._buffer, ""
        if not said.strip():
            return []
        self._last_text = said.strip()
        return [Event(EventType.TEXT, jsonline.cap(said, _TEXT_CAP), {"partial": True} if partial else {})]

    def _fail(self, events: Sequence[Event], failure: Failure) -> Step:
        told = [*events, failures.event(failure)]
        return self._end(told, Outcome(Ending.FAILED, failure, failure.text))

    def _end(self, events: Sequence[Event], outcome: Outcome) -> Step:
        if self._outcome is not None:
            return Step(events, close_stdin=True)
        self._outcome = outcome
        return Step(events, outcome=outcome, close_stdin=True)


def approval_mode(assignment: Assignment) -> str:
    """The approval mode the user chose; `yolo` by default."""
    return jsonline.text(assignment.options.get("approval_mode")) or YOLO
