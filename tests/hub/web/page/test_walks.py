"""Handoffs from the audit timeline."""

from hub.api.convert import structure
from hub.api.history import HistoryEntry
from hub.domain.handoff import ABANDONED
from hub.web.page.walks import walks


def row(seq, summary, provider="a", *, session="s-1", hfs=None, event="handoff", passed=()):
    stamp = f"2026-01-01T00:00:0{seq % 10}.000Z"
    return structure(
        {"seq": seq, "ts": stamp, "event": event, "provider": provider, "summary": summary, "sessionId": session, "hfs": hfs, "passedBy": list(passed)},
        HistoryEntry,
    )  # fmt: skip


MADE = [
    row(1, "RUNNING -> PAUSING, the limit"),
    row(2, "PAUSING -> SNAPSHOTTED, the limit"),
    row(3, "RUNNING -> PAUSING, another", session="s-2"),
    row(5, "RESUMING -> RUNNING, the limit", "b", hfs=97),
]


def test_two_sessions_hand_over_at_once():
    done, going = walks(MADE)
    assert (done.giver, done.taker, done.reason, done.hfs, done.seconds) == ("a", "b", "the limit", 97, 4.0)
    assert [(stay.state, stay.seconds) for stay in done.stays] == [("PAUSING", 1.0), ("SNAPSHOTTED", 3.0)]
    assert (going.session_id, going.taker, going.ended, going.stays[-1].state) == ("s-2", "", "", "PAUSING")


def test_other_rows_and_half_a_handoff_are_no_error():
    """A page of the timeline may begin in the middle of one."""
    found = walks([row(1, "x", event="session_started"), row(2, "fidelity"), *MADE[1:]])
    assert [walk.session_id for walk in found] == ["s-1", "s-2"]


def test_one_that_was_abandoned_says_so():
    assert walks([MADE[0], row(4, f"PAUSING -> RUNNING, {ABANDONED} stopped")])[0].abandoned


def test_each_handoff_has_those_whom_it_passed_by():
    """The last choice counts: the first receiver may not have come up."""
    early, late = (
        {"provider": name, "account": "default", "reason": "no login", "hint": ""} for name in ("c", "d")
    )
    first, second = walks([
        MADE[0],
        row(2, "SNAPSHOTTED -> ENVELOPE_BUILT, the limit", passed=[early]),
        row(3, "ENVELOPE_BUILT -> DISPATCHED, the limit", passed=[early, late]),
        MADE[3],
        row(6, "RUNNING -> PAUSING, again"),
    ])  # fmt: skip
    assert [(one.provider, one.reason) for one in first.passed] == [("c", "no login"), ("d", "no login")]
    assert second.passed == ()
