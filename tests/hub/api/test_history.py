"""Handoffs from the audit timeline."""

import attrs

from hub.api.history import HistoryEntry, walks
from tests.sample import sample


def row(seq, step, provider="a", *, session="s-1", hfs=None, passed=(), abandoned=False):
    source, target, reason = step.split()
    move = {"source": source, "target": target, "reason": reason, "abandoned": abandoned}
    given = {"ts": f"2026-01-01T00:00:0{seq % 10}.000Z", "sessionId": session, "passedBy": list(passed)}
    return sample(HistoryEntry, seq=seq, event="handoff", provider=provider, hfs=hfs, move=move, **given)


MADE = [
    row(1, "RUNNING PAUSING limit"),
    row(2, "PAUSING SNAPSHOTTED limit"),
    row(3, "RUNNING PAUSING another", session="s-2"),
    attrs.evolve(row(5, "RESUMING RUNNING limit", "b", hfs=97), unsupported=["next: done b"]),
]


def test_two_sessions_hand_over_at_once():
    done, going = walks(MADE)
    assert (done.giver, done.taker, done.reason, done.hfs, done.seconds) == ("a", "b", "limit", 97, 4.0)
    assert done.lacks == ("said, but nothing shows it: next: done b",)
    assert [(stay.state, stay.seconds) for stay in done.stays] == [("PAUSING", 1.0), ("SNAPSHOTTED", 3.0)]
    assert (going.session_id, going.taker, going.ended, going.stays[-1].state) == ("s-2", "", "", "PAUSING")


def test_other_rows_and_half_a_handoff_are_no_error():
    """A page of the timeline may begin in the middle of one."""
    found = walks(
        [
            *(attrs.evolve(MADE[0], event=event, move=None) for event in ("session_started", "fidelity")),
            *MADE[1:],
        ]
    )
    assert [walk.session_id for walk in found] == ["s-1", "s-2"]


def test_one_that_was_abandoned_says_so():
    [walk] = walks([MADE[0], row(4, "PAUSING RUNNING stopped", abandoned=True)])
    assert walk.abandoned
    assert not walk.made


def test_each_handoff_has_those_whom_it_passed_by():
    """The last choice counts: the first receiver may not have come up."""
    early, late = (
        {"provider": name, "account": "default", "reason": "no login", "hint": ""} for name in ("c", "d")
    )
    first, second = walks([
        MADE[0],
        row(2, "SNAPSHOTTED ENVELOPE_BUILT limit", passed=[early]),
        row(3, "ENVELOPE_BUILT DISPATCHED limit", passed=[early, late]),
        MADE[3],
        row(6, "RUNNING PAUSING again"),
    ])  # fmt: skip
    assert [(one.provider, one.reason) for one in first.passed] == [("c", "no login"), ("d", "no login")]
    assert second.passed == ()
