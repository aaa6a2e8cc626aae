"""The session's record as a value."""

import attrs
import pytest

from hub.domain.failure import ErrorNote
from hub.domain.retry import Wait
from hub.domain.routing import Target
from hub.domain.session import Attempt, SessionRecord, SessionState, meant_by, not_on_record
from hub.domain.wallclock import iso
from hub.errors import Code, HubError

RECORD = SessionRecord(session_id="s-1", seq=7, hfs_history=(97, 88.25))


def test_a_session_is_idle_active_or_ended():
    ended = {SessionState.COMPLETED, SessionState.FAILED, SessionState.STOPPED}
    for state in SessionState:
        assert state.ended is (state in ended)
        assert state.active is (state not in ended | {SessionState.IDLE})


@pytest.mark.parametrize(("until", "kept"), [(5.0, 5), (5.25, 6), (6, 6)])
def test_a_wait_is_to_a_whole_second(until, kept):
    wait = attrs.evolve(RECORD, wait=Wait(until, "busy", "handoff")).wait
    assert (wait, type(wait.until)) == (Wait(kept, "busy", "handoff"), int)


def test_derived_figures():
    assert RECORD.hfs == 88.25
    assert SessionRecord().hfs == 0
    assert [SessionRecord(max_handoffs=2, handoffs_done=done).handoffs_left for done in (0, 2, 3)] == [
        2,
        0,
        0,
    ]
    assert (
        SessionRecord(provider="a", account="b").holder
        == Attempt("a", "b", "", "").target
        == Target("a", "b")
    )


def test_of_an_error_its_next_step_is_kept_too():
    assert ErrorNote.of(HubError(Code.NO_COMMIT, "no", hint="commit")) == ErrorNote(
        Code.NO_COMMIT, "no", "commit"
    )


def test_an_id_that_is_not_there_and_the_one_that_was_meant():
    close = not_on_record("s-6b01-aax", ["s-6b01-aa", "s-7c02-bb"])
    assert close.hint.startswith("Did you mean s-6b01-aa?")
    assert not_on_record("s-9", ["s-6b01-aa"]).hint == "See which there are: hub ls"


def test_a_session_is_meant_by_its_id_or_its_beginning():
    known = ["s-6b01-aa", "s-6b01-aa-2", "s-6b02-bb"]
    assert [meant_by(given, known) for given in ("s-6b01-aa", "s-6b02")] == ["s-6b01-aa", "s-6b02-bb"]
    with pytest.raises(HubError) as error:
        meant_by("s-9", known)
    assert error.value.code is Code.NOT_FOUND


def test_several_sessions_that_are_meant_are_named():
    with pytest.raises(HubError) as raised:
        meant_by("s-6b0", ["s-6b01-aa", "s-6b02-bb"])
    error = raised.value
    assert (error.code, error.extra["sessions"]) == (Code.WHICH_SESSION, ["s-6b01-aa", "s-6b02-bb"])


def test_a_time_is_promised_only_where_it_is_known():
    """Who waits for another session's account was told "until" the moment at which it is looked at again."""
    known = Wait(1_790_000_000.0, "a reset")
    assert SessionRecord().wait_until is None
    assert SessionRecord(wait=known).wait_until == iso(known.until)
    assert SessionRecord(wait=attrs.evolve(known, unsure=True)).wait_until is None
