"""Claude Code's stream-json, both ways.

Owns: the fold from its lines to events, writes and an outcome; when a run is over.
Must not: classify failures (`failures.py`) or take tools apart (`tools.py`).

Traps this fold knows, each with a test:
 1. `result.subtype` says "success" also for a limit, an overload, a refusal or a bad login: `is_error` does.
 2. A message of the model `<synthetic>` holds the program's own words, not the model's.
 3. A bad API key is retried for three minutes; the second 401 ends the run here.
 4. `usage` of assistant lines is the start value, a lower bound, and one message comes in several lines; `modelUsage` and
    `total_cost_usd` of a resumed session begin with what was spent before. Only
    `model_usage_since_last_result` is this turn's.
 5. The process outlives its result and waits for more; `queued_turn_count` is 0 even when one is queued.
    A user message that carries a `uuid` is reported as `command_lifecycle`, which tells whether it was taken,
    and is taken once however often it is sent.
 6. A message sent while a tool runs joins the running turn; one sent while text streams makes the next turn.
 7. `init` comes at the start of every turn.
 8. A line may arrive cut: an edit of a large file carries the whole file twice. Its tool call still ends.
 9. An interrupted turn ends with `is_error`, and its `usage` is zero.
10. A subagent works on in the background when the turn that started it has its result; its own end makes another turn.
    A command in the background, such as a server, may never end: nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.base import Assignment, Ending, Outcome, ProcessExit, Step, Stream, Write, how_it_ended
from hub.providers.claude import failures
from hub.providers.claude.asks import ClaudeRequests, initialize
from hub.providers.claude.inbox import ClaudeInput, is_command, own_commands
from hub.providers.claude.tools import ClaudeToolCalls, block_text
from hub.providers.claude.usage import ClaudeUsage, quota_events

_SYNTHETIC = "<synthetic>"
_AUTH_PATIENCE = 2
"""A token may expire and be refreshed after one 401; the second one tells of a bad login."""
_INIT = "init"
_QUIET = frozenset({"thinking_tokens", "status", "session_state_changed", "hook_progress"})
_NOTED = frozenset({
    "informational",
    "task_started",
    "task_notification",
    "task_progress",
    "task_updated",
    "compact_boundary",
    "hook_started",
    "hook_response",
    "local_command_output",
    "files_persisted",
    "model_refusal_fallback",
})  # fmt: skip

_Handler = Callable[[Mapping[str, object]], Step]


class ClaudeStream(Stream):
    """The fold over one dispatch of Claude Code."""

    def __init__(self, assignment: Assignment) -> None:
        self._tools = ClaudeToolCalls()
        super().__init__(self._tools)
        self._inbox = ClaudeInput(assignment.dispatch_id, held=assignment.asks)
        self._now = 0.0
        self._prompt = assignment.prompt
        self._held = assignment.asks
        self._waits = self._held or is_command(self._prompt)
        """Whether the prompt waits until the program has taken the hook that makes it ask for every tool, or has told
        which commands are the user's own."""
        self._model = ""
        self._turns = 0
        self._agents = 0
        """Subagents that work in the background."""
        self._asks = ClaudeRequests()
        self._usage = ClaudeUsage()
        self._signs = failures.Signs()
        self._partial: list[str] = []
        self._handlers: dict[str, _Handler] = {
            "system": self._system,
            "assistant": self._assistant,
            "user": self._user,
            "result": self._result,
            "rate_limit_event": self._rate_limit,
            "stream_event": self._stream_event,
            "command_lifecycle": self._lifecycle,
            "control_request": self._control_request,
            "control_cancel_request": self._control_cancel,
            "control_response": self._control_response,
            "keep_alive": lambda _: Step(),
        }

    def open(self) -> Step:
        """The prompt, as the first user message, or what it waits for."""
        if self._waits:
            return Step(writes=[Write(_INIT, initialize(_INIT, every_tool=self._held))])
        return Step(writes=[self._inbox.message("prompt", self._prompt)])

    def _line(self, line: bytes, now: float) -> Step:
        message = jsonline.read(line)
        handler = self._handlers.get(jsonline.text(message.get("type"))) if message is not None else None
        if message is None or handler is None:
            return self._unknown(line)
        self._now = now
        return handler(message)

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """A further user message, or the answer to an open question of the agent."""
        if self._outcome is not None:
            return ()
        if (answer := self._asks.answer_question(text)) is not None:
            return [Write(key, answer)]
        return [self._inbox.message(key, text)]

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Allows or denies a tool call that waits; () when nothing of that id waits."""
        data = self._asks.answer(approval_id, approved=approved, note=note)
        if data is None:
            return []
        writes = [Write(f"answer-{approval_id}", data)]
        # A yes has no room for words: they join the turn that runs.
        return [*writes, self._inbox.message(f"note-{approval_id}", note)] if approved and note else writes

    def interrupt(self) -> Sequence[Write]:
        """Ends the turn and drops queued messages; the partial text comes with it, the process stays."""
        return () if self._outcome is not None else [self._inbox.interrupt(self._turns)]

    def _why(self, end: ProcessExit, now: float) -> Failure:
        if self._signs != failures.Signs():
            return failures.classify(self._signs, now)
        how = f"Claude Code ended without a result ({how_it_ended(end)})"
        return failures.WORDING.of_exit(end.stderr_tail, now, how)

    def _unknown(self, line: bytes) -> Step:
        """A tool result that was too long to be kept whole ends its call."""
        step = super()._unknown(line)
        if (call := self._tools.lost(line)) is None:
            return step
        [event] = step.events
        return Step([Event(EventType.TOOL_RESULT, event.content, {**call, "unknown": True})])

    def _system(self, message: Mapping[str, object]) -> Step:
        subtype = jsonline.text(message.get("subtype"))
        if subtype == "init":
            return self._init(message)
        if subtype == "api_retry":
            return self._retry(message)
        if subtype == "model_refusal_no_fallback":
            self._signs = failures.Signs(refused=True)
            return Step()
        if subtype == "background_tasks_changed":
            tasks = map(jsonline.mapping, jsonline.items(message.get("tasks")))
            self._agents = sum(task.get("task_type") == "local_agent" for task in tasks)
            return Step()
        if subtype in _QUIET:
            return Step()
        fields = ("content", "summary", "description", "message")
        said = next((found for field in fields if (found := jsonline.text(message.get(field)))), subtype)
        meta: EventMeta = {"subtype": subtype}
        if subtype not in _NOTED:
            meta["unknown"] = True
        return Step([Event(EventType.SYSTEM, said, meta)])

    def _init(self, message: Mapping[str, object]) -> Step:
        model = jsonline.text(message.get("model"))
        if self.native_session and model == self._model:
            return Step()
        self.native_session = jsonline.text(message.get("session_id"))
        self.alive = True
        self._model = model
        servers = (jsonline.mapping(server) for server in jsonline.items(message.get("mcp_servers")))
        meta: EventMeta = {
            "nativeSession": self.native_session,
            "model": model,
            "version": jsonline.text(message.get("claude_code_version")),
            "tools": jsonline.texts(message.get("tools")),
            "skills": jsonline.texts(message.get("skills")),
            "mcps": [name for server in servers if (name := jsonline.text(server.get("name")))],
        }
        return Step([Event(EventType.SYSTEM, f"Claude Code started with {model}", meta)])

    def _retry(self, message: Mapping[str, object]) -> Step:
        attempt = jsonline.count(message.get("attempt"))
        status = jsonline.integer(message.get("error_status"))
        error = jsonline.text(message.get("error"))
        kind = failures.retry_class(status, error)
        delay = jsonline.count(message.get("retry_delay_ms"))
        meta: EventMeta = {
            "attempt": attempt,
            "maxAttempts": jsonline.count(message.get("max_retries")),
            "delayMs": delay,
            "failure": kind.value,
            "nextAt": int(self._now + delay / 1000) + 1,
        }
        if status is not None:
            meta["status"] = status
        why = " ".join([str(status or "no answer"), *({error} - {"", "unknown"})])
        said = f"Attempt {attempt} failed ({why}), next in {delay / 1000:.1f} s"
        events = [Event(EventType.RETRY, said, meta)]
        if kind is not FailureClass.AUTH or attempt < _AUTH_PATIENCE or self._outcome is not None:
            return Step(events)
        return self._fail(
            events, Failure(FailureClass.AUTH, f"The login or key was not accepted ({status} {error})")
        )

    def _assistant(self, message: Mapping[str, object]) -> Step:
        inner = jsonline.mapping(message.get("message"))
        if message.get("is_api_error_message") is True or inner.get("model") == _SYNTHETIC:
            return self._own_words(message, inner)
        used = self._usage.message(inner)
        meta: EventMeta = {}
        if message.get("aborted") is True:
            meta["partial"] = True
        if parent := jsonline.text(message.get("parent_tool_use_id")):
            meta["parent"] = parent
        else:
            self._partial.clear()
        blocks = (jsonline.mapping(block) for block in jsonline.items(inner.get("content")))
        return Step([*(event for block in blocks if (event := self._block(block, meta))), *used])

    def _block(self, block: Mapping[str, object], meta: EventMeta) -> Event | None:
        match block.get("type"):
            case "text":
                said = jsonline.text(block.get("text"))
                return Event(EventType.TEXT, said, meta) if said.strip() else None
            case "thinking":
                said = jsonline.text(block.get("thinking"))
                return Event(EventType.THINKING, said, meta) if said.strip() else None
            case "redacted_thinking":
                return None
            case "tool_use":
                found = self._tools.use(block)
                said = found.get("command") or found.get("path") or ""
                return Event(EventType.TOOL_USE, f"{found['tool']} {said}".strip(), {**found, **meta})
            case other:
                return Event(
                    EventType.SYSTEM, f"content block {jsonline.text(other)}", {**meta, "unknown": True}
                )

    def _own_words(self, message: Mapping[str, object], inner: Mapping[str, object]) -> Step:
        said = block_text(inner.get("content"))
        if message.get("is_api_error_message") is not True and not jsonline.text(message.get("error")):
            return Step([Event(EventType.SYSTEM, said)] if said else ())
        self._signs = failures.signs(message, said, inner.get("stop_reason"), self._signs)
        return Step(self._tell(failures.classify(self._signs, self._now)))

    def _user(self, message: Mapping[str, object]) -> Step:
        if message.get("isReplay") is True:
            self._inbox.replayed(message)
            return Step()
        content = jsonline.mapping(message.get("message")).get("content")
        blocks = [jsonline.mapping(block) for block in jsonline.items(content)]
        results = [block for block in blocks if block.get("type") == "tool_result"]
        parent = jsonline.text(message.get("parent_tool_use_id"))
        meta: EventMeta = {"parent": parent} if parent else {}
        if not results:
            said = block_text(content)
            return Step([Event(EventType.SYSTEM, said, meta)] if said else ())
        detail = jsonline.mapping(message.get("tool_use_result"))
        events = []
        for block in results:
            said, found = self._tools.result(block, detail)
            self._asks.settle(found["toolId"])
            events.append(Event(EventType.TOOL_RESULT, said, {**found, **meta}))
        return Step(events)

    def _rate_limit(self, message: Mapping[str, object]) -> Step:
        info = jsonline.mapping(message.get("rate_limit_info"))
        if info.get("status") == "rejected" and info.get("isUsingOverage") is not True:
            window = jsonline.text(info.get("rateLimitType"))
            self._signs = failures.Signs(
                rejected=True, resets_at=jsonline.instant(info.get("resetsAt")), window=window
            )
        return Step(quota_events(info))

    def _stream_event(self, message: Mapping[str, object]) -> Step:
        event = jsonline.mapping(message.get("event"))
        delta = jsonline.mapping(event.get("delta"))
        if event.get("type") == "message_start":
            self._partial.clear()
        elif delta.get("type") == "text_delta" and not jsonline.text(message.get("parent_tool_use_id")):
            self._partial.append(jsonline.text(delta.get("text")))
        return Step()

    def _lifecycle(self, message: Mapping[str, object]) -> Step:
        self._inbox.lifecycle(message)
        return Step()

    def _control_request(self, message: Mapping[str, object]) -> Step:
        asked = self._asks.ask(message)
        if isinstance(asked, Event):
            return Step([asked])
        return Step(writes=[Write(f"answer-{jsonline.text(message.get('request_id'))}", asked)])

    def _control_cancel(self, message: Mapping[str, object]) -> Step:
        number = jsonline.text(message.get("request_id"))
        if not self._asks.withdraw(number):
            return Step()
        said = "The permission request was withdrawn"
        return Step([Event(EventType.SYSTEM, said, {"approvalId": number, "withdrawn": True})])

    def _control_response(self, message: Mapping[str, object]) -> Step:
        response = jsonline.mapping(message.get("response"))
        failed = response.get("subtype") == "error"
        if response.get("request_id") == _INIT and self._waits:
            self._waits = False
            if not (failed and self._held):
                own = own_commands(jsonline.mapping(response.get("response")))
                return Step(writes=[self._inbox.message("prompt", self._prompt, own)])
            why = jsonline.text(response.get("error"))
            text = f"Claude Code cannot be made to ask before it acts ({why}); update it: claude update"
            return self._fail([], Failure(FailureClass.CRASH, text))
        if not failed:
            return Step()
        return Step(
            [
                Event(
                    EventType.SYSTEM, f"Claude Code refused a request: {jsonline.text(response.get('error'))}"
                )
            ]
        )

    def _result(self, message: Mapping[str, object]) -> Step:
        self._turns += 1
        if not self._agents:
            self._tools.clear()
        said = jsonline.text(message.get("result")) or "\n".join(jsonline.texts(message.get("errors")))
        outcome = self._verdict(message, said)
        events = [*self._unpublished(), *self._usage.turn(message)]
        meta: EventMeta = {"isError": message.get("is_error") is True}
        if outcome is not None and outcome.ending is Ending.INTERRUPTED:
            said = "The turn was interrupted"  # Claude Code says something about its own diagnostics here
            meta["interrupted"] = True
        if outcome is not None and outcome.failure is not None:
            meta["failure"] = outcome.failure.kind.value
            if not self._signs.text:
                events += self._tell(outcome.failure)
        events.append(Event(EventType.RESULT, said, meta))
        return Step(events) if outcome is None else self._end(events, outcome)

    def _verdict(self, message: Mapping[str, object], said: str) -> Outcome | None:
        """How the turn ended; None when a message that was not taken yet, or a subagent's end, makes another turn."""
        if jsonline.text(message.get("terminal_reason")).startswith("aborted"):
            return Outcome(Ending.INTERRUPTED)
        if message.get("is_error") is True or jsonline.text(message.get("subtype")) != "success":
            signs = failures.signs(message, said, message.get("stop_reason"), self._signs)
            failure = failures.classify(signs, self._now)
            return Outcome(Ending.FAILED, failure, said)
        self._signs = failures.Signs()
        if self._inbox.waiting or self._agents:
            return None
        return Outcome(Ending.DONE, text=said)

    def _left_over(self) -> list[Event]:
        self._tools.clear()
        return self._unpublished()

    def _unpublished(self) -> list[Event]:
        """Text that was streamed and never came as a whole."""
        said = "".join(self._partial)
        self._partial.clear()
        return [Event(EventType.TEXT, said, {"partial": True})] if said.strip() else []
