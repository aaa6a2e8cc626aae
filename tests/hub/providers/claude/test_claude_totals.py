"""The sum over Claude's files: each message of a request once, wherever the bytes are cut and whatever stands there."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.cost import Tokens
from hub.providers.claude.totals import ClaudeTotals, merged
from tests.hub.providers.claude.summed import by_every_record, odd_lines


def counted(files):
    """What one process finds in files, each given as its pieces in their order."""
    totals = ClaudeTotals()
    for pieces in files:
        for piece in pieces:
            totals.feed(piece)
        totals.end()
    return totals


def together(*shares):
    """Tokens by model, of what several processes have counted."""
    found = merged(one.told() for one in shares)
    return {
        model: Tokens(fresh + written + cached, out, cached, written)
        for model, (out, fresh, written, cached) in found.models.items()
    }


def total(files):
    return together(counted(files))


def unreadable(files):
    return merged([counted(files).told()]).unreadable


def record(name, request, out, *, model="m", fresh=10, read=5, written=2):
    usage = {
        "input_tokens": fresh,
        "output_tokens": out,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }
    message = {"id": name, "model": model, "content": [], "usage": usage}
    value = {"type": "assistant", "requestId": request, "message": message}
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


ROWS = [
    record("m1", "r1", 1),
    record("m1", "r1", 500),
    record("m2", "r2", 7000),
    record("m2", "r2", 3),
    record("m1", "r9", 100, model="n"),
    b'{"type":"user","message":{"content":"\\"usage\\":{"}}\n',
    b'{"type":"other","x":{"usage":{}}}\n',
]
SUMS = {"m": Tokens(34, 7500, 10, 4), "n": Tokens(17, 100, 5, 2)}


@given(st.lists(st.integers(0, sum(map(len, ROWS)))))
def test_however_the_bytes_are_cut_the_sum_is_the_same(cuts):
    """ccusage counts a pair of message and request once, and of several figures the largest."""
    data = b"".join(ROWS)
    edges = sorted({0, *cuts, len(data)})
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert total([pieces]) == SUMS


def test_a_copy_in_another_file_counts_once():
    """A forked session begins with a copy of the other's records."""
    assert total([ROWS, ROWS[:3]]) == SUMS


def test_a_last_line_without_its_end_counts():
    assert total([[ROWS[0].rstrip()]]) == {"m": Tokens(17, 1, 5, 2)}


@pytest.mark.parametrize(
    "line",
    [b'{"type":"assistant","message":{"usage":{', b'x"usage":{\n', b'{"a":{"usage":{"input_tokens":"x"}}\n'],
)
def test_a_line_that_cannot_be_read_is_counted(line):
    assert unreadable([[line]]) == 1
    assert total([[line]]) == {}


@given(st.integers(0, len(ROWS)))
def test_shared_out_among_processes_the_sum_is_the_same(cut):
    """One answer may stand in the files of two."""
    assert together(counted([ROWS[:cut]]), counted([ROWS[max(0, cut - 2) :]])) == SUMS


def test_of_three_processes_with_one_answer_the_largest_figure_counts():
    rows = (record("m", "r", out) for out in (3, 9, 9))
    assert together(*(counted([[row]]) for row in rows)) == {"m": Tokens(17, 9, 5, 2)}


def test_a_message_without_a_name_is_one_of_its_own_in_each_process():
    row = record("", None, 4)
    assert together(counted([[row]]), counted([[row, row]])) == {"m": Tokens(51, 12, 15, 6)}


@given(st.lists(odd_lines(), max_size=8), st.booleans(), st.integers(100, 9000))
@settings(max_examples=50)
def test_odd_lines_count_as_if_every_record_was_read_whole(lines, ended, step):
    """Most bytes are not looked at: results of tools that hold a usage, glued and torn lines, escapes, bad UTF-8."""
    data = b"\n".join(lines) + (b"\n" if ended else b"")
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    assert total([pieces]) == by_every_record(data)


@given(st.lists(odd_lines(), max_size=8), st.integers(0, 8), st.integers(0, 8))
@settings(max_examples=50)
def test_shared_out_in_any_way_odd_lines_count_the_same(lines, first, second):
    shares = [lines[:first], lines[first:second], lines[max(first, second) :], lines[:second]]
    found = together(*(counted([[line] for line in share]) for share in shares))
    assert found == by_every_record(b"\n".join(line for share in shares for line in share))


def test_a_long_record_of_another_kind_is_not_looked_at():
    """Results of tools are most of the bytes; what one quotes is no usage, and no damage either."""
    quoted = b'{"type":"user","message":{"content":"' + b"r" * 5000 + b'"},"toolUseResult":{"usage":{'
    answer = record("m1", "r1", 3).replace(b'"content":[]', b'"content":["' + b"r" * 5000 + b'"]')
    lines = [[quoted + b"\n" + answer]]
    assert (unreadable(lines), total(lines)) == (0, {"m": Tokens(17, 3, 5, 2)})
