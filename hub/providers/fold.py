"""What every fold over a native stream has in common.

Owns: the contract's properties, the frame around one line, what is kept of a line nobody can read, and the one
outcome of a run.
Must not: know a protocol or an agent.

A fold says what its lines mean (`_line`), what is left half said when the process has gone (`_left_over`), and why
it ended without an outcome (`_why`). What it does not override it does not have: replies, approvals, an interrupt.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from hub.domain.event import Event, EventType
from hub.domain.failure import Failure
from hub.providers import jsonline
from hub.providers.base import Ending, Outcome, ProcessExit, Step, Write


class Fold(ABC):
    """The base of a `Stream`; see the rules in `hub.providers.base`."""

    def __init__(self) -> None:
        self._session = ""
        self._alive = False
        self._last_text = ""
        self._failure: Failure | None = None
        """What was told last of why the run may fail."""
        self._doomed: Failure | None = None
        """Why the run is being ended: its failure, whoever ends the process."""
        self._outcome: Outcome | None = None
        self._unknown_lines = 0

    @property
    def native_session(self) -> str:
        """The agent's own session id as soon as it is known, else ""."""
        return self._session

    @property
    @abstractmethod
    def tools_in_flight(self) -> int:
        """Tool calls started and not ended."""

    @property
    def alive(self) -> bool:
        """Whether the agent has shown that it works."""
        return self._alive

    @property
    def unknown_lines(self) -> int:
        """How many lines were of no known form."""
        return self._unknown_lines

    def open(self) -> Step:
        """Nothing to write: the prompt comes another way."""
        return Step()

    def feed(self, line: bytes, now: float) -> Step:
        """One line of standard output."""
        return self._line(line, now) if line.strip() else Step()

    def feed_stderr(self, line: bytes, now: float) -> Step:
        """Standard error holds only a log; `finish` sees its tail."""
        return Step()

    def reply(self, text: str, key: str) -> Sequence[Write]:
        """Takes none."""
        return ()

    def answer(self, approval_id: str, approved: bool, note: str) -> Sequence[Write]:
        """Asks for none."""
        return ()

    def interrupt(self) -> Sequence[Write]:
        """Has none: signals are used."""
        return ()

    def finish(self, end: ProcessExit, now: float) -> Step:
        """The process has ended: what was left half said, and the outcome."""
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
        self._unknown_lines += 1
        return Step([jsonline.unknown(line)])

    def _tell(self, failure: Failure) -> list[Event]:
        """The event of a failure, which may turn out to be the run's; one that was just told is not told again."""
        repeated = self._failure is not None and self._failure.text == failure.text
        self._failure = failure
        return [] if repeated else [failure_event(failure)]

    def _fail(self, events: Sequence[Event], failure: Failure) -> Step:
        """The run has failed, and that is told."""
        return self._end([*events, *self._tell(failure)], Outcome(Ending.FAILED, failure, failure.text))

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
    meta: dict[str, str | int] = {"failure": failure.kind.value}
    if failure.resets_at is not None:
        meta["resetsAt"] = int(failure.resets_at)
    if failure.window:
        meta["window"] = failure.window
    return Event(EventType.ERROR, failure.text, meta)
