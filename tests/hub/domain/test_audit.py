"""The audit chain: what it says, and what it finds."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.audit import (
    GENESIS,
    MAX_UNANCHORED,
    START,
    ChainState,
    Head,
    _times_agree,
    make_record,
    parse_anchor,
    quick_tip,
    read_record,
    verify_lines,
)

AT = "2026-11-21T05:06:07.089Z"
KEY = bytes(range(32))


def chain(count, prev=GENESIS, first=0, text="x"):
    records = []
    for seq in range(first, first + count):
        records.append(make_record(prev, seq, AT, "agent_event", {"text": f"{text}{seq}"}))
        prev = records[-1].hash
    return records


def lines(records):
    return [record.line for record in records]


def head_of(records):
    size = sum(len(record.line) for record in records)
    return Head(len(records) - 1, records[-1].hash, size) if records else START


def test_hash_is_the_documented_one():
    """SHA-256(prevHash hex + canonical {"event", "data"}), genesis 64 zeros."""
    body = b'{"data":{"at":"2026-11-21T05:06:07.089Z","seq":0,"text":"x0"},"event":"agent_event"}'
    (record,) = chain(1)
    assert record.prev_hash == "0" * 64
    assert record.hash == hashlib.sha256(b"0" * 64 + body).hexdigest()


def test_a_line_is_one_object_with_the_five_members():
    (record,) = chain(1, text='hostile\n{"ts":1}\u2028')
    assert record.line.count(b"\n") == 1
    value = json.loads(record.line)
    assert (value["event"], value["hash"]) == (record.event, record.hash)
    assert set(value) == {"ts", "prevHash", "hash", "event", "data"}
    assert value["data"]["at"] == value["ts"]
    assert read_record(record.line) == record


def test_seq_and_at_cannot_be_chosen_by_the_caller():
    record = make_record(GENESIS, 7, AT, "e", {"seq": 99, "at": "never"})
    assert (record.data["seq"], record.data["at"]) == (7, AT)
    assert record.seq == 7


@pytest.mark.parametrize(
    "at", ["2026-11-21T05:06:07Z", "2026-11-21 05:06:07.089Z", "", "2026-11-21T05:06:07.089+00:00"]
)
def test_one_form_of_timestamp(at):
    with pytest.raises(ValueError, match="timestamp"):
        make_record(GENESIS, 0, at, "e", {})


@pytest.mark.parametrize("count", [0, 1, 5])
def test_intact(count):
    records = chain(count)
    verdict = verify_lines(lines(records), head_of(records))
    assert (verdict.state, verdict.records, verdict.unanchored, verdict.ok) == (
        ChainState.INTACT,
        count,
        0,
        True,
    )


def test_torn_tail_is_no_tampering():
    records = chain(3)
    torn = [*lines(records[:2]), records[2].line[:-5]]
    verdict = verify_lines(torn, head_of(records[:2]))
    assert (verdict.state, verdict.records, verdict.ok) == (ChainState.TORN, 2, True)


def test_torn_tail_that_the_head_vouches_for_was_cut():
    records = chain(3)
    verdict = verify_lines([*lines(records[:2]), records[2].line[:-5]], head_of(records))
    assert verdict.state is ChainState.BROKEN


def test_records_beyond_the_head_are_counted_up_to_what_a_crash_can_leave():
    records = chain(5)
    assert verify_lines(lines(records), head_of(records[:3])).unanchored == 2
    verdict = verify_lines([], Head(-1, GENESIS, 0), after=Head(MAX_UNANCHORED, "0" * 64, 1))
    assert verdict.state is ChainState.BROKEN
    assert "more than a crash" in verdict.reason


def test_length_must_match_too():
    """ai-memory-mcp#1850: an anchor that compares only the sequence misses a suffix of the same length."""
    records = chain(3)
    wrong = Head(2, records[-1].hash, head_of(records).size + 1)
    assert verify_lines(lines(records), wrong).state is ChainState.BROKEN


def test_expected_anchor():
    records = chain(4)
    anchor = parse_anchor(f"2:{records[2].hash}")
    assert verify_lines(lines(records), None, anchor).state is ChainState.INTACT
    assert verify_lines(lines(records[:2]), None, anchor).state is ChainState.BROKEN
    other = parse_anchor(f"2:{'ab' * 32}")
    verdict = verify_lines(lines(records), None, other)
    assert (verdict.state, verdict.seq) == (ChainState.BROKEN, 2)


@pytest.mark.parametrize(
    "text", ["", "1", "1:", "1:xyz", f"-1:{'0' * 64}", f"1:{'0' * 63}", f"1:{'0' * 64} "]
)
def test_anchor_has_one_form(text):
    with pytest.raises(ValueError, match="seq"):
        parse_anchor(text)


def break_(records, seq, line):
    out = lines(records)
    out[seq] = line
    return out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda line: line.replace(b'"text":"x2"', b'"text":"x3"'), "hash does not match"),
        (lambda line: line.replace(b'"ts":"2026', b'"ts":"2025'), "ts is not the at"),
        (lambda line: line.replace(b'{"data"', b'{ "data"'), "canonical"),
        (lambda line: line.replace(b'"text":"x2"', b'"text":"x2","text":"x2"'), "canonical"),
        (lambda line: line.replace(b'"seq":2', b'"seq":2.0'), "not a record"),
        (lambda line: line.replace(b'"seq":2', b'"seq":true'), "seq is True"),
        (lambda line: line.replace(b'"seq":2', b'"seq":7'), "missing, doubled or moved"),
        (lambda line: line.replace(b'"text":"x2"', b'"text":"\xff2"'), "not a record"),
        (lambda line: line[:-1] + b" \n", "not a record"),
        (lambda line: b"\n", "not a record"),
        (lambda line: b"[" * 100_000 + b"\n", "not a record"),
        (lambda line: b"x" * (2 << 20) + b"\n", "too long"),
        (lambda line: b"x" * (2 << 20), "too long"),
    ],
)
def test_a_changed_record_is_named_with_the_reason(change, words):
    records = chain(5)
    verdict = verify_lines(break_(records, 2, change(records[2].line)), head_of(records))
    assert (verdict.state, verdict.seq, verdict.records) == (ChainState.BROKEN, 2, 2)
    assert words in verdict.reason


@given(st.data())
def test_any_flipped_bit_is_found_where_it_is(data):
    records = chain(4)
    seq = data.draw(st.integers(0, 3))
    line = bytearray(records[seq].line)
    at = data.draw(st.integers(0, len(line) - 2))
    line[at] ^= 1 << data.draw(st.integers(0, 7))
    changed = b"".join(break_(records, seq, bytes(line)))
    verdict = verify_lines([part + b"\n" for part in changed.split(b"\n")[:-1]], head_of(records))
    assert verdict.state is ChainState.BROKEN
    assert verdict.seq == seq
    tip = quick_tip(changed, START)
    assert tip is None or tip.hash != records[-1].hash


def test_quick_tip_follows_whole_logs_and_parts():
    records = chain(6)
    assert quick_tip(b"".join(lines(records)), START) == head_of(records)
    assert quick_tip(b"".join(lines(records[3:])), head_of(records[:3])) == head_of(records)
    assert quick_tip(b"".join(lines(records[1:])), START) is None
    assert quick_tip(records[0].line[:-1], START) is None
    assert quick_tip(b"", START) == START


def test_quick_tip_takes_nothing_that_is_no_record():
    """A line of the right shape at its end whose head cannot be read is left to the slow way."""
    (record,) = chain(1)
    broken = b"\xff" + record.line[1:]
    assert quick_tip(broken, START) is None


@pytest.mark.parametrize("line", [b"{", b"\xff{}", b"[" * 100_000, b'{"data":1,"ts":"x"}', b"{}"])
def test_a_line_without_both_timestamps_has_none_that_agree(line):
    assert not _times_agree(line)


def test_a_verdict_is_told_as_one_object():
    told = verify_lines(lines(chain(2)), head_of(chain(2))).to_json()
    assert (told["state"], told["ok"], told["records"], told["head"]["seq"]) == ("intact", True, 2, 1)


def test_quick_tip_sees_an_edited_timestamp():
    """Only `at` is under the hash; a `ts` that differs from it must not pass the fast way either."""
    (record,) = chain(1)
    assert quick_tip(record.line.replace(b'"ts":"2026', b'"ts":"2025'), START) is None


def test_head_is_sealed_by_key_seq_hash_and_size():
    head = head_of(chain(3)).sealed(KEY)
    assert head.genuine(KEY)
    assert Head.from_bytes(json.dumps(head.to_json()).encode() + b"   \n") == head
    assert not head.genuine(bytes(32))
    for change in ({"seq": 1}, {"hash": "a" * 64}, {"bytes": 1}):
        forged = Head.from_bytes(json.dumps({**head.to_json(), **change}).encode())
        assert not forged.genuine(KEY)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "nul", '{"seq":0,"hash":"x","bytes":0,"mac":"y"}', '{"seq":true,"hash":"","bytes":0,"mac":""}',
     json.dumps({"seq": -2, "hash": "0" * 64, "bytes": 0, "mac": "0" * 64}),
     json.dumps({"seq": 0, "hash": "0" * 64, "bytes": 0, "mac": "0" * 64, "more": 1})],
)  # fmt: skip
def test_what_is_no_head_is_refused(text):
    with pytest.raises(ValueError):
        Head.from_bytes(text.encode())
