"""A session is remembered as it was shown while its own questions have the same answers, and is read otherwise."""

from __future__ import annotations

import pytest

from hub.domain.detection.detected import session_json
from hub.domain.detection.intel import SessionIntel, StoreHit
from hub.io import kept_sessions
from hub.io.kept_sessions import Sessions
from hub.io.notes import Notes
from hub.io.questions import ask
from hub.io.walk import OutOfTime

INTEL = SessionIntel(session_id="s", model="m", cwd="/w")
NAME = ("p", "/x", "s")


def hit(**changes) -> StoreHit:
    return StoreHit(provider="p", path="/x", session_id="s", mtime_ns=5).but(**changes)


def told(path, intel=INTEL, redacted=str):
    """What a look keeps whose session was read out of this file."""
    notes = Notes(since_ns=5)
    sessions = Sessions(notes)

    def read():
        notes.note(("file", str(path)), ask(("file", str(path)), 5))
        return intel

    notes.note(("there", "/elsewhere"), False)
    assert sessions.read(hit(), read) == intel
    assert sessions.shown(hit()) is None
    return sessions.kept({NAME: session_json(intel)}, redacted)


def unread():
    raise AssertionError("it was read")


def test_a_session_whose_questions_have_the_same_answers_is_not_read(tmp_path):
    """And the next look is told what was asked, as if it had been read."""
    (kept,) = told(tmp_path)
    notes = Notes(since_ns=5, began_ns=2**62)
    sessions = Sessions(notes, [kept])
    assert sessions.read(hit(), unread) == INTEL
    assert sessions.shown(hit()) == session_json(INTEL)
    assert [question for question, _ in notes.all()] == [("file", str(tmp_path))]
    assert sessions.kept({NAME: session_json(INTEL)}, str) == [kept]


@pytest.mark.parametrize("change", [{"mtime_ns": 6}, {"cwd": "/other"}, {"root": "/r"}])
def test_another_hit_is_read(tmp_path, change):
    sessions = Sessions(Notes(since_ns=5), told(tmp_path))
    assert sessions.read(hit(**change), lambda: INTEL.but(model="new")).model == "new"
    assert sessions.shown(hit()) is None


def test_another_answer_makes_it_read(tmp_path):
    kept = told(tmp_path / "file")
    (tmp_path / "file").touch()
    assert Sessions(Notes(since_ns=5), kept).read(hit(), lambda: INTEL.but(model="new")).model == "new"


@pytest.mark.parametrize("error", [OSError, OutOfTime])
def test_a_question_that_cannot_be_asked_again_makes_it_read(tmp_path, monkeypatch, error):
    def fails(*_):
        raise error

    kept = told(tmp_path)
    monkeypatch.setattr(kept_sessions, "ask", fails)
    assert Sessions(Notes(since_ns=5), kept).read(hit(), lambda: INTEL.but(model="new")).model == "new"


def test_what_is_not_shown_as_it_is_or_has_an_alarm_is_not_kept(tmp_path):
    assert told(tmp_path)
    assert not told(tmp_path, INTEL.but(alarm="drifted"))
    for hidden in ("s", "/w"):
        assert not told(
            tmp_path, redacted=lambda text, hidden=hidden: "[REDACTED]" if text == hidden else text
        )


def test_what_was_not_shown_is_not_kept(tmp_path):
    sessions = Sessions(Notes(since_ns=5))
    sessions.read(hit(), lambda: INTEL)
    assert not sessions.kept({}, str)
