"""The base of every fold: one outcome, each failure told once, and nothing a fold does not have.

And what each agent's own keeps of it: the rules at the head of `hub/providers/base.py`, on captured runs.
"""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.event import EventType
from hub.domain.failure import Failure, FailureClass
from hub.providers import registry
from hub.providers.base import Ending, Outcome, ProcessExit, Step, Stream, failure_event
from tests.hub.providers import captured
from tests.hub.providers.captured import CAPTURES, NOW, Folded, exit_of, fold, lines_of, stderr_of

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
    assert failure_event(LIMIT).meta == {"failure": "usage_limit", "resetsAt": 1001, "window": "day"}


RUNS = sorted(path.parent.relative_to(CAPTURES).parts for path in CAPTURES.glob("*/*/stdout.*"))
"""Each captured run: its folder's name, which begins with the agent's, and its own."""
ASSIGNMENT = attrs.evolve(captured.ASSIGNMENT, model="openai/gpt-5.5")
DEMO = [
    json.dumps(
        {"type": kind, "id": "a", "text": "x", "tool": "run", "exitCode": 0, "used": 0.5, **more}
    ).encode()
    for kind, more in [
        *(
            (kind, {})
            for kind in ("start", "text", "thinking", "heard", "tool", "tool_result", "usage", "quota")
        ),
        *(
            (kind, {})
            for kind in ("ask", "approve", "answered", "interrupted", "limit", "overload", "refusal")
        ),
        *((kind, {}) for kind in ("auth", "context", "error", "done")),
        ("plan", {"plan": ["x"]}),
    ]
]


def whole(source: str, run: str) -> Folded:
    """A captured run; one of a session that is resumed, as such."""
    given = attrs.evolve(ASSIGNMENT, resume_id="s-1-native" if run.startswith("resume") else "")
    agent = registry.load(source.partition("-")[0])
    stderr = stderr_of(source, run)
    return fold(agent, given, lines_of(source, run), end=exit_of(source, run), stderr=stderr)


@pytest.mark.parametrize(("source", "run"), RUNS)
def test_the_same_lines_make_the_same_steps(source, run):
    """A daemon that comes back folds the spool from its first byte and must come to the same place."""
    folded = whole(source, run)
    assert folded.steps == whole(source, run).steps
    assert folded.ended[0] == folded.ended[-1], "the end of the process repeats the outcome of the turn"


@pytest.mark.parametrize(("source", "run"), RUNS)
def test_every_line_is_understood_and_no_tool_stays_in_flight(source, run):
    folded = whole(source, run)
    assert (folded.unknown, folded.stream.tools_in_flight) == (0, 0)


@pytest.mark.parametrize(("source", "run"), RUNS)
def test_events_hold_json_and_no_float(source, run):
    """Meta enters contracts, whose canonical form knows no floats."""
    text = json.dumps([event.to_json() for event in whole(source, run).events], allow_nan=False)
    json.loads(text, parse_float=lambda raw: pytest.fail(f"a float: {raw}"))


@pytest.mark.parametrize(("source", "run"), RUNS)
def test_a_run_cut_off_anywhere_still_has_an_outcome(source, run):
    """kill -9 at any line: the fold never raises and always ends."""
    agent, lines = registry.load(source.partition("-")[0]), lines_of(source, run)
    for length in range(len(lines)):
        folded = fold(agent, ASSIGNMENT, lines[:length], end=ProcessExit(None, 9))
        assert len({id(outcome) for outcome in folded.ended}) == 1


ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["turn-x", "settle-x", "k\nx"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def odd_lines(draw: st.DrawFn, run: list[bytes]) -> list[bytes]:
    """A run up to some line, there any bytes, another of its lines, or this one with anything in it, and some more of it."""
    at = draw(st.integers(0, len(run) - 1))
    kinds = [
        st.binary(max_size=200),
        st.sampled_from(run),
        *([_bent(run[at])] * 2 if run[at][:1] == b"{" else []),
    ]
    odd = draw(st.one_of(kinds))
    return [*run[:at], *draw(st.sampled_from([[odd], [odd, run[at]], [run[at], odd]])), *run[at + 1 :][:8]]


@st.composite
def _bent(draw: st.DrawFn, line: bytes) -> bytes:
    value: Any = json.loads(line)
    place = value
    while True:
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or draw(st.booleans()):
            place[key] = draw(ANY_JSON)
            return json.dumps(value).encode()
        place = inner


@pytest.mark.parametrize("agent", [*sorted({source.partition("-")[0] for source, _ in RUNS}), "demo-first"])
@given(data=st.data())
def test_any_lines_fold_to_events_that_can_be_kept_and_to_one_outcome(agent, data):
    """Rule 3: a line that cannot be read never raises."""
    runs = [lines_of(*run) for run in RUNS if run[0].partition("-")[0] == agent] or [DEMO]
    lines = data.draw(st.sampled_from(runs).flatmap(odd_lines))
    stderr = data.draw(st.lists(st.binary(max_size=120), max_size=2))
    given = attrs.evolve(ASSIGNMENT, resume_id=data.draw(st.sampled_from(["", "s-1-native"])))
    folded = fold(registry.load(agent), given, lines, end=ProcessExit(1), stderr=stderr, now=NOW)
    for event in folded.events:
        json.dumps(event.to_json(), allow_nan=False).encode()
    assert len({id(outcome) for outcome in folded.ended}) == 1
