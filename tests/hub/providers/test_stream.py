"""The base of every fold: one outcome, each failure told once, and nothing a fold does not have."""

from __future__ import annotations

from hub.domain.event import EventType
from hub.domain.failure import Failure, FailureClass
from hub.providers.base import Ending, Outcome, ProcessExit, Step, Stream, failure_event

LIMIT = Failure(FailureClass.USAGE_LIMIT, "used up", 1000.5, "day")


class Words(Stream):
    """A fold over lines that are words: `limit` fails, `done` ends, the rest is unknown."""

    @property
    def tools_in_flight(self):
        return 0

    def _line(self, line, now):
        match line:
            case b"limit":
                return self._fail([], LIMIT)
            case b"warn":
                step = self._unknown(line)
                return type(step)([*step.events, *self._tell(LIMIT)])
            case b"doomed":
                self._doomed = LIMIT
                return Step()
            case b"done":
                return self._end([], Outcome(Ending.DONE))
        return self._unknown(line)

    def _left_over(self):
        return []

    def _why(self, end, now):
        return self._doomed or Failure(FailureClass.CRASH, f"gone at {now}")


def test_it_keeps_the_contract_of_a_stream():
    fold = Words()
    assert isinstance(fold, Stream)
    assert (fold.native_session, fold.alive) == ("", False)
    assert [*fold.reply("x", "k"), *fold.answer("a", True, ""), *fold.interrupt()] == []
    assert not fold.open().writes
    assert not fold.feed_stderr(b"x", 0.0).events


def test_an_empty_line_says_nothing_and_an_unknown_one_is_kept():
    fold = Words()
    assert not fold.feed(b"  ", 0.0).events
    [event] = fold.feed(b"?", 0.0).events
    assert event.meta["unknown"] is True


def test_the_first_outcome_holds():
    fold = Words()
    assert fold.feed(b"limit", 0.0).outcome.ending is Ending.FAILED
    later = fold.feed(b"done", 0.0)
    assert (later.outcome, later.close_stdin) == (None, True)
    assert fold.finish(ProcessExit(0), 1.0).outcome.failure == LIMIT


def test_a_failure_is_told_once():
    fold = Words()
    told = [event for line in (b"warn", b"warn", b"limit") for event in fold.feed(line, 0.0).events]
    assert [event for event in told if event.type is EventType.ERROR] == [failure_event(LIMIT)]


def test_a_process_that_leaves_has_failed_unless_hub_asked():
    [event] = Words().finish(ProcessExit(1), 7.0).events
    assert (event.content, event.meta) == ("gone at 7.0", {"failure": "crash"})
    assert Words().finish(ProcessExit(None, 15, asked=True), 7.0).outcome.ending is Ending.INTERRUPTED


def test_a_run_that_is_being_ended_for_a_reason_ends_so_whoever_ends_the_process():
    fold = Words()
    fold.feed(b"doomed", 0.0)
    assert fold.finish(ProcessExit(None, 15, asked=True), 7.0).outcome.failure == LIMIT


def test_a_failure_tells_its_reset_in_whole_seconds():
    assert failure_event(LIMIT).meta == {"failure": "usage_limit", "resetsAt": 1000, "window": "day"}
