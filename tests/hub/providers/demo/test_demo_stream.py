"""The fold over the demo agent's lines, without a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Assignment, Ending, ProcessExit, Step
from hub.providers.demo.stream import DemoStream

ASSIGNMENT = Assignment("d-1", "s-1", "Do it.", Path("/repo"), Path("/run/d-1"))


def fold(lines: list[bytes], end: ProcessExit) -> list[Step]:
    stream = DemoStream(ASSIGNMENT)
    return [stream.open(), *(stream.feed(line, 0.0) for line in lines), stream.finish(end, 0.0)]


@pytest.mark.parametrize(
    ("end", "ending", "kind"),
    [
        (ProcessExit(0), Ending.FAILED, FailureClass.CRASH),
        (ProcessExit(None, 9), Ending.FAILED, FailureClass.CRASH),
        (ProcessExit(None, 15, asked=True), Ending.INTERRUPTED, None),
    ],
)
def test_an_end_without_a_last_line_is_a_crash_unless_it_was_asked_for(end, ending, kind):
    [outcome] = [step.outcome for step in fold([], end) if step.outcome is not None]
    assert (outcome.ending, outcome.failure.kind if outcome.failure else None) == (ending, kind)


def test_an_answered_approval_waits_no_more():
    stream = DemoStream(ASSIGNMENT)
    [event] = stream.feed(b'{"type": "approve", "id": "a-1", "action": "push"}', 0.0).events
    assert event.type is EventType.WAITING
    assert [write.key for write in stream.answer("a-1", True, "")] == ["answer-a-1"]
    stream.feed(b'{"type": "answered", "id": "a-1", "approved": true}', 0.0)
    assert stream.answer("a-1", True, "") == ()
