"""Handoffs from the audit timeline."""

from hub.api.convert import structure
from hub.api.history import HistoryEntry
from hub.domain.handoff import ABANDONED
from hub.web.page.walks import walks


def row(seq, summary, provider="a", *, session="s-1", hfs=None, event="handoff"):
    stamp = f"2026-01-01T00:00:0{seq % 10}.000Z"
    return structure(
        {"seq": seq, "ts": stamp, "event": event, "provider": provider, "summary": summary, "sessionId": session, "hfs": hfs},
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
