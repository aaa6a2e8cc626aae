"""The session's record as a value."""

import attrs
import pytest

from hub.domain.retry import Wait
from hub.domain.session import SessionRecord, SessionState

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
