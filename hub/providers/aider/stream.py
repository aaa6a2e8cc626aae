"""Aider's output: plain text, line by line.

Owns: the fold over its lines; what in them is Aider's own word and what is the model's.
Must not: classify failures (`failures.py` does), or believe the exit code.

A run is: a banner; then for each request the model's text as it streams and a line with the tokens; then what Aider
did with it ("Applied edit to x"). It ends by itself, with status 0 whatever happened.

Traps this fold knows, each with a test:
 1. Nothing sets the model's text apart from Aider's own lines. So an error counts only where the model has said
    nothing in this request (or where the run then ends without its line of tokens), and edits only after the first
    line of tokens: a model that quotes an error message is in no error.
 2. A failure is the last thing that is said: the same lines with "Retrying in ..." behind them are a retry.
 3. A quota that is used up is retried for a minute, each try a paid or counted request: the first ends the run.
 4. A blocked answer is "Empty response received from LLM", a full context "has hit a token limit!": both with 0.
 5. Without model and keys a yes to its question starts a login in a browser and waits there: this ends the run.
"""

from __future__ import annotations

import re

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline
from hub.providers.aider import checks, failures
from hub.providers.aider.failures import Trouble
from hub.providers.base import (
    Assignment,
    ProcessExit,
    Step,
    Stream,
    how_it_ended,
    retry_event,
)

_FLUSH = 8_192
_HEAD_LINES = 40
_BANNER = re.compile(r"Aider v(\S{1,40})")
_MODEL = re.compile(r"(?:Main m|M)odel: (\S{1,200}) with ")
_STARTING = ("Weak model: ", "Editor model: ", "Git repo: ", "Repo-map: ", "Added ", "Warning: ")
_NO_MODEL = "No LLM model was specified and no API keys were provided."
_EMPTY = "Empty response received from LLM."
_FULL = re.compile(r"Model \S{1,200} has hit a token limit!")
_TOKENS = re.compile(
    r"Tokens: (\S{1,12}) sent(?:, (\S{1,12}) cache write)?(?:, (\S{1,12}) cache hit)?, (\S{1,12}) received\."
)
_COST = re.compile(r"Cost: \$(\d{1,9}(?:\.\d{1,12})?) message")
_APPLIED = "Applied edit to "
_OUTPUT = re.compile(r"Added (\d+) lines? of output to the chat\.")
_COMMIT = re.compile(r"Commit ([0-9a-f]{7,40}) (.*)")
_THINKS, _ANSWERS = "► **THINKING**", "► **ANSWER**"
_RULE = re.compile(r"-{8,}")
_COUNT = re.compile(r"(\d{1,9}(?:\.\d{1,3})?)([kM]?)")
_UNITS = {"": 1, "k": 1_000, "M": 1_000_000}


class AiderStream(Stream):
    """The fold over one dispatch."""

    def __init__(self, assignment: Assignment) -> None:
        super().__init__()  # an edit is told when it is done: none is in flight
        self._model = assignment.model
        self._head: list[str] = []
        self._started = False
        self._lines: list[str] = []
        self._size = 0
        self._spoke = False
        """Whether the model has said something in this request."""
        self._thinks = False
        self._requests = 0
        self._attempts = 0
        self._trouble: Trouble | None = None
        self._quoted: Trouble | None = None
        """An error amid the model's text: quoted, unless the run ends here."""
        self._wrong: Failure | None = None
        """What is wrong with the newest answer."""
        self._edits = 0
        self._checks = 0
        self._check = checks.command(jsonline.texts(assignment.options.get("args")))
        self._unchecked = False
        """Whether an edit has been made whose check has not been seen to fail."""

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output; an empty one is part of the text."""
        return self._line(line, now)

    def _line(self, line: bytes, now: float) -> Step:
        text = jsonline.clean(line.decode("utf-8", "replace")).rstrip()
        if self._outcome is not None:
            return Step()
        if not self._started:
            return self._starting(text)
        found = self._own(text, now)
        return found if found is not None else self._says(text)

    def finish(self, end: ProcessExit, now: float) -> Step:
        """The process has ended: only now it is known whether the last error was the end of it."""
        erred = self._trouble or self._quoted or self._wrong
        if self._outcome is not None or end.asked or erred or end.code != 0 or not self._requests:
            return super().finish(end, now)
        return self._completed([*self._flush(), *self._passed()])

    def _left_over(self) -> list[Event]:
        return self._flush()

    def _why(self, end: ProcessExit, now: float) -> Failure:
        trouble = self._trouble or self._quoted
        if trouble is not None:
            return trouble.failure(now)
        head = "" if self._requests else "\n".join(self._head)
        how = f"Aider ended before its answer ({how_it_ended(end)})"
        return self._wrong or failures.from_exit(head, end.stderr_tail, how)

    # Before the first request.

    def _starting(self, text: str) -> Step:
        if text and len(self._head) < _HEAD_LINES:
            self._head.append(text)
        if text.startswith(_NO_MODEL):
            return self._fail([], Failure(FailureClass.AUTH, text))
        found = _BANNER.match(text)
        if found is None:
            return Step()
        self._started = True
        return Step([Event(EventType.SYSTEM, f"Aider {found[1]} started", {"model": self._model})])

    # Lines that are Aider's own.

    def _own(self, text: str, now: float) -> Step | None:
        """What an own line of Aider leads to; None where the line is the model's."""
        if not self._requests and not self._spoke and self._opening(text):
            return Step()
        if (tokens := _TOKENS.match(text)) is not None:
            return self._answered(tokens, text)
        return self._erring(text, now) or self._verdict(text) or self._deed(text)

    def _erring(self, text: str, now: float) -> Step | None:
        if (trouble := failures.trouble(text)) is not None:
            return self._troubled(trouble)
        if (delay := failures.retry_delay(text)) is not None and self._trouble is not None:
            return self._retried(self._trouble, delay, now)
        if self._trouble is not None and text:
            self._trouble = self._trouble.with_line(text)
            return Step()
        return None

    def _opening(self, text: str) -> bool:
        """Whether the line still belongs to the start."""
        if (model := _MODEL.match(text)) is not None:
            self._model = model[1]
            return True
        return text.startswith((*_STARTING, "https://aider.chat/"))

    def _verdict(self, text: str) -> Step | None:
        if text.startswith(_EMPTY) and not self._spoke:
            self._wrong = Failure(FailureClass.REFUSAL, failures.NO_ANSWER)
            return Step()
        if _FULL.fullmatch(text) and self._requests:
            self._wrong = Failure(FailureClass.CONTEXT_OVERFLOW, text)
            return Step()
        if text in (_THINKS, _ANSWERS):
            events = self._flush()
            self._thinks = text == _THINKS
            return Step(events)
        return None

    def _deed(self, text: str) -> Step | None:
        if not self._requests:
            return None
        if (cost := _COST.match(text)) is not None:
            # With cache hits and writes the cost has a line of its own.
            return Step(
                [Event(EventType.USAGE, text, {"costUsdMicros": _micros(cost[1]), "model": self._model})]
            )
        if text.startswith(_APPLIED):
            return self._applied(text.removeprefix(_APPLIED))
        if (added := _OUTPUT.fullmatch(text)) is not None:
            return self._checked(int(added[1]))
        if (commit := _COMMIT.fullmatch(text)) is not None:
            return Step([*self._flush(), Event(EventType.SYSTEM, text, {"commit": commit[1]})])
        return None

    def _answered(self, tokens: re.Match[str], text: str) -> Step:
        """The line that ends a request. The numbers are rounded, as they stand there."""
        events = self._flush()
        self._requests += 1
        self.alive = True
        self._attempts = 0
        said, self._spoke = self._spoke, False
        self._trouble = self._quoted = None
        if said:
            self._wrong = None
        sent, written, hit, received = (_count(number) for number in tokens.groups())
        meta: EventMeta = {
            "tokensIn": max(sent, written + hit),
            "tokensOut": received,
            "cachedIn": hit,
        }
        if (cost := _COST.search(text)) is not None:
            meta["costUsdMicros"] = _micros(cost[1])
        if sent + received:
            events.append(Event(EventType.USAGE, text, {**meta, "model": self._model, "approximate": True}))
        return Step(events)

    def _troubled(self, trouble: Trouble) -> Step | None:
        if self._spoke:
            self._quoted = trouble
            return None
        self._trouble = trouble
        return Step(self._flush())

    def _retried(self, trouble: Trouble, delay: float, now: float) -> Step:
        self._attempts += 1
        failure = trouble.failure(now)
        events = [retry_event(self._attempts, failure, failure.text.partition("\n")[0], delay, now)]
        if trouble.hopeless:
            return self._fail(events, failure)
        self._trouble = None
        return Step(events)

    def _applied(self, path: str) -> Step:
        # The path alone on a line goes before it.
        self._lines = [line for line in self._lines if line.strip() != path]
        self._edits += 1
        self._spoke, self._unchecked = False, True
        meta: EventMeta = {"tool": "edit", "toolId": f"edit-{self._edits}", "path": path}
        use = Event(EventType.TOOL_USE, f"edit {path}", meta)
        return Step(
            [*self._flush(), use, Event(EventType.TOOL_RESULT, _APPLIED + path, {**meta, "isError": False})]
        )

    def _checked(self, count: int) -> Step:
        """A check or linter of the user's failed: it stays silent when all is well. What it wrote is nobody's word."""
        start = max(0, len(self._lines) - count)
        output, self._lines = "\n".join(self._lines[start:]).strip(), self._lines[:start]
        said, self._spoke = self._flush(), False
        self._unchecked = False
        return Step([*said, *self._check_ended(output, failed=True)])

    def _passed(self) -> list[Event]:
        """The check of the last edits, once the run has ended well: Aider is silent about one that passes."""
        return self._check_ended("", failed=False) if self._check and self._unchecked else []

    def _check_ended(self, output: str, *, failed: bool) -> list[Event]:
        self._checks += 1
        meta: EventMeta = {"tool": "check", "toolId": f"check-{self._checks}"}
        if self._check:
            meta["command"] = self._check
        end: EventMeta = (
            {"isError": failed} if failed or not self._check else {"isError": False, "exitCode": 0}
        )
        return [
            Event(EventType.TOOL_USE, f"check {self._check}".rstrip(), meta),
            Event(EventType.TOOL_RESULT, output, {**meta, **end}),
        ]

    # The model's words.

    def _says(self, text: str) -> Step:
        if not text and not self._lines:
            return Step()
        self._lines.append(text)
        self._size += len(text)
        self._spoke = self._spoke or bool(text)
        self.alive = self.alive or self._spoke  # from the model's first words on
        return Step(self._flush(more=True) if self._size >= _FLUSH else ())

    def _flush(self, *, more: bool = False) -> list[Event]:
        said = "\n".join(line for line in self._lines if not _RULE.fullmatch(line)).strip()
        self._lines, self._size = [], 0
        kind = EventType.THINKING if self._thinks else EventType.TEXT
        if not said:
            return []
        if kind is EventType.TEXT:
            self._last_text = said
        return [Event(kind, said + "\n", {"more": True}) if more else Event(kind, said)]


def _count(number: str | None) -> int:
    """A number as Aider writes it: `774`, `1.2k`, `12k`."""
    found = _COUNT.fullmatch(number or "")
    return round(float(found[1]) * _UNITS[found[2]]) if found else 0


def _micros(dollars: str) -> int:
    return round(float(dollars) * 1_000_000)
