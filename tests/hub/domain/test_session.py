"""The durable session record: round trip, and every way its bytes can be bad (X2 of the fault matrix)."""

import json
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.canonical import canonical
from hub.domain.failure import FailureClass
from hub.domain.handoff import State
from hub.domain.session import (
    VERSION,
    Attempt,
    Corruption,
    ErrorNote,
    OnLimit,
    SessionRecord,
    SessionState,
    StateCorrupt,
    _crc,
    decode,
    encode,
)
from hub.errors import Code

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
    error=ErrorNote(Code.NO_FALLBACK, "nobody left"),
)
FIXTURES = Path(__file__).parent / "fixtures"

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
    wait_until=st.integers(0, 2**40),
    paused=st.booleans(),
)


def sealed(wire: dict) -> bytes:
    """Bytes with a right checksum, whatever the fields say."""
    wire = {k: v for k, v in wire.items() if k != "crc"}
    return canonical({**wire, "crc": _crc(wire)})


def refused(data: bytes) -> Corruption:
    with pytest.raises(StateCorrupt) as caught:
        decode(data)
    assert caught.value.code is Code.STATE_CORRUPT
    assert caught.value.problem()["reason"] == caught.value.reason
    return caught.value.reason


@given(records)
@settings(max_examples=100)
def test_what_was_encoded_is_decoded_alike(record):
    assert decode(encode(record)) == record
    assert encode(decode(encode(record))) == encode(record)


def test_every_field_survives_the_round_trip():
    assert decode(encode(FULL)) == FULL


def test_the_file_has_the_members_that_are_promised_and_no_float():
    def no_float(_text):
        raise AssertionError

    wire = json.loads(encode(FULL), parse_float=no_float)
    assert {k: wire[k] for k in ("v", "state", "sessionId", "handoffId", "seq", "at")} == {
        "v": VERSION,
        "state": "DISPATCHED",
        "sessionId": "s-1",
        "handoffId": "h-2",
        "seq": 7,
        "at": "2026-01-02T03:04:05.678Z",
    }
    assert wire["threshold"] == 850
    assert wire["hfsHistory"] == [9700, 8825]


def test_a_record_written_by_the_first_version_still_reads():
    """X14: a daemon upgraded between two states goes on from the old file."""
    record = decode((FIXTURES / "fsm-v1.json").read_bytes())
    assert (record.state, record.session_id, record.provider) == (State.SNAPSHOTTED, "s-old", "claude")
    assert record.tokens_cached == 0, "a field the old daemon did not know has its default"


def test_empty_bytes_are_refused():
    assert {refused(b""), refused(b" \n")} == {Corruption.EMPTY}


@given(st.integers(1, len(encode(FULL)) - 1))
def test_every_truncation_is_refused_as_such(length):
    assert refused(encode(FULL)[:length]) is Corruption.TRUNCATED


@given(st.integers(0, len(encode(FULL)) * 8 - 1))
@settings(max_examples=200)
def test_every_flipped_bit_is_refused(bit):
    data = bytearray(encode(FULL))
    data[bit // 8] ^= 1 << bit % 8
    assert refused(bytes(data)) in set(Corruption)


def test_a_flipped_letter_in_a_text_is_found_by_the_checksum():
    assert refused(encode(FULL).replace(b"hello", b"hallo")) is Corruption.DAMAGED


@pytest.mark.parametrize("data", [b"\0" * 100, b"hello", b"[1]", b"null", b"{}}", encode(FULL) + b"x"])
def test_bytes_that_are_no_object_are_refused(data):
    assert refused(data) is Corruption.DAMAGED


def test_a_float_put_in_by_hand_is_refused():
    assert refused(encode(FULL).replace(b'"threshold":850', b'"threshold":0.85')) is Corruption.DAMAGED


def test_an_unknown_state_is_refused():
    assert refused(sealed({**json.loads(encode(FULL)), "state": "FLYING"})) is Corruption.UNKNOWN_STATE


def test_a_newer_version_is_refused_even_where_its_checksum_is_of_another_kind():
    wire = json.loads(encode(FULL))
    assert refused(sealed({**wire, "v": VERSION + 1})) is Corruption.NEWER_VERSION
    assert refused(canonical({**wire, "v": VERSION + 1, "crc": "other"})) is Corruption.NEWER_VERSION


@pytest.mark.parametrize(
    "change",
    [
        {"seq": "7"},
        {"tried": [{}]},
        {"sessionState": "bored"},
        {"threshold": None},
        {"hfsHistory": ["x"]},
        {"verified": 1},
    ],
)
def test_a_field_of_the_wrong_type_is_refused(change):
    assert refused(sealed({**json.loads(encode(FULL)), **change})) is Corruption.INVALID


def test_a_missing_threshold_is_refused():
    wire = json.loads(encode(FULL))
    del wire["threshold"]
    assert refused(sealed(wire)) is Corruption.INVALID


def test_each_following_record_has_the_next_number():
    following = FULL.after("later", state=State.RESUMING, native_id="abc")
    assert following == attrs.evolve(FULL, at="later", seq=8, state=State.RESUMING, native_id="abc")


def test_a_session_is_idle_active_or_ended():
    ended = {SessionState.COMPLETED, SessionState.FAILED, SessionState.STOPPED}
    for state in SessionState:
        assert state.ended is (state in ended)
        assert state.active is (state not in ended | {SessionState.IDLE})


def test_derived_figures():
    assert attrs.evolve(FULL, tokens_in=3, tokens_out=4).tokens_used == 7
    assert FULL.hfs == 88.25
    assert SessionRecord().hfs == 0
