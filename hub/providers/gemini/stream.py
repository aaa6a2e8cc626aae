"""Gemini CLI over ACP: what it does in its own way.

Owns: Gemini's side of the fold in `hub.providers.acp.stream`.
Must not: repeat the protocol, or classify failures (`failures.py`).

Traps this fold knows, each with a test:
 1. The limit's error has no reset; standard error tells it, perhaps later. Then the outcome waits for the
    process, whose input is closed at once.
 2. `session/load` in the UTC minute in which the session began destroys it: a fresh session takes over.
 3. A turn that is cancelled while text streams leaves the agent's memory whole: task, contract and work. So a
    reply never cancels.
 4. Without a login the program talks to a person on standard output and takes our JSON for an answer.
 5. Retries are told on standard error only (`failures.py`).
 6. A change of the approval mode is told as words of the model ("[MODE_UPDATE] yolo").
 7. A denied tool has no end; tools run one after another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.acp.failures import classify
from hub.providers.acp.setup import YOLO, approval_mode
from hub.providers.acp.stream import AcpStream
from hub.providers.acp.tools import asked_of, content_text
from hub.providers.base import Assignment, ProcessExit, Step
from hub.providers.gemini import failures
from hub.providers.gemini.failures import Retries
from hub.providers.given import addresses, given, shown
from hub.providers.rpc import RpcError

_NO_POLICY = b"Policy file error"
"""One rule that it cannot read drops the whole file, and it goes on without."""
_SHELL = "run_shell_command"
_SEARCHES = frozenset({"grep_search", "search_file_content"})
_NAMED = frozenset({"glob", "list_directory", "read_many_files"})
_WITHIN = re.compile(r" within (.+)\Z", re.DOTALL)
_IN = re.compile(r"\[in ([^\]]+)\]")
_ASKS_LOGIN = re.compile(
    r"authorize the application|enter the authorization code|accounts\.google\.com/o/oauth2", re.IGNORECASE
)
_MODE_UPDATE = re.compile(r"\[MODE_UPDATE\] \w{1,32}")


class GeminiStream(AcpStream):
    """The fold over one dispatch of `gemini --acp`."""

    wording = failures.WORDING

    def __init__(self, assignment: Assignment) -> None:
        people = approval_mode(assignment) != YOLO
        super().__init__(assignment, title="Gemini", people=people, sequential=True)
        self._retries = Retries()

    def feed_stderr(self, line: bytes, now: float) -> Step:
        """One line of standard error: retries and the limit's reset are told nowhere else, nor a policy not taken."""
        if self._assignment.asks and _NO_POLICY in line:
            text = "Gemini does not take the policy that makes it ask before it acts, so it is not started."
            return self._fail([], Failure(FailureClass.CRASH, text))
        return Step(self._retries.feed(line, now))

    def _why(self, end: ProcessExit, now: float) -> Failure:
        found = self._doomed or super()._why(end, now)
        if found.kind is not FailureClass.USAGE_LIMIT:
            return found
        hint = self._retries.hint(now) or failures.last_hint(end.stderr_tail, now)
        return failures.with_reset(found, hint, now)

    def _failure_of(self, error: RpcError, now: float) -> Failure:
        hint = self._retries.hint(now)
        return classify(error.message, error.code, now, hint=hint, wording=self.wording)

    def _fail(self, events: Sequence[Event], failure: Failure) -> Step:
        if failure.kind is FailureClass.USAGE_LIMIT and failure.resets_at is None:
            self._doomed = failure
            return Step(events, close_stdin=True)
        return super()._fail(events, failure)

    def _describe(self, call: Mapping[str, object]) -> EventMeta:
        meta = asked_of(call)
        return {**meta, **self._given(call, meta["tool"])}

    def _given(self, call: Mapping[str, object], tool: str) -> EventMeta:
        """It sends no input but a title, and with it in words what the title leaves out."""
        title = jsonline.text(call.get("title"))
        more = content_text(call.get("content"))
        if (told := jsonline.read(more.encode())) is not None:
            return {**given(tool, told), **shown(told)}  # a tool of the user's own
        if tool in _SEARCHES:
            place = _WITHIN.search(title)
            folder = place[1] if place else "."
            return {"within": [folder], "paths": [folder]}
        if tool == _SHELL:
            place = _IN.search(more)
            return {"cwd": place[1]} if place else {}
        meta: EventMeta = {"texts": [title, *addresses(title)]}
        if tool in _NAMED and title:
            meta["paths"] = [_WITHIN.sub("", title).strip("'\"")]
        if title.endswith("...") or '..."' in title:
            meta["unseen"] = True
        return meta

    def _aside(self, piece: str) -> list[Event] | None:
        return [Event(EventType.SYSTEM, piece)] if _MODE_UPDATE.fullmatch(piece) else None

    def _unknown(self, line: bytes) -> Step:
        if not _ASKS_LOGIN.search(line.decode("utf-8", "replace")) or self._prompted:
            return super()._unknown(line)
        if self._outcome is not None:
            return Step()
        text = "Gemini is not logged in: it asks for a login in the browser."
        return self._fail([], Failure(FailureClass.AUTH, text))
