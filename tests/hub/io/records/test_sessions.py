"""The record of a session: its bytes, every way they can be bad (X2 of the fault matrix), and which one an id means.

The samples in `old_sessions` are bytes as earlier hubs wrote them: one by the first, one with every field.
"""

import json
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.failure import ErrorNote, FailureClass
from hub.domain.handoff import State
from hub.domain.result.gate import Check, GateResult
from hub.domain.retry import Wait
from hub.domain.routing import Target
from hub.domain.session import Attempt, Handoff, OnLimit, SessionRecord, SessionState
from hub.errors import Code
from hub.io.project.places import Places
from hub.io.records.sessions import FORM, found, meant, session_store
from hub.io.records.store import Corruption, RecordCorrupt, _crc
from tests.refusals import refuses

OLD = Path(__file__).parent / "old_sessions"
FULL = SessionRecord(
    state=State.DISPATCHED,
    session_id="s-1",
    handoff_id="h-2",
    seq=7,
    at="2026-01-02T03:04:05.678Z",
    session_state=SessionState.HANDING_OFF,
    role="receiver",
    task_id="t-1",
    task='Write "hello" {to} \\ a file',
    branch="hub/s-1",
    chain=("claude", "codex"),
    threshold=0.85,
    max_handoffs=3,
    on_limit=OnLimit.WAIT,
    verify=("make test",),
    provider="claude",
    account="work",
    native_id="0f0e",
    failure=FailureClass.USAGE_LIMIT,
    tried=(Attempt("claude", "home", "usage_limit", "2026-01-02T03:00:00.000Z"),),
    hfs_history=(97, 88.25),
    verified=False,
    error=ErrorNote(Code.NO_FALLBACK, "nobody left", "hub ls"),
)

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
records = st.builds(
    SessionRecord,
    state=st.sampled_from(State),
    session_state=st.sampled_from(SessionState),
    session_id=text,
    seq=st.integers(0, 2**53 - 1),
    at=text,
    task=text,
    chain=st.lists(text, max_size=3).map(tuple),
    verify=st.lists(text, max_size=3).map(tuple),
    threshold=st.integers(1, 1000).map(lambda n: n / 1000),
    hfs_history=st.lists(st.integers(0, 10000).map(lambda n: n / 100), max_size=4).map(tuple),
    tried=st.lists(st.builds(Attempt, text, text, text, text), max_size=3).map(tuple),
    failure=st.none() | st.sampled_from(FailureClass),
    verified=st.none() | st.booleans(),
    error=st.none() | st.builds(ErrorNote, st.sampled_from(Code), text, text),
    wait=st.none() | st.builds(Wait, st.integers(1, 2**40), text, st.sampled_from(["retry", "handoff"])),
    handoff=st.builds(Handoff, trigger=text, receiver=st.none() | st.builds(Target, text, text)),
    paused=st.booleans(),
)


def with_crc(wire):
    """Bytes with a right checksum, whatever the fields say."""
    wire = {key: value for key, value in wire.items() if key != "crc"}
    return json.dumps({**wire, "crc": _crc(wire)}).encode()


def refused(data):
    with pytest.raises(RecordCorrupt) as caught:
        FORM.decode(data)
    assert caught.value.code is Code.STATE_CORRUPT
    return caught.value.reason


# --- the form -----------------------------------------------------------------------------------------


@given(records)
@settings(max_examples=100)
def test_what_was_encoded_is_decoded_alike(record):
    assert FORM.decode(FORM.encode(record)) == record
    assert FORM.encode(FORM.decode(FORM.encode(record))) == FORM.encode(record)


def test_every_field_survives_the_round_trip():
    assert FORM.decode(FORM.encode(FULL)) == FULL


def test_the_file_has_the_members_that_are_promised():
    wire = json.loads(FORM.encode(FULL))
    assert {k: wire[k] for k in ("v", "state", "sessionId", "handoffId", "seq", "at")} == {
        "v": 3,
        "state": "DISPATCHED",
        "sessionId": "s-1",
        "handoffId": "h-2",
        "seq": 7,
        "at": "2026-01-02T03:04:05.678Z",
    }


def test_a_record_written_by_the_first_version_still_reads():
    """X14: a daemon upgraded between two states goes on from the old file."""
    record = FORM.decode((OLD / "first.json").read_bytes())
    assert (record.state, record.session_id, record.provider) == (State.SNAPSHOTTED, "s-old", "claude")
    assert (record.adopted, record.wait) == (False, None), (
        "a field the old daemon did not know has its default"
    )


def test_every_field_of_the_first_version_is_read_and_written_in_its_new_place():
    old = (OLD / "full.json").read_bytes()
    record = FORM.decode(old)
    plain = SessionRecord()
    lost = [
        field.name
        for field in attrs.fields(SessionRecord)
        if getattr(record, field.name) == getattr(plain, field.name)
    ]
    unknown = {"adopts", "continues", "extended", "repairs", "refused"}
    assert set(lost) == {*unknown, "tokens_used", "waited_seq"}, "what that version did not know"
    assert (record.threshold, record.hfs_history, record.tried[0].account) == (0.857, (97, 88.25), "home")
    assert record.wait == Wait(1767322800, "usage_limit", "retry")
    assert record.handoff == Handoff(
        trigger="usage_limit",
        reason="5 h are used up",
        safe_point="turn_over",
        snapshot_tree="e" * 40,
        contract_id="c-1",
        contract_sha256="f" * 64,
        receiver=Target("codex", "home"),
        tree_matches=True,
    )
    before, after = json.loads(old), json.loads(FORM.encode(record))
    changed = {name for name, value in after.items() if before.get(name) != value}
    assert changed == {"v", "crc", "handoff", "wait", "threshold", "hfsHistory", "waitedSeq", *unknown}


def test_work_that_a_hub_of_the_second_version_had_given_back_is_corrected():
    """An upgrade between the refusal and the next start lost it: the agent was told to go on, not what failed."""
    record = FORM.decode((OLD / "second.json").read_bytes())
    checks = (
        Check("make test", 1, "one\n\ntwo failed\n", 5, False, "exit status 1"),
        Check("make lint", 2, "", 5, False, "exit status 2"),
    )
    assert (record.session_id, record.repairs) == ("s-old", 1)
    assert record.refused == GateResult(checks, "").text()
    assert FORM.decode(FORM.encode(record)) == record


def test_a_flipped_letter_in_a_text_is_found_by_the_checksum():
    assert refused(FORM.encode(FULL).replace(b"hello", b"hallo")) is Corruption.DAMAGED


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "7"},
        {"state": "FLYING"},
        {"tried": [{}]},
        {"sessionState": "bored"},
        {"threshold": None},
        {"hfsHistory": ["x"]},
        {"verified": 1},
    ],
)
def test_a_field_of_the_wrong_type_is_refused(change):
    assert refused(with_crc({**json.loads(FORM.encode(FULL)), **change})) is Corruption.INVALID


def test_an_old_one_without_its_threshold_is_refused():
    wire = json.loads((OLD / "full.json").read_bytes())
    del wire["threshold"]
    assert refused(with_crc(wire)) is Corruption.INVALID


# --- its place ----------------------------------------------------------------------------------------


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    return Places(tmp_path)


def put(places, session_id, state, at):
    """A record at a place, as hub writes it."""
    places.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    record = SessionRecord(
        session_id=session_id,
        session_state=SessionState(state),
        started_at=at,
        branch=f"hub/{session_id}",
        worktree=str(places.worktree(session_id)),
    )
    session_store(places).save(record)


@pytest.mark.parametrize(
    "change", [{"worktree": "/elsewhere"}, {"branch": "main"}, {"session_id": "../s-1"}, {"session_id": ""}]
)
def test_one_that_names_another_place_than_its_session_s_is_none(places, change):
    put(places, "s-1", "running", "2026-01-01")
    store = session_store(places)
    store.save(attrs.evolve(store.look(), **change))
    with pytest.raises(RecordCorrupt, match="not its session's"):
        store.look()
    _, damage = store.load()
    assert damage.code is Code.STATE_CORRUPT
    assert not places.fsm.exists()


def test_all_are_found_the_oldest_first_and_each_once(places):
    """What had the project's place may stand in its folder as well: a daemon died between the two."""
    put(places.of("s-a1"), "s-a1", "completed", "2026-01-01")
    put(places.of("s-a2"), "s-a2", "running", "2026-01-02")
    put(places, "s-b1", "running", "2026-01-03")
    put(places.of("s-b1"), "s-b1", "stopped", "2026-01-03")
    (places.sessions / "s-bad").mkdir()
    (places.sessions / "s-bad" / "fsm.json").write_text("{}")
    records = found(places)
    assert [(r.session_id, str(r.session_state)) for r in records] == [
        *(("s-a1", "completed"), ("s-a2", "running"), ("s-b1", "running"))
    ]


def test_whom_an_id_means(places):
    put(places.of("s-a1"), "s-a1", "completed", "2026-01-01")
    put(places.of("s-a2"), "s-a2", "running", "2026-01-02")
    put(places, "s-b1", "stopped", "2026-01-03")
    assert meant(places, "").session_id == "s-a2", "the only one that is active"
    assert meant(places, "s-b").session_id == "s-b1"
    for part, code in (("s-a", Code.WHICH_SESSION), ("s-c", Code.NOT_FOUND)):
        with refuses(code):
            meant(places, part)
    put(places.of("s-a2"), "s-a2", "failed", "2026-01-02")
    assert meant(places, "").session_id == "s-b1", "the newest"


def test_without_a_record_there_is_no_session(places):
    with refuses(Code.NO_ACTIVE_SESSION):
        meant(places, "")


def test_the_one_record_there_is_says_what_ails_it(places):
    places.hub_dir.mkdir(mode=0o700)
    for data, code in ((b"{}", Code.STATE_CORRUPT), (FORM.encode(FULL), Code.NOT_SEALED)):
        places.fsm.write_bytes(data)
        with refuses(code):
            meant(places, "")
