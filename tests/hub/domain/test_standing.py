"""One vocabulary for what a session does."""

import pytest

from hub.domain.handoff import State
from hub.domain.session import SessionState
from hub.domain.standing import (
    ENDED,
    GROUPS,
    HANDING_OVER,
    NEEDED,
    OVER,
    QUEUED,
    WAITS,
    WORKS,
    group,
    occasion,
    words,
)


def test_a_handoff_is_told_in_words_wherever_it_stands():
    """`hub status` and the terminal screen said ENVELOPE_BUILT; in RUNNING none is under way."""
    assert set(HANDING_OVER) == set(State) - {State.RUNNING}
    assert not any(state.lower() in words_for.lower() for state, words_for in HANDING_OVER.items())


def test_what_ends_a_session_is_what_the_state_says():
    assert {state.value for state in SessionState if state.ended} == ENDED


@pytest.mark.parametrize(
    ("facts", "place"),
    [
        ({"needs": "input", "state": "waiting"}, NEEDED),
        ({"state": "running"}, WORKS),
        ({"state": "waiting", "wait_until": "2026-11-24T05:00:00Z"}, WAITS),
        ({"state": "queued", "position": 2}, QUEUED),
        ({"state": "waiting"}, QUEUED),  # for an account that another session works with
        ({"state": "stopped", "wait_until": "2026-11-24T05:00:00Z"}, OVER),
    ],
)
def test_the_groups_of_a_board(facts, place):
    given = {"needs": "none", "position": 0, "wait_until": None, **facts}
    assert group(**given) == place < len(GROUPS)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"needs": "approval", "state": "running"}, "needs approval"),
        ({"state": "queued", "position": 2}, "number 2"),
        ({"state": "completed", "verified": True}, "verified"),
        ({"state": "completed", "verified": False}, "done, not verified"),
        ({"state": "handing_off"}, "handing off"),
    ],
)
def test_its_words(facts, said):
    assert words(**{"needs": "none", "position": 0, "verified": None, **facts}) == said


def test_the_occasion_of_a_snapshot():
    assert [occasion(name) for name in ("end-t-1", "h-1", "")] == ["at the end", "at a handoff", "a snapshot"]
