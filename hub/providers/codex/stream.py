"""Codex's app-server: JSON-RPC lines, both ways.

Owns: the fold from its notifications to events, writes and an outcome; when a run is over.
Must not: take items apart (`items.py`), read quota windows (`windows.py`), classify failures (`failures.py`).

The conversation: `initialize` -> `initialized` + `thread/start` (or `thread/resume`) -> `turn/start` -> items
-> `turn/completed`. A reply steers the running turn. The process outlives its turn and leaves on EOF.

Traps this fold knows, each with a test:
 1. An `error` notification is not fatal while `willRetry` is true ("Reconnecting... 2/5"); only
    `turn/completed` ends the turn. A text that was streamed before a retry comes again from its start.
 2. A resumed thread keeps its recorded developer instructions and ignores new ones: there the contract goes
    at the head of the input.
 3. The limit's text tells a wall clock without a date; the quota window told the exact instant before it.
 4. An interrupted command never completes.
 5. A steer that comes too late is refused ("no active turn to steer"): it is told, not lost in silence.
 6. Threads of subagents speak on the same connection. Their end is not the end, and they may work on after the turn
    that started them; it is over with the last of them. Then nobody else hears of a wall that one of them meets, and
    a reply makes a further turn.
 7. `thread/resume` of an unknown thread is an error: a fresh thread takes over, with the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import TIME_MENDS, Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.base import (
    Assignment,
    Ending,
    Outcome,
    ProcessExit,
    Step,
    Stream,
    Write,
    failure_event,
    how_it_ended,
    plan_event,
)
from hub.providers.codex import failures
from hub.providers.codex.asks import CodexRequests
from hub.providers.codex.items import TEXT_CAP, ItemBook
from hub.providers.codex.windows import Windows, usage_event
from hub.providers.rpc import Peer, RpcNotification, RpcRequest, RpcResponse

NEVER = "never"
UNTRUSTED = "untrusted"
"""Asks before everything but what Codex knows to change nothing."""
_SANDBOX = "danger-full-access"
_VERSION = "1"
_KNOWN = (
    *("account/", "app/", "autoApprovalReview/", "command/", "externalAgentConfig/", "fs/", "hook/", "item/"),
    *("fuzzyFileSearch/", "mcpServer/", "model/", "modelProvider/", "process/", "project/", "remoteControl/"),
    *("serverRequest/", "skills/", "thread/", "turn/", "windows/", "windowsSandbox/"),
)
"""Families of notifications that exist and say nothing a run needs, unless a handler is named for them."""

_WALLS = TIME_MENDS | {FailureClass.AUTH}
"""What a subagent may meet that keeps the work from being done, whoever tries."""

_Handler = Callable[[Mapping[str, object], float], Step]


class CodexStream(Stream):
    """The fold over one dispatch of `codex app-server`."""

    def __init__(self, assignment: Assignment) -> None:
        self._items = ItemBook()
        super().__init__(self._items)
        self._assignment = assignment
        chosen = jsonline.text(assignment.options.get("approval_policy"))
        self._policy = UNTRUSTED if assignment.asks else chosen or NEVER
        self._deltas = assignment.options.get("partial") is True
        self._peer = Peer(version=False)
        self._asks = CodexRequests(self._peer, people=self._policy != NEVER, paths=self._items.paths)
        self._windows = Windows()
        self._turn = ""
        self._subagents: set[str] = set()
        """The threads of those that this one has started; the program has others, for itself."""
        self._others: dict[str, str] = {}
        """The turns under way in other threads."""
        self._done: Outcome | None = None
        """How the run ends with the last of the subagents that work on, for our own turn is completed."""
        self._further = ""
        """The reply that makes a further turn, until that starts."""
        self._model = assignment.model
        self._total: object = None
        self._partial: dict[str, str] = {}
        self._told: dict[str, _Handler] = {
            "turn/started": self._turn_started,
            "turn/completed": self._turn_completed,
            "thread/closed": self._thread_gone,
            "thread/status/changed": self._thread_status,
            "turn/plan/updated": self._plan,
            "item/started": self._item_started,
            "item/completed": self._item_completed,
            "item/agentMessage/delta": self._delta,
            "thread/tokenUsage/updated": self._usage,
            "account/rateLimits/updated": self._rate_limits,
            "serverRequest/resolved": self._resolved,
            "model/rerouted": self._rerouted,
            "error": self._error,
            "warning": self._notice,
            "guardianWarning": self._notice,
            "configWarning": self._notice,
            "deprecationNotice": self._notice,
        }

    def open(self) -> Step:
        """The handshake's first half."""
        client = {"name": "hub", "title": "hub", "version": _VERSION}
        return Step(writes=[self._peer.request("init", "initialize", {"clientInfo": client})])

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """The answer to an open question, or a message that steers the running turn or makes a further one."""
        if (answer := self._asks.answer_question(text, key)) is not None:
            return [answer]
        params: dict[str, object] = {"threadId": self.native_session, "input": [_text(text)]}
        if self._outcome is None and self._turn:
            return [self._peer.request(key, "turn/steer", {**params, "expectedTurnId": self._turn})]
        if self._done is None or self._further:
            return ()
        self._further = key
        return [self._peer.request(key, "turn/start", params)]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Allows or declines; () when nothing of that id waits.

        The protocol's answer has no words. They steer, and go first: behind the answer the turn may be over before them.
        """
        write = self._asks.answer(approval_id, approved=approved)
        if write is None:
            return ()
        return [*(self.reply(note, f"note-{approval_id}") if note else ()), write]

    def interrupt(self) -> Sequence[Write]:
        """Ends the running turn, or those of subagents that outlive it; the process stays."""
        if self._outcome is not None:
            return ()
        running = {self.native_session: self._turn} if self._turn else self._outliving()
        return [
            self._peer.request(f"interrupt-{turn}", "turn/interrupt", {"threadId": thread, "turnId": turn})
            for thread, turn in running.items()
        ]

    def _line(self, line: bytes, now: float) -> Step:
        match self._peer.read(line):
            case RpcResponse() as answered:
                return self._answered(answered, now)
            case RpcRequest() as asked:
                return self._asks.ask(asked)
            case RpcNotification(method, params):
                if (handler := self._told.get(method)) is not None:
                    return handler(params, now)
                return Step() if method.startswith(_KNOWN) else self._unknown(line)
            case _:
                return self._unknown(line)

    # Answers to our own requests: the id tells what was asked.

    def _answered(self, answered: RpcResponse, now: float) -> Step:
        error = answered.error
        match answered.id:
            case "init" if error is None:
                return Step(writes=[self._peer.notify("initialized", "initialized"), self._open_thread()])
            case "thread" if error is not None and self._assignment.resume_id:
                return self._start_afresh(error.message)
            case "thread" | "thread-fresh" if error is None:
                return self._thread_opened(answered)
            case "init" | "thread" | "thread-fresh" | "turn-1" if error is not None:
                return self._fail([], failures.classify(error.message, now))
        if error is None:
            return Step()
        what = "The interrupt" if answered.id.startswith("interrupt-") else "The reply"
        event = Event(EventType.SYSTEM, f"{what} was not taken: {error.message}", {"notTaken": answered.id})
        if answered.id == self._further:
            self._further = ""
        return self._maybe_over([event])

    def _open_thread(self) -> Write:
        resume = self._assignment.resume_id
        if not resume:
            return self._peer.request("thread", "thread/start", self._thread_params())
        params = {"threadId": resume, "excludeTurns": True, **self._thread_params()}
        params.pop("developerInstructions", None)
        return self._peer.request("thread", "thread/resume", params)

    def _start_afresh(self, why: str) -> Step:
        event = Event(
            EventType.SYSTEM,
            f"The thread could not be resumed ({why}); a fresh one starts",
            {"resumed": False},
        )
        return Step([event], [self._peer.request("thread-fresh", "thread/start", self._thread_params())])

    def _thread_params(self) -> dict[str, object]:
        assignment = self._assignment
        sandbox = jsonline.text(assignment.options.get("sandbox")) or _SANDBOX
        params: dict[str, object] = {"cwd": str(assignment.worktree), "approvalPolicy": self._policy}
        params["sandbox"] = sandbox
        if assignment.model:
            params["model"] = assignment.model
        if assignment.envelope:
            params["developerInstructions"] = assignment.envelope
        return params

    def _thread_opened(self, answered: RpcResponse) -> Step:
        result = answered.result
        self.native_session = jsonline.text(jsonline.mapping(result.get("thread")).get("id"))
        self._model = jsonline.text(result.get("model")) or self._model
        resumed = answered.id == "thread" and bool(self._assignment.resume_id)
        texts = [self._assignment.envelope] if resumed and self._assignment.envelope else []
        given = [_text(text) for text in [*texts, self._assignment.prompt]]
        turn = self._peer.request("turn-1", "turn/start", {"threadId": self.native_session, "input": given})
        meta: EventMeta = {
            "nativeSession": self.native_session,
            "model": self._model,
            "resumed": resumed,
        }
        return Step([Event(EventType.SYSTEM, f"Codex started with {self._model}", meta)], [turn])

    # Notifications.

    def _ours(self, params: Mapping[str, object]) -> bool:
        return jsonline.text(params.get("threadId")) in ("", self.native_session)

    def _turn_started(self, params: Mapping[str, object], _: float) -> Step:
        turn = jsonline.text(jsonline.mapping(params.get("turn")).get("id"))
        if self._ours(params):
            self.alive = True
            self._turn, self._done, self._further = turn, None, ""
        else:
            self._others[jsonline.text(params.get("threadId"))] = turn
        return Step()

    def _turn_completed(self, params: Mapping[str, object], now: float) -> Step:
        end = self._end_of(jsonline.mapping(params.get("turn")), now)
        if not self._ours(params):
            wall = end.failure is not None and end.failure.kind in _WALLS
            worse = end.ending is Ending.INTERRUPTED or (wall and self._done == Outcome(Ending.DONE))
            if worse and self._orphaned(params):
                self._done = end
            return self._thread_gone(params, now)
        self._turn = ""
        self._items.clear(jsonline.text(params.get("threadId")))
        if end.ending is not Ending.DONE:
            return self._over_by(end, [])
        self._done = end
        return self._maybe_over([])

    def _thread_gone(self, params: Mapping[str, object], _: float) -> Step:
        """A thread that is closed in the middle of its turn never tells the end of that."""
        thread = jsonline.text(params.get("threadId"))
        self._items.clear(thread)
        self._others.pop(thread, None)
        return self._maybe_over([])

    def _thread_status(self, params: Mapping[str, object], now: float) -> Step:
        gone = jsonline.mapping(params.get("status")).get("type") == "notLoaded"
        return self._thread_gone(params, now) if gone else Step()

    def _end_of(self, turn: Mapping[str, object], now: float) -> Outcome:
        match turn.get("status"):
            case "completed":
                return Outcome(Ending.DONE)
            case "interrupted":
                return Outcome(Ending.INTERRUPTED)
        told = jsonline.mapping(turn.get("error"))
        known = None if told else self._failure
        return Outcome(Ending.FAILED, known or self._failure_of(told, now))

    def _maybe_over(self, events: Sequence[Event]) -> Step:
        if self._done is None or self._further or self._outliving():
            return Step(events)
        return self._over_by(self._done, events)

    def _over_by(self, end: Outcome, events: Sequence[Event]) -> Step:
        self._done = None
        events = [*events, *self._left_over()]
        if end.failure is not None:
            return self._fail(events, end.failure)
        return self._completed(events) if end.ending is Ending.DONE else self._interrupted(events)

    def _outliving(self) -> dict[str, str]:
        """The turns of subagents under way."""
        return {thread: turn for thread, turn in self._others.items() if thread in self._subagents}

    def _orphaned(self, params: Mapping[str, object]) -> bool:
        """Whether it is about a subagent that outlives our own turn, which would hear of its end and judge."""
        return self._done is not None and jsonline.text(params.get("threadId")) in self._subagents

    def _error(self, params: Mapping[str, object], now: float) -> Step:
        told = jsonline.mapping(params.get("error"))
        if params.get("willRetry") is True:
            self._partial.clear()
            return Step([_retry(told)])
        if not (self._ours(params) or self._orphaned(params)):
            return Step([failure_event(self._failure_of(told, now))])
        return Step(self._tell(self._failure_of(told, now)))

    def _failure_of(self, told: Mapping[str, object], now: float) -> Failure:
        code, status = failures.code_of(told.get("codexErrorInfo"))
        words = [jsonline.text(told.get("message")), jsonline.text(told.get("additionalDetails"))]
        said = jsonline.cap("\n".join(word for word in words if word), TEXT_CAP) or "The turn failed"
        return self._windows.better(failures.classify(said, now, code, status), now)

    def _item_started(self, params: Mapping[str, object], _: float) -> Step:
        item = jsonline.mapping(params.get("item"))
        return Step(self._items.started(item, jsonline.text(params.get("threadId"))))

    def _item_completed(self, params: Mapping[str, object], _: float) -> Step:
        item = jsonline.mapping(params.get("item"))
        events = self._items.completed(item, jsonline.text(params.get("threadId")))
        # Two generations of the same: the newer one names one thread, the older one several.
        self._subagents |= {
            jsonline.text(item.get("agentThreadId")),
            *jsonline.texts(item.get("receiverThreadIds")),
        }
        self._partial.pop(jsonline.text(item.get("id")), None)
        for event in events:
            if event.type is EventType.TEXT and self._ours(params):
                self._last_text = event.content
        return Step(events)

    def _delta(self, params: Mapping[str, object], _: float) -> Step:
        piece = jsonline.text(params.get("delta"))
        item = jsonline.text(params.get("itemId"))
        before = self._partial.get(item, "")
        if len(before) < TEXT_CAP:
            self._partial[item] = before + piece
        if not (self._deltas and piece):
            return Step()
        return Step([Event(EventType.TEXT, piece, {"delta": True, "item": item})])

    def _usage(self, params: Mapping[str, object], _: float) -> Step:
        # Resuming a thread tells its old total once more; only what comes in a turn is this turn's.
        tokens = jsonline.mapping(params.get("tokenUsage"))
        total = tokens.get("total")
        fresh = bool(self._turn or self._others) and total != self._total
        self._total = total
        event = usage_event(jsonline.mapping(tokens.get("last")), self._model)
        return Step([event] if fresh and event is not None else ())

    def _rate_limits(self, params: Mapping[str, object], _: float) -> Step:
        return Step(self._windows.update(jsonline.mapping(params.get("rateLimits"))))

    def _plan(self, params: Mapping[str, object], _: float) -> Step:
        event = plan_event(params.get("plan"), step="step", words=jsonline.text(params.get("explanation")))
        return Step([event] if event else ())

    def _resolved(self, params: Mapping[str, object], _: float) -> Step:
        self._asks.settle(params)
        return Step()

    def _rerouted(self, params: Mapping[str, object], _: float) -> Step:
        self._model = jsonline.text(params.get("toModel")) or self._model
        return Step([Event(EventType.SYSTEM, f"Codex goes on with {self._model}", {"model": self._model})])

    def _notice(self, params: Mapping[str, object], _: float) -> Step:
        said = jsonline.text(params.get("message")) or jsonline.text(params.get("summary"))
        return Step([Event(EventType.SYSTEM, said)] if said else ())

    # The end.

    def _why(self, end: ProcessExit, now: float) -> Failure:
        how = f"Codex ended in the middle of its turn ({how_it_ended(end)})"
        return self._failure or failures.from_exit(end.stderr_tail, now, how)

    def _left_over(self) -> list[Event]:
        """Text that was streamed and never came as a whole."""
        self._items.clear()
        said = "\n".join(self._partial.values())
        self._partial.clear()
        return [Event(EventType.TEXT, said, {"partial": True})] if said.strip() else []


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _retry(told: Mapping[str, object]) -> Event:
    code, status = failures.code_of(told.get("codexErrorInfo"))
    said = jsonline.text(told.get("message"))
    why = jsonline.text(told.get("additionalDetails"))
    meta: EventMeta = {}
    if kind := failures.class_of(f"{said} {why}", code, status):
        meta["failure"] = kind.value
    if status is not None:
        meta["status"] = status
    return Event(EventType.RETRY, jsonline.cap(f"{said} ({why})" if why else said, TEXT_CAP), meta)
