"""OpenCode behind hub's bridge: its server's events and answers, one a line.

Owns: the fold from these lines to events, requests and an outcome; when a run is over.
Must not: take parts apart (`parts.py`), classify failures (`failures.py`) or know HTTP (`bridge.py`).

The conversation: the bridge is ready -> a session is made (or an old one asked for) -> the prompt -> events, until
the session is idle. The server outlives the turn; the end of its input ends it.

Traps this fold knows, each with a test:
 1. At a limit the session is not in error: it waits, for hours, and tells `retry` with the instant. A wait that is
    no use is cut short here.
 2. Idle comes twice after an abort or an error, the first time before the interrupted text and tool are told: only
    idle *after* the last message is complete is the end.
 3. A full context is no end either: OpenCode compacts and goes on, and where that does not help, for ever. The
    second overflow without a finished tool between ends the run.
 4. A subagent is a session of its own whose events come on the same stream; so are its permissions and its limits.
 5. The error of a model that does not exist comes without any message and without idle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.base import (
    Assignment,
    ProcessExit,
    Step,
    Stream,
    Write,
    crash,
    how_it_ended,
    plan_event,
    retry_event,
)
from hub.providers.opencode import failures, rest
from hub.providers.opencode.asks import ALLOW, OpenCodeRequests, permission, rules
from hub.providers.opencode.parts import PartBook

_TURN = "turn-1"
_CUT_SHORT = "cut-short"
_OWN = frozenset({"agents", "new", "load", "restrict", _TURN, _CUT_SHORT})
_OK = range(200, 300)
_OVERFLOWS = 2
_STDERR = 4_000
_QUIET = frozenset({
    "message.part.removed",
    "message.removed",
    "session.deleted",
    "session.diff",
    "session.updated",
})  # fmt: skip
_Properties = Mapping[str, object]
_Handler = Callable[[_Properties, bool, float], Step]


class OpenCodeStream(Stream):
    """The fold over one dispatch."""

    def __init__(self, assignment: Assignment) -> None:
        self._parts = PartBook(deltas=assignment.options.get("partial") is True)
        super().__init__(self._parts.tools)
        self._assignment = assignment
        self._asks = OpenCodeRequests(people=permission(assignment) != ALLOW, inputs=self._parts.given)
        self._rules: Sequence[Mapping[str, str]] = ()
        """Those of this session alone, where rules of hub wait for its requests."""
        self._resumed = False
        self._family: set[str] = set()
        self._last: Mapping[str, object] | None = None
        """The newest message of the model, as it was last told."""
        self._error: Failure | None = None
        self._overflows = (0, 0)
        self._handlers: dict[str, _Handler] = {
            "session.created": self._created,
            "session.status": self._status,
            "session.error": self._erred,
            "session.idle": self._idle,
            "session.compacted": lambda *_: Step([Event(EventType.SYSTEM, "The context was compacted")]),
            "message.updated": self._message,
            "message.part.updated": self._part,
            "message.part.delta": lambda told, sub, _: Step(self._parts.delta(told, sub=sub)),
            "permission.asked": lambda told, *_: self._asks.permission(told),
            "permission.replied": self._settled,
            "question.asked": lambda told, *_: self._asks.question(told),
            "question.replied": self._settled,
            "question.rejected": self._settled,
            "todo.updated": self._plan,
        }

    def _line(self, line: bytes, now: float) -> Step:
        message = jsonline.read(line)
        if message is None:
            return self._unknown(line)
        if "bridge" in message:
            return self._bridge(message)
        if "event" in message:
            return self._event(jsonline.mapping(message["event"]), line, now)
        return self._answered(message) if "id" in message else self._unknown(line)

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """The answer to an open question, else a prompt that is taken up at the turn's end."""
        if self._over() or not self.native_session:
            return ()
        return self._asks.reply(text, key) or [rest.prompt(key, self.native_session, text, self._model())]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Allows or denies, or answers a question; () when nothing of that id waits."""
        return self._asks.answer(approval_id, approved=approved, note=note)

    def interrupt(self) -> Sequence[Write]:
        """Aborts the turn; a running tool is stopped and told as such."""
        return (
            []
            if self._outcome is not None or not self.native_session
            else [rest.abort("interrupt", self.native_session)]
        )

    def _left_over(self) -> list[Event]:
        self._parts.clear()
        events = self._parts.flush()
        self._last_text = self._parts.last_text
        return events

    def _why(self, end: ProcessExit, now: float) -> Failure:
        how = f"OpenCode ended in its turn ({how_it_ended(end)})"
        return self._doomed or self._error or crash(how, end.stderr_tail.strip()[-_STDERR:])

    # The bridge, and its answers to our requests: the id tells what was asked.

    def _bridge(self, told: Mapping[str, object]) -> Step:
        if told.get("bridge") == "ready":
            return Step(writes=[rest.agents() if self._assignment.asks else self._first()])
        if told.get("bridge") == "failed":
            said = jsonline.text(told.get("text")) or "OpenCode's server did not start"
            return self._fail([], Failure(FailureClass.CRASH, said))
        return Step()

    def _first(self) -> Write:
        old = self._assignment.resume_id
        return rest.load(old) if rest.is_session(old) else self._fresh()

    def _fresh(self) -> Write:
        return rest.new(f"hub {self._assignment.session_id}", self._rules)

    def _answered(self, told: Mapping[str, object]) -> Step:
        name = jsonline.text(told.get("id"))
        status = jsonline.integer(told.get("status")) or 0
        if status in _OK:
            return self._done(name, told.get("body"))
        why = jsonline.cap(_reason(told.get("body"), status), 512)
        if name == "load":
            said = f"The session could not be resumed ({why}); a fresh one starts"
            return Step([Event(EventType.SYSTEM, said, {"resumed": False})], [self._fresh()])
        if name in _OWN:
            failure = Failure(failures.WORDING.of_error(why) or FailureClass.UNKNOWN, why)
            return self._fail(self._left_over(), self._doomed or self._error or failure)
        return Step([Event(EventType.SYSTEM, f"OpenCode did not take it: {why}", {"notTaken": name})])

    def _done(self, name: str, body: object) -> Step:
        info = jsonline.mapping(body)
        if name == "agents":
            self._rules = rules(body)
            return Step(writes=[self._first()])
        self._resumed = self._resumed or name == "load"
        if name == "load" and self._rules:
            return Step(writes=[rest.restrict(jsonline.text(info.get("id")), self._rules)])
        return self._opened(info) if name in ("new", "load", "restrict") else Step()

    def _opened(self, info: Mapping[str, object]) -> Step:
        if self._rules and jsonline.items(info.get("permission"))[-len(self._rules) :] != self._rules:
            text = (
                "OpenCode cannot be made to ask before it acts: it does not keep a session's rules; update it"
            )
            return self._fail([], Failure(FailureClass.CRASH, text))
        self.native_session = jsonline.text(info.get("id"))
        self._family = {self.native_session}
        model = self._assignment.model
        meta: EventMeta = {
            "nativeSession": self.native_session,
            "model": model,
            "resumed": self._resumed,
        }
        version = jsonline.text(info.get("version"))
        started = Event(EventType.SYSTEM, f"OpenCode {version} started with {model or 'its own model'}", meta)
        more = self._model()
        if self._assignment.envelope:
            more["system"] = self._assignment.envelope
        return Step([started], [rest.prompt(_TURN, self.native_session, self._assignment.prompt, more)])

    def _model(self) -> dict[str, object]:
        provider, model = model_of(self._assignment)
        more: dict[str, object] = {"model": {"providerID": provider, "modelID": model}} if provider else {}
        if agent := jsonline.text(self._assignment.options.get("agent")):
            more["agent"] = agent
        return more

    # The server's events.

    def _event(self, event: Mapping[str, object], line: bytes, now: float) -> Step:
        kind = jsonline.text(event.get("type"))
        handler = self._handlers.get(kind)
        if handler is None:
            return Step() if kind in _QUIET else self._unknown(line)
        told = jsonline.mapping(event.get("properties"))
        session = jsonline.text(told.get("sessionID"))
        if kind != "session.created" and session not in self._family:
            return Step()
        return handler(told, session != self.native_session, now)

    def _created(self, told: _Properties, sub: bool, now: float) -> Step:
        info = jsonline.mapping(told.get("info"))
        if jsonline.text(info.get("parentID")) not in self._family or not self._family:
            return Step()
        self._family.add(jsonline.text(info.get("id")))
        return Step([Event(EventType.SYSTEM, f"Subagent: {jsonline.text(info.get('title'))}")])

    def _status(self, told: _Properties, sub: bool, now: float) -> Step:
        status = jsonline.mapping(told.get("status"))
        if status.get("type") != "retry" or self._outcome is not None:
            return Step()
        retry = failures.retry(status, now)
        events = [retry_event(retry.attempt, retry.failure, retry.failure.text, retry.wait, now)]
        return self._cut_short(events, retry.failure) if retry.hopeless else Step(events)

    def _erred(self, told: _Properties, sub: bool, now: float) -> Step:
        error = jsonline.mapping(told.get("error"))
        name = jsonline.text(error.get("name"))
        if sub or name == failures.ABORTED or self._outcome is not None:
            # A subagent's failure is its parent's to deal with: the `task` tool ends with it.
            return Step()
        failure = failures.of_error(error, now)
        if name == failures.OVERFLOW:
            return self._overflowed(failure)
        self._error = failure
        if self._last is None:
            return self._fail(self._left_over(), failure)
        return Step()

    def _overflowed(self, failure: Failure) -> Step:
        seen, tools = self._overflows
        done = self._parts.finished_tools
        self._overflows = (1 if done > tools else seen + 1, done)
        if self._overflows[0] >= _OVERFLOWS:
            return self._cut_short([], failure)
        said = f"The context is full and is being compacted: {failure.text}"
        return Step([Event(EventType.SYSTEM, said)])

    def _cut_short(self, events: Sequence[Event], failure: Failure) -> Step:
        if self._doomed is not None:
            return Step(events)
        self._doomed = failure
        return Step(events, [rest.abort(_CUT_SHORT, self.native_session)])

    def _message(self, told: _Properties, sub: bool, now: float) -> Step:
        info = jsonline.mapping(told.get("info"))
        self._parts.message(info)
        if sub or info.get("role") != "assistant":
            return Step()
        self._last = info
        error = jsonline.mapping(info.get("error"))
        if error and error.get("name") not in (failures.ABORTED, failures.OVERFLOW):
            self._error = failures.of_error(error, now)
        return Step()

    def _part(self, told: _Properties, sub: bool, now: float) -> Step:
        part = jsonline.mapping(told.get("part"))
        self.alive = self.alive or self._parts.speaks(part)
        events = self._parts.updated(part, sub=sub)
        running = jsonline.mapping(part.get("state")).get("status") == "running"
        asked = self._asks.begun(jsonline.text(part.get("callID"))) if running else Step()
        return Step([*events, *asked.events], asked.writes)

    def _settled(self, told: _Properties, sub: bool, now: float) -> Step:
        self._asks.settled(told)
        return Step()

    def _plan(self, told: _Properties, sub: bool, now: float) -> Step:
        event = None if sub else plan_event(told.get("todos"), done=("completed", "cancelled"))
        return Step([event] if event else ())

    # The end.

    def _idle(self, told: _Properties, sub: bool, now: float) -> Step:
        last = self._last
        if sub or last is None or self._outcome is not None:
            return Step()
        if jsonline.mapping(last.get("time")).get("completed") is None:
            return Step()
        events = self._left_over()
        if self._doomed is not None:
            return self._fail(events, self._doomed)
        if jsonline.mapping(last.get("error")).get("name") == failures.ABORTED:
            return self._interrupted(events)
        failure = self._error or _unfinished(jsonline.text(last.get("finish")))
        if failure is not None:
            return self._fail(events, failure)
        return self._completed(events)


def _unfinished(finish: str) -> Failure | None:
    """The failure of a last message that ended otherwise than by the model's own stop."""
    if finish == "length":
        return Failure(FailureClass.CONTEXT_OVERFLOW, "The answer was cut off: it no longer fits.")
    if finish in ("content-filter", "error"):
        return Failure(FailureClass.REFUSAL, "The provider's filter stopped the answer.")
    return None


def _reason(body: object, status: int) -> str:
    """The words of a failed request's answer."""
    fields = jsonline.mapping(body)
    said = jsonline.text(jsonline.mapping(fields.get("data")).get("message"))
    plain = said or jsonline.text(fields.get("message")) or jsonline.text(body)
    return plain or (f"status {status}" if status else "no answer")


def model_of(assignment: Assignment) -> tuple[str, str]:
    """(provider, model) of `provider/model`; two empty texts where it is not of that form."""
    provider, slash, model = assignment.model.partition("/")
    return (provider, model) if slash and provider and model else ("", "")
