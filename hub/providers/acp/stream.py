"""The Agent Client Protocol: JSON-RPC lines, both ways.

Owns: the fold from an agent's messages to events, writes and an outcome; when a run is over.
Must not: know any one agent (each has a subclass beside its own `agent.py`), take tool calls apart (`tools.py`) or
classify failures (`failures.py`).

The conversation: `initialize` -> `session/new`, `session/resume` or `session/load` -> what the session is to be set
to (`setup.py`) -> `session/prompt`, whose answer is the end of the turn. The process outlives it and leaves on EOF.

Traps this fold knows, each with a test:
 1. A blocked answer is `end_turn` without a word: a turn that ends so has failed.
 2. `session/load` replays the history as if it happened now, in some agents before its answer and after it. A
    request for nothing (`settle-<n>`) is repeated until one comes back with no history before it: only then the
    prompt goes out, so that old work is not told as new. `session/resume`, where there is one, replays nothing.
 3. A session that cannot be taken up again gives way to a fresh one, with the whole contract.
 4. A prompt that begins with "/" or "$" is a command of the program itself.
 5. A prompt that comes while one runs cancels it, in some agents with loss of its memory. So a reply waits for the
    turn's end. It waits in the stream: hub sends a request for nothing whose id holds the text, and every JSON-RPC
    peer answers with the id it was sent, even if only to say that it knows no such method. So a daemon that starts
    anew finds the reply in these lines like all else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.acp import failures, setup
from hub.providers.acp.tools import AcpToolCalls, asked_about, choice, content_text
from hub.providers.acp.usage import usage_events
from hub.providers.acp.words import RunWords
from hub.providers.base import (
    Assignment,
    ProcessExit,
    Step,
    Stream,
    Write,
    how_it_ended,
    plan_event,
)
from hub.providers.rpc import Peer, RpcError, RpcNotification, RpcRequest, RpcResponse

_NOTHING = "_hub/nothing"
"""A request for nothing: ACP leaves names with an underscore to extensions, and the agent answers at once, mostly that
it does not know it. Its answer marks a place in the stream."""
_SPLIT = "\n"
"""Between a reply's key and its text, in the id of the request that carries both."""
_WITHOUT = (
    "That action was not allowed. Go on with the task without it; where that is impossible, say so and stop."
)
_TEXT_CAP = 65_536
_HISTORY = frozenset({
    *("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"),
    *("tool_call", "tool_call_update", "plan"),
})  # fmt: skip
_QUIET = frozenset({
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "user_message_chunk",
})  # fmt: skip
_Handler = Callable[[Mapping[str, object]], Step]


class AcpStream(Stream):
    """The fold over one dispatch of an agent that speaks ACP.

    Args:
        assignment: The dispatch.
        title: The agent's name for people.
        people: Whether a person is asked for permissions; otherwise they are given, and told.
        wishes: What the session is to be set to; (nothing) where arguments of the program do that.
        sequential: See `AcpToolCalls`.
    """

    wording = failures.WORDING
    """How the agent words its failures."""

    def __init__(
        self,
        assignment: Assignment,
        *,
        title: str,
        people: bool,
        wishes: Mapping[str, str] | None = None,
        sequential: bool = False,
    ) -> None:
        self._tools = AcpToolCalls(sequential=sequential)
        super().__init__(self._tools)
        self._assignment = assignment
        self._title = title
        self._people = people
        self._words = RunWords(deltas=assignment.options.get("partial") is True)
        self._peer = Peer()
        self._permissions: dict[str, RpcRequest] = {}
        self._wishes = wishes or {}
        self._settings: list[setup.Setting] = []
        self._model = assignment.model
        self._now = 0.0
        self._prompted = False
        self._history = False
        self._replies: list[str] = []
        self._turns = 0
        self._answer = ""
        self._updates: dict[str, _Handler] = {
            "agent_message_chunk": self._message,
            "agent_thought_chunk": self._thought,
            "tool_call": self._tool,
            "tool_call_update": self._tool,
            "plan": self._plan,
        }

    # What one agent does in its own way.

    def _failure_of(self, error: RpcError, now: float) -> Failure:
        """The failure that the error of an answer tells."""
        return failures.classify(
            failures.words_of(error), failures.status_of(error), now, wording=self.wording
        )

    def _describe(self, call: Mapping[str, object]) -> EventMeta:
        """Meta of a call that needs permission."""
        return asked_about(call)

    def _aside(self, piece: str) -> list[Event] | None:
        """The events of a text that the program says itself in the model's place; None for the model's own."""
        return None

    def _wrong(self, stop: str) -> Failure | None:
        """Why a turn that was not cancelled is no success; None for one that is."""
        if stop != "end_turn":
            return failures.of_stop(stop, self._title)
        return None if self._answer.strip() else Failure(FailureClass.REFUSAL, failures.NO_ANSWER)

    # The contract.

    def open(self) -> Step:
        """The handshake. Files and terminals are the agent's own business, so neither is offered."""
        capabilities = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        client = {"name": "hub", "title": "hub", "version": "1"}
        params = {"protocolVersion": 1, "clientInfo": client, "clientCapabilities": capabilities}
        return Step(writes=[self._peer.request("init", "initialize", params)])

    def _line(self, line: bytes, now: float) -> Step:
        self._now = now
        match self._peer.read(line):
            case RpcResponse() as answered:
                return self._answered(answered, now)
            case RpcRequest() as asked:
                return self._asked(asked)
            case RpcNotification("session/update", params):
                return self._updated(jsonline.mapping(params.get("update")), line)
            case RpcNotification(method) if method.startswith("_"):
                return Step()
            case _:
                return self._unknown(line)

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """The next prompt, once the running turn has ended."""
        if self._over() or not self._prompted:
            return ()
        return [self._peer.request(key, _NOTHING, {}, request_id=f"{key}{_SPLIT}{text}")]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Allows or denies; () when nothing of that id waits. The answer has no words: they are the next prompt."""
        asked = self._permissions.pop(approval_id, None)
        if asked is None:
            return ()
        answer = self._peer.answer(asked, choice(asked.params, allow=approved))
        return [answer, *(self.reply(note, f"note-{approval_id}") if note else ())]

    def interrupt(self) -> Sequence[Write]:
        """Cancels the turn; a running tool is stopped and told as such."""
        if self._outcome is not None or not self._prompted:
            return ()
        params = {"sessionId": self.native_session}
        return [self._peer.notify(f"interrupt-{self._turns}", "session/cancel", params)]

    def _left_over(self) -> list[Event]:
        self._tools.clear()
        return self._flush({"partial": True})

    def _why(self, end: ProcessExit, now: float) -> Failure:
        how = f"{self._title} ended in its turn ({how_it_ended(end)})"
        return self.wording.of_exit(end.stderr_tail, now, how)

    # Answers to our own requests: the id tells what was asked.

    def _answered(self, answered: RpcResponse, now: float) -> Step:
        match answered.id.partition("-"):
            case ("turn", "-", number) if number.isdecimal():
                return self._turn_ended(answered, now)
            case ("settle", "-", number):
                return self._settled(number)
            case ("set", "-", _):
                return self._set(answered)
            case ("init" | "load" | "new", "", _):
                return self._opening(answered, now)
        return self._echoed(answered)

    def _opening(self, answered: RpcResponse, now: float) -> Step:
        if answered.error is not None:
            if answered.id == "load":
                return self._start_afresh(answered.error)
            return self._fail([], self._failure_of(answered.error, now))
        if answered.id == "init":
            return Step(writes=[self._open_session(answered.result)])
        return self._session_opened(answered)

    def _echoed(self, answered: RpcResponse) -> Step:
        """A reply comes back in the id of the request that carried it."""
        key, split, text = answered.id.partition(_SPLIT)
        if not split or self._over():
            said = "The reply was not taken: the turn has ended"
            return Step([Event(EventType.SYSTEM, said, {"notTaken": key})])
        self._replies.append(text)
        return Step()

    def _place(self) -> dict[str, object]:
        return {"cwd": str(self._assignment.worktree), "mcpServers": []}

    def _open_session(self, result: Mapping[str, object]) -> Write:
        can = jsonline.mapping(result.get("agentCapabilities"))
        params = {"sessionId": self._assignment.resume_id, **self._place()}
        if self._assignment.resume_id:
            if jsonline.mapping(can.get("sessionCapabilities")).get("resume") is not None:
                return self._peer.request("load", "session/resume", params)
            if can.get("loadSession") is True:
                return self._peer.request("load", "session/load", params)
        return self._peer.request("new", "session/new", self._place())

    def _start_afresh(self, error: RpcError) -> Step:
        why = jsonline.text(jsonline.mapping(error.data).get("details")) or error.message
        self._history = False
        said = f"The session could not be resumed ({jsonline.cap(why, 512)}); a fresh one starts"
        return Step(
            [Event(EventType.SYSTEM, said, {"resumed": False})],
            [self._peer.request("new", "session/new", self._place())],
        )

    def _session_opened(self, answered: RpcResponse) -> Step:
        result = answered.result
        resumed = answered.id == "load"
        self.native_session = (
            self._assignment.resume_id if resumed else jsonline.text(result.get("sessionId"))
        )
        mode, model = setup.current(result)
        self._model = model or self._model
        self._settings = setup.settings(result, self.native_session, self._wishes)
        meta: EventMeta = {
            "nativeSession": self.native_session,
            "model": self._model,
            "mode": mode,
            "resumed": resumed,
        }
        event = Event(EventType.SYSTEM, f"{self._title} started with {self._model or 'its own model'}", meta)
        self._history = False
        return Step([event], [self._settle(1) if resumed else self._next_setting()])

    def _next_setting(self) -> Write:
        if not self._settings:
            return self._first_prompt()
        setting = self._settings[0]
        return self._peer.request(f"set-{setting.name}", setting.method, setting.params)

    def _set(self, answered: RpcResponse) -> Step:
        if not self._settings or self._prompted:
            return Step()
        setting, *self._settings = self._settings
        events = []
        if answered.error is not None:
            said = f"The {setting.name} {setting.value!r} was not taken: {failures.words_of(answered.error)}"
            events.append(Event(EventType.SYSTEM, jsonline.cap(said, 1024), {"notTaken": setting.name}))
        elif setting.name == "model":
            self._model = setting.value
        return Step(events, [self._next_setting()])

    def _settle(self, number: int) -> Write:
        return self._peer.request(f"settle-{number}", _NOTHING, {})

    def _settled(self, digits: str) -> Step:
        if self._prompted:
            return Step()
        if not self._history:
            return Step(writes=[self._next_setting()])
        self._history = False
        number = int(digits) if digits.isdecimal() and len(digits) < 7 else 0  # noqa: PLR2004 - a sane count
        return Step(writes=[self._settle(number + 1)])

    def _first_prompt(self) -> Write:
        self._prompted = True
        envelope = [self._assignment.envelope] if self._assignment.envelope else []
        return self._prompt([*envelope, self._assignment.prompt])

    def _prompt(self, texts: Sequence[str]) -> Write:
        head = ["Task:\n"] if texts[0].lstrip().startswith(("/", "$")) else []
        # Some agents glue the blocks together; a contract must not run into the task behind it.
        spaced = [f"{text}\n\n" for text in texts[:-1]]
        blocks = [{"type": "text", "text": text} for text in (*head, *spaced, texts[-1])]
        params = {"sessionId": self.native_session, "prompt": blocks}
        return self._peer.request(f"turn-{self._turns + 1}", "session/prompt", params)

    def _turn_ended(self, answered: RpcResponse, now: float) -> Step:
        self._turns += 1
        events = [*self._flush(), *usage_events(answered.result, self._model)]
        if answered.error is not None:
            return self._fail(events, self._failure_of(answered.error, now))
        denied = self._tools.denied and not self._answer.strip()
        self._tools.clear()
        stop = jsonline.text(answered.result.get("stopReason"))
        if stop == "cancelled":
            return self._interrupted(events)
        if stop == "end_turn" and denied and not self._replies:
            return Step([*events, Event(EventType.SYSTEM, _WITHOUT)], [self._prompt([_WITHOUT])])
        failure = None if denied and self._replies else self._wrong(stop)
        if failure is not None:
            return self._fail(events, failure)
        if self._replies:
            given, self._replies, self._answer = self._replies, [], ""
            return Step([*events, Event(EventType.SYSTEM, "The reply is given")], [self._prompt(given)])
        return self._completed(events)

    # What the agent asks and tells.

    def _asked(self, asked: RpcRequest) -> Step:
        if asked.method != "session/request_permission":
            return Step(writes=[self._peer.refuse(asked)])
        call = jsonline.mapping(asked.params.get("toolCall"))
        events = [*self._flush(), *self._tools.asked(call, deniable=self._people)]
        self._answer = ""
        title = jsonline.text(call.get("title"))
        if not self._people:
            events.append(Event(EventType.SYSTEM, f"Allowed by policy: {title}", {"allowed": True}))
            return Step(events, [self._peer.answer(asked, choice(asked.params, allow=True))])
        self._permissions[asked.key] = asked
        meta: EventMeta = {**self._describe(call), "approvalId": asked.key}
        meta["tool"] = self._tools.name(call) or meta["tool"]
        return Step([*events, Event(EventType.WAITING, f"Asks for permission: {title}", meta)])

    def _updated(self, update: Mapping[str, object], line: bytes) -> Step:
        kind = jsonline.text(update.get("sessionUpdate"))
        if not self._prompted:
            self._history = self._history or kind in _HISTORY
            return Step()
        handler = self._updates.get(kind)
        if handler is not None:
            self.alive = True
            return handler(update)
        return Step() if kind in _QUIET else self._unknown(line)

    def _message(self, update: Mapping[str, object]) -> Step:
        piece = content_text(update.get("content"))
        if (said := self._aside(piece)) is not None:
            return Step(said)
        self._answer = (self._answer + piece)[-_TEXT_CAP:]
        return Step(self._piece(EventType.TEXT, piece))

    def _thought(self, update: Mapping[str, object]) -> Step:
        return Step(self._piece(EventType.THINKING, content_text(update.get("content"))))

    def _piece(self, kind: EventType, piece: str) -> list[Event]:
        self._tools.passed()
        return self._words.piece(kind, piece)

    def _tool(self, update: Mapping[str, object]) -> Step:
        events = [*self._flush(), *self._tools.update(update)]
        self._answer = ""
        return Step(events)

    def _plan(self, update: Mapping[str, object]) -> Step:
        event = plan_event(update.get("entries"))
        return Step([event] if event else ())

    def _flush(self, how: EventMeta | None = None) -> list[Event]:
        events = self._words.flush(how)
        self._last_text = self._words.last
        return events
