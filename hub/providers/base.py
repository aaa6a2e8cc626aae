"""The shape every agent folder has.

Owns: the values of an adapter's pure half, and `Stream`, the fold over what the agent writes: the frame around one
line, what is kept of a line nobody can read, and the one outcome of a run. `provider.py` has the other half.
Must not: open files, processes or sockets, read a clock, or know any one agent or protocol.

Theory of operation. A `Stream` is a *deterministic fold*: given the same assignment and the same lines it makes
the same events and the same writes. The daemon may die at any moment; the agent lives on under its runner,
which spools every byte. The next daemon replays the spool from its first byte into a fresh `Stream`, drops the
events whose offsets are already in the event log, and sends every write again; the runner takes each write
once, by its `key`. So nothing is lost and nothing is done twice. Hence the rules:
 1. `feed` and friends use only their arguments and the state they built before. No clock, no random.
 2. A write caused by a line has a key derived from the protocol (`init`, `turn-1`, `answer-<request id>`).
 3. A line that cannot be read becomes one `system` event with `meta.unknown`, and never raises.

Tests: tests/hub/providers/test_stream.py
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence, Sized
from enum import StrEnum
from pathlib import Path
from typing import Any

import attrs

from hub.domain.accounts.account import Account
from hub.domain.event import Event, EventType
from hub.domain.failure import Failure, FailureClass
from hub.domain.meta import EventMeta
from hub.providers import jsonline


@attrs.frozen
class Capabilities:
    """What an adapter can do; served with the provider's configuration."""

    replies: bool = False
    """Takes a user's reply while it runs."""
    interrupt: bool = False
    """Has a protocol interrupt that ends the turn and keeps the process."""
    resume: bool = False
    """Can continue a native session by id."""
    approvals: bool = False
    """Asks before it acts, over the protocol."""
    quota: bool = False
    """Reports quota windows in its stream."""
    cost: bool = False
    """Reports its own cost figure."""
    accounts: bool = False
    """Keeps the logins of several accounts apart: an account may have a directory of its own."""
    system_prompt: bool = False
    """Takes the envelope beside its own system prompt (otherwise it is the head of the first message)."""


class Stdin(StrEnum):
    """What the agent's standard input is."""

    NULL = "null"
    PIPE = "pipe"


_DEFAULT_ACCOUNT = Account("default")
_OPTION = re.compile(
    r"\A(?:error: )?(?:unknown|unexpected|unrecognized) (?:option|argument)s?:? ['\"`]?-[\w-]*['\"`]?(?: found)?(?:[.\n]|\Z)"
    r"|(?<=\n\n)unknown arguments?: [^\n]+\Z",
    re.IGNORECASE,
)
"""How the libraries that read command lines refuse one, first of all or below their help: that of an older program, or of
a user's own. The same in other places is another program's."""


@attrs.frozen
class Assignment:
    """What one dispatch asks of an agent. Everything a `Launch` and a `Stream` may depend on."""

    dispatch_id: str
    session_id: str
    prompt: str
    """The user's task, or the short instruction that points at the envelope."""
    worktree: Path
    run_dir: Path
    """`.hub/run/<dispatch id>/`: files made for this dispatch live here."""
    program: str = ""
    """Path of the agent's program; empty = find it on PATH by its usual name."""
    envelope: str = ""
    """Text of the contract to inject; "" on a first start."""
    envelope_path: Path | None = None
    """The same text as a file that is there before the start; None without a contract."""
    resume_id: str = ""
    """Native session id to continue; "" = a fresh session."""
    native_id: str = ""
    """A UUID the agent may be told to use as its session id, where it can."""
    model: str = ""
    base_url: str = ""
    account: Account = _DEFAULT_ACCOUNT
    options: Mapping[str, Any] = attrs.field(factory=dict)
    """The provider's own table in `hub.toml` (for `demo`: `script`)."""
    asks: bool = False
    """Whether the agent must ask before it acts, as far as its own options do not say otherwise: rules wait for that."""


@attrs.frozen
class Launch:
    """How to start the agent. `env` holds only what the agent needs on top of the allow-listed base."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    stdin: Stdin = Stdin.NULL
    files: Mapping[str, bytes] = attrs.field(factory=dict)
    """Files to write (0600) into `run_dir` before the start: name -> bytes. Prompts go here, never into argv."""


@attrs.frozen
class Write:
    """Bytes for the agent's standard input. The runner takes each `key` once."""

    key: str
    data: bytes


class Ending(StrEnum):
    """How a run ended, as the stream tells it."""

    DONE = "done"
    """The agent says it has finished (the verifier decides whether it has)."""
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """It was stopped because hub asked."""


@attrs.frozen
class Outcome:
    """The end of a run."""

    ending: Ending
    failure: Failure | None = None
    text: str = ""
    """The agent's last words."""


@attrs.frozen
class Step:
    """What one line led to."""

    events: Sequence[Event] = ()
    writes: Sequence[Write] = ()
    outcome: Outcome | None = None
    """Set once, when the stream itself tells that the turn is over. The process may still be alive."""
    close_stdin: bool = False
    """True when the agent is done with its input and only waits for EOF to leave."""


@attrs.frozen
class ProcessExit:
    """How the process ended, as the runner saw it."""

    code: int | None
    """Exit code; None when a signal ended it."""
    signal: int | None = None
    asked: bool = False
    """Whether hub had asked it to stop."""
    stderr_tail: str = ""
    """The last 64 KiB of standard error, decoded."""


class Stream(ABC):
    """The fold over an agent's native stream. One per dispatch; see the module's rules.

    An agent's own says what its lines mean (`_line`), what is left half said when the process has gone (`_left_over`),
    and why it ended without an outcome (`_why`). What it does not override it does not have: replies, approvals, an
    interrupt.
    """

    def __init__(self, calls: Sized = ()) -> None:
        self._running = calls
        """The calls of tools that run, those of subagents included, or wait for permission."""
        self.native_session = ""
        """The agent's own session id as soon as it is known."""
        self.alive = False
        """Whether the agent's program has shown that it runs (its first own event)."""
        self._last_text = ""
        self._failure: Failure | None = None
        """What was told last of why the run may fail."""
        self._doomed: Failure | None = None
        """Why the run is being ended: its failure, whoever ends the process."""
        self._outcome: Outcome | None = None

    @property
    def tools_in_flight(self) -> int:
        """Tool calls started and not ended: 0 is a safe point."""
        return len(self._running)

    def open(self) -> Step:
        """What to write at the very start: nothing, where the prompt comes another way."""
        return Step()

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output without its newline; `now` is the spool's time, epoch seconds."""
        return self._line(line, now) if line.strip() else Step()

    def feed_stderr(self, line: bytes, now: float) -> Step:
        """One line of standard error. For most a log; some tell their retries only there."""
        return Step()

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """Writes for a user's reply; () when replies are not supported or not possible at this moment."""
        return ()

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Writes for the answer to a permission request."""
        return ()

    def interrupt(self) -> Sequence[Write]:
        """Writes of the protocol's own interrupt; () when it has none (signals are used then)."""
        return ()

    def finish(self, end: ProcessExit, now: float) -> Step:
        """The process has ended and all its lines were fed: what was left half said and, always, an outcome."""
        events = self._left_over()
        if end.asked and not self._over():
            self._outcome = Outcome(Ending.INTERRUPTED, text=self._last_text)
        if self._outcome is None:
            failure = self._why(end, now)
            events += self._tell(failure)
            self._outcome = Outcome(Ending.FAILED, failure, failure.text)
        return Step(events, outcome=self._outcome)

    @abstractmethod
    def _line(self, line: bytes, now: float) -> Step:
        """One line that is not empty."""

    @abstractmethod
    def _left_over(self) -> list[Event]:
        """Forget what is in flight; the events of what was left half said."""

    @abstractmethod
    def _why(self, end: ProcessExit, now: float) -> Failure:
        """The failure of a process that left in the middle of its turn."""

    def _over(self) -> bool:
        """Whether it is settled how the run ends: nothing more may be asked of the agent."""
        return self._outcome is not None or self._doomed is not None

    def _unknown(self, line: bytes) -> Step:
        return Step([jsonline.unknown(line)])

    def _tell(self, failure: Failure) -> list[Event]:
        """The event of a failure, which may turn out to be the run's; one that was just told is not told again."""
        repeated = self._failure is not None and self._failure.text == failure.text
        self._failure = failure
        return [] if repeated else [failure_event(failure)]

    def _fail(self, events: Sequence[Event], failure: Failure) -> Step:
        """The run has failed, and that is told."""
        return self._end([*events, *self._tell(failure)], Outcome(Ending.FAILED, failure, failure.text))

    def _completed(self, events: Sequence[Event]) -> Step:
        """The agent says that it has finished, by what it said last."""
        result = Event(EventType.RESULT, self._last_text, {"isError": False})
        return self._end([*events, result], Outcome(Ending.DONE, text=self._last_text))

    def _interrupted(self, events: Sequence[Event]) -> Step:
        """The turn was stopped because hub asked."""
        result = Event(EventType.RESULT, "The turn was interrupted", {"isError": False, "interrupted": True})
        return self._end([*events, result], Outcome(Ending.INTERRUPTED, text=self._last_text))

    def _end(self, events: Sequence[Event], outcome: Outcome) -> Step:
        """The first outcome holds."""
        if self._outcome is not None:
            return Step(events, close_stdin=True)
        self._outcome = outcome
        return Step(events, outcome=outcome, close_stdin=True)


def how_it_ended(end: ProcessExit) -> str:
    """The end of a process in words: "signal 9", "exit code 1"."""
    return f"signal {end.signal}" if end.signal is not None else f"exit code {end.code}"


def failure_event(failure: Failure) -> Event:
    """The error event of a failure."""
    meta: EventMeta = {"failure": failure.kind.value}
    if failure.resets_at is not None:
        meta["resetsAt"] = int(failure.resets_at)
    if failure.window:
        meta["window"] = failure.window
    return Event(EventType.ERROR, failure.text, meta)


def crash(how: str, words: str) -> Failure:
    """The failure of a process that left without telling why, with what it wrote elsewhere, if anything."""
    if _OPTION.search(words.strip()):
        how = f"{how}; it does not know an option that it is given, so update it or look at its `args` in hub.toml"
    return Failure(FailureClass.CRASH, f"{how}: {words}" if words else how)


def retry_event(attempt: int, failure: Failure, why: str, wait: float, now: float) -> Event:
    """The event of an attempt that failed, and of the seconds until the next."""
    meta: EventMeta = {
        "attempt": attempt,
        "failure": failure.kind.value,
        "delayMs": int(wait * 1000),
        "resetsAt": int(now + wait) + 1,
    }
    return Event(EventType.RETRY, f"Attempt {attempt} failed ({why}), next in {wait:.1f} s", meta)


def plan_event(
    entries: object, *, step: str = "content", done: Collection[str] = ("completed",), words: str = ""
) -> Event | None:
    """The event of a plan; None for an empty one.

    Args:
        entries: The steps, an object each.
        step: The member with a step's words; `status` has its state.
        done: The states in which a step does not remain.
        words: What the agent says of the plan, if anything.
    """
    steps = [(jsonline.text(one.get(step)), one) for one in map(jsonline.mapping, jsonline.items(entries))]
    plan = [said for said, _ in steps if said]
    rest = [said for said, one in steps if said and jsonline.text(one.get("status")) not in done]
    if not plan:
        return None
    said = words or f"Plan: {len(plan) - len(rest)} of {len(plan)} done"
    return Event(EventType.SYSTEM, said, {"plan": plan, "tasksRemaining": rest})
