"""Files of lines: whichever bytes are read, none is read twice and none is lost without a mark."""

from __future__ import annotations

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.detection.intel import Limits, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import lines

HIT = StoreHit(provider="p", path="/x")


@attrs.frozen
class Held:
    """A file in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def at(self, offset: int, count: int) -> bytes:
        return self.data[offset : offset + count]


class Fold(lines.RecordFold):
    """Keeps what it is given; the first record is the prompt."""

    def __init__(self) -> None:
        super().__init__(IntelDraft())
        self.seen: list[object] = []
        self.gaps = 0

    def record(self, value) -> None:
        self.seen.append(value)
        self.draft.took()
        self.draft.said("user", "prompt")

    def gap(self, count: int) -> None:
        super().gap(count)
        self.gaps += 1


def fed(data: bytes, limits: Limits) -> Fold:
    fold = Fold()
    lines.feed(Held(data), limits, fold)
    return fold


records = st.lists(
    st.dictionaries(st.text(max_size=5), st.text(max_size=80) | st.integers(), min_size=1),
    max_size=40,
    unique_by=str,
)
windows = st.integers(min_value=1, max_value=600)


@given(records, st.booleans())
def test_read_in_whole_it_is_every_record(values, ended):
    data = "\n".join(map(json.dumps, values)).encode() + (b"\n" if ended else b"")
    assert fed(data, Limits(whole=True)).seen == values


@given(records, windows, windows)
def test_both_ends_are_records_in_their_order_and_what_lies_between_is_counted(values, head, tail):
    """The tail may overlap the head: no record twice. It may begin where the head ended: none lost."""
    rows = [json.dumps(value).encode() + b"\n" for value in values]
    data = b"".join(rows)
    fold = fed(data, Limits(head=head, tail=tail))
    skipped = fold.draft.finish(HIT).accounting.skipped_bytes
    count = len(fold.seen)
    first = next(
        (n for n in range(count + 1) if fold.seen == values[:n] + values[len(values) - (count - n) :]), None
    )
    assert first is not None
    assert skipped == sum(map(len, rows[first : len(values) - (count - first)]))
    assert fold.gaps == (skipped > 0)
    assert not values or fold.seen[-1] == values[-1]
    assert not values or fold.seen[0] == values[0]


@given(st.binary(max_size=3000), windows, windows)
def test_no_bytes_raise(data, head, tail):
    for limits in (Limits(head=head, tail=tail, record=1000), Limits(whole=True, record=100)):
        account = fed(data, limits).draft.finish(HIT).accounting
        assert account.records >= (1 if limits.whole and data.strip() else 0)


@pytest.mark.parametrize(
    ("line", "seen", "damaged"),
    [
        (b'{"a":1}{"b":{"c":2}}', [{"a": 1}, {"b": {"c": 2}}], 0),
        (b'{"a":1} {"b":2}{"c":3}', [{"a": 1}, {"b": 2}, {"c": 3}], 0),
        (b'{"a":"to{"b":{"c":2}}', [{"b": {"c": 2}}], 1),
        (b'{"a":1}{"b":', [{"a": 1}], 1),
        (b'{"a":{"inner":1},"cut', [], 1),
        (b'{"a":{"inner":1},"cut{"b":2}', [{"b": 2}], 1),
        (b'{"b":2}{"a":{"inner":1},"cut', [{"b": 2}], 1),
        (b'junk{"a":1}', [{"a": 1}], 1),
        (b'{"a":1}junk', [{"a": 1}], 1),
        (b'{"a":"\xff"}', [{"a": "\ufffd"}], 0),
        (b"[1,2]", [], 1),
        (b"\0\0\0", [], 1),
        (b"{" * 5000, [], 1),
        (b'{"a":' * 5000, [], 1),
        (b" \t ", [], 0),
    ],
)
def test_a_broken_line(line, seen, damaged):
    """Glued: all of them. Torn: what is whole after it, one mark, and nothing that may be a part of what was lost."""
    fold = fed(b'{"first":1}\n' + line + b"\n", Limits(whole=True))
    assert fold.seen[1:] == seen
    assert fold.draft.finish(HIT).accounting.damaged == damaged


def test_a_line_above_the_limit_is_one_mark_and_the_next_is_read():
    fold = fed(b'{"a":1}\n{"pad":"' + b"x" * 5_000_000 + b'"}\n{"b":2}\n', Limits(whole=True, record=1000))
    assert fold.seen == [{"a": 1}, {"b": 2}]
    assert fold.draft.finish(HIT).accounting.damaged == 1


def test_a_tail_grows_until_it_holds_a_record():
    """A line of 300 KiB at the end: a tail of 256 KiB has no whole one."""
    data = b'{"a":1}\n' + b'{"mid":1}\n{"mid":2}\n' * 40_000 + b'{"pad":"' + b"x" * 300_000 + b'"}\n'
    fold = fed(data, Limits(head=16, tail=256 * 1024))
    assert fold.seen[-1]["pad"]
    assert fold.draft.finish(HIT).accounting.damaged == 0


def test_a_file_above_the_most_is_read_at_its_ends():
    data = b'{"a":1}\n' + b'{"mid":1}\n{"mid":2}\n' * 400 + b'{"z":1}\n'
    fold = fed(data, Limits(head=16, tail=16, whole=True, most=100))
    assert (fold.seen[0], fold.seen[-1]) == ({"a": 1}, {"z": 1})
    assert fold.draft.finish(HIT).accounting.skipped_bytes


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b"[1]", {"items": [1]}),
        (b'"a"', None),
        (b"{", None),
        (b'{"a":"\xff"}', {"a": "\ufffd"}),
        (b"", None),
        (b"[" * 100_000, None),
    ],
)
def test_a_document(data, value):
    assert lines.whole(data) == value
