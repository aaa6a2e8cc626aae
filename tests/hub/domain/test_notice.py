"""What is news, and what is not; no word of an agent's makes any."""

from datetime import datetime

import pytest

from hub.domain.event import Record
from hub.domain.notice import News, Notice, notice_of


def record(tag="system", msg="said", **meta):
    return Record(1, "00:00:00.000", tag, msg, {"sessionId": "s-1", **meta})


@pytest.mark.parametrize(
    ("event", "news"),
    [
        (record(ended="completed"), News.DONE),
        (record(ended="failed"), News.FAILED),
        (record(ended="stopped"), None),
        (record(ended="completed", type="text"), None),
        (record("waiting", needsApproval=True), News.NEEDS),
        (record("waiting", needsInput=True, type="waiting"), News.NEEDS),
        (record("handoff", to="PAUSING", by="quota_breach"), News.WALL),
        (record("handoff", to="PAUSING", by="manual_handoff"), None),
        (record("handoff", to="RESUMING", by="quota_breach"), None),
        (record("waiting", until="2026-01-01T00:00:00Z"), News.WALL),
        (record("waiting", until="x", type="waiting"), None),
        (record("text", type="text"), None),
    ],
)
def test_what_is_news(event, news):
    found = notice_of(event)
    assert (found.news if found else None) is news


def test_it_is_said_in_one_line_that_no_terminal_acts_upon():
    found = notice_of(record(msg="one\x1b]0;title\x07\ntwo " + "x" * 500, needsInput=True))
    assert isinstance(found, Notice)
    assert found.text.startswith("one two x")
    assert len(found.text) == 240
    assert (found.title, found.session_id) == ("hub needs you", "s-1")


def test_an_end_is_told_with_its_task_and_a_failure_with_its_reason():
    """With three sessions "session failed" says nothing to who looks elsewhere."""
    done = notice_of(record(msg="session completed, verified", ended="completed", task="Add retries"))
    failed = notice_of(
        record(msg="session failed", ended="failed", task="Add retries", why="The disk is full.")
    )
    assert (done.title, done.text) == ("hub: done", "Add retries: session completed, verified")
    assert (failed.title, failed.text) == ("hub: failed", "Add retries: The disk is full.")


def test_a_limit_is_told_in_words_and_at_the_time_of_the_place():
    """A telephone has no glossary: no state of the machine, no window's inner name, no UTC."""
    wall = {"to": "PAUSING", "by": "quota_breach", "provider": "claude", "account": "work"}
    met = notice_of(
        record("handoff", "RUNNING -> PAUSING (five_hour at 91 %)", reason="five_hour at 91 %", **wall)
    )
    assert met.text == "claude/work: 5-hour quota at 91 %; handing over"
    until = "2026-01-01T12:00:00.000Z"
    waits = notice_of(record("waiting", "the usage limit is reached; waiting 60 s", until=until))
    at = datetime.fromisoformat(until).astimezone()
    failed = notice_of(record("handoff", reason="the acceptance commands failed", **wall))
    assert (met.title, failed.title, waits.title) == (
        "hub: handing over",
        "hub: handing over",
        "hub: waiting",
    )
    assert waits.text == f"waiting until {at:%Y-%m-%d %H:%M}: the usage limit is reached"
