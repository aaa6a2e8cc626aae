"""The history is whole: pages meet without a gap, and a handoff is in sight however much was said since."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from hub.api.history import Move
from hub.domain.session import LeftOut
from hub.io.audit.journal import AuditJournal
from hub.io.audit.timeline import Timeline
from hub.io.project.places import Places

KEY = b"k" * 32


@pytest.fixture
def journal(tmp_path) -> Iterator[AuditJournal]:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    places = Places(tmp_path)
    places.ensure()
    made = AuditJournal.open(places, KEY)
    yield made
    made.close()


def add(journal: AuditJournal, *events: str, **data: object) -> None:
    draft = journal.draft()
    for event in events:
        draft.add(event, {"provider": "p", **data})
    journal.commit(draft)


def seqs(rows: list) -> list[int]:
    return [row.seq for row in rows]


def test_pages_meet_without_a_gap(journal):
    add(journal, *["agent_event"] * 10)
    timeline = Timeline(journal)
    pages, cursor = [], None
    while page := timeline.page(4, cursor):
        pages.append(seqs(page))
        cursor = page[0].seq
    assert pages == [[6, 7, 8, 9], [2, 3, 4, 5], [0, 1]]
    assert seqs(timeline.page(4, 10**15)) == [6, 7, 8, 9]


def test_a_handoff_is_in_sight_however_much_was_said_since(journal):
    """`GET /api/history` told the newest thousand records; an agent says as much in a minute."""
    add(journal, "session_started", "handoff", "agent_event", **{"from": "RUNNING", "to": "PAUSING"})
    for _ in range(3):
        add(journal, *["agent_event"] * 40)
    timeline = Timeline(journal)
    assert seqs(timeline.page(2, handoffs=True)) == [1, 121, 122]
    assert timeline.page(5, event="handoff")[0].summary == "RUNNING -> PAUSING"
    add(journal, "handoff", "agent_event")
    assert seqs(timeline.page(5, event="handoff")) == [1, 123]
    assert seqs(timeline.page(1, event="handoff")) == [123]
    assert seqs(timeline.page(1, 123, event="handoff")) == [1]
    assert timeline.page(1, 1, event="handoff") == []
    assert seqs(timeline.page(2, handoffs=True)) == [1, 123, 124]
    assert seqs(timeline.page(1000, handoffs=True)) == list(range(125))


def test_what_looks_like_an_event_is_none(journal):
    """Values may be anything; only the record's own event counts."""
    add(journal, "agent_event", input={"event": "handoff", "hash": ""}, text='"event":"handoff","hash":"')
    add(journal, "handoff")
    assert seqs(Timeline(journal).page(9, event="handoff")) == [1]


def test_one_sessions_records(journal):
    """However many other sessions there were: the page of an old one said that its work was not taken."""
    add(journal, "taken", "handoff", sessionId="s-1", commit="abc", branch="fix")
    for _ in range(3):
        add(journal, *["taken"] * 400, sessionId="s-2")
    add(journal, "agent_event", input={"sessionId": "s-1"}, sessionId="s-2")
    timeline = Timeline(journal)
    (taken,) = timeline.page(1, event="taken", session_id="s-1")
    assert (taken.seq, taken.commit, taken.branch, taken.move) == (0, "abc", "fix", None)
    assert seqs(timeline.page(9, session_id="s-1")) == [0, 1]
    assert seqs(timeline.page(9, 1, session_id="s-1")) == [0]
    assert timeline.page(9, event="taken", session_id="s-3") == []
    add(journal, "taken", sessionId="s-1")
    assert seqs(timeline.page(1, event="taken", session_id="s-1")) == [1202 + 1]


def test_a_snapshot_and_a_rewind_are_of_their_commit(journal):
    """It stood in the summary alone: `commit` said that they were of none."""
    add(journal, "snapshot", sha="abc")
    add(journal, "rewind", sha="abc", branch="hub/rewind/abc-1")
    found = [(entry.commit, entry.branch) for entry in Timeline(journal).page(2)]
    assert found == [("abc", ""), ("abc", "hub/rewind/abc-1")]


def test_a_step_of_a_handoff_is_told_in_parts(journal):
    """Nobody need read the words of the summary, in which an agent's may be."""
    add(journal, "handoff", **{"from": "RUNNING", "to": "PAUSING", "reason": "a, b -> c"})
    add(journal, "handoff", **{"from": "PAUSING", "to": "RUNNING", "by": "abandoned"})
    begun, given_up = Timeline(journal).page(2)
    assert begun.move == Move(source="RUNNING", target="PAUSING", reason="a, b -> c")
    assert given_up.move == Move(source="PAUSING", target="RUNNING", abandoned=True)


def test_a_handoff_is_told_with_what_its_score_lacks(journal):
    """The score comes in a later record than the handoff's last."""
    add(journal, "handoff", handoffId="h-1", fidelity="pending", **{"from": "RESUMING", "to": "RUNNING"})
    timeline = Timeline(journal)
    assert (timeline.page(1)[0].hfs, timeline.page(1)[0].missing) == ("pending", [])
    add(journal, "fidelity", handoffId="h-1", hfs=73, missing=["a: b"], unsupported=["c: d"])
    for row in timeline.page(2):
        assert (row.hfs, row.missing, row.unsupported) == (73, ["a: b"], ["c: d"])
    add(journal, "agent_event", missing="its own word", hfs="x")
    assert (timeline.page(1)[0].hfs, timeline.page(1)[0].missing) == (None, [])


def test_who_was_passed_by_is_told_as_another_hub_wrote_it(journal):
    """A newer one's member, or a text that nobody could give, made the whole history unreadable."""
    told = {"provider": "codex", "reason": "a\0b", "hint": "", "account": "", "since": 3}
    add(journal, "handoff", passedBy=[told], **{"from": "RUNNING", "to": "PAUSING"})
    assert Timeline(journal).page(1)[0].passed_by == [LeftOut("codex", "a\0b", "")]


def test_many_events_are_searched_for(journal):
    """What is remembered of searches is bounded."""
    names = [f"e{number}" for number in range(20)]
    add(journal, *names)
    timeline = Timeline(journal)
    for _ in range(2):
        assert [seqs(timeline.page(1, event=name)) for name in names] == [[n] for n in range(20)]
    assert timeline.page(1, event="nothing") == []
