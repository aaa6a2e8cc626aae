"""Lines out of bytes: any cut gives the same lines, and no line costs more than its cap."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.io.runner.framing import HEAD, MAX_LINE, Line, LineFramer

CHUNKS = st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\x01", b"\n")), max_size=30)


def fold(framer: LineFramer, chunks: list[bytes], start: int = 0) -> list[Line]:
    lines: list[Line] = []
    offset = start
    for chunk in chunks:
        lines += framer.feed(chunk, offset)
        offset += len(chunk)
    return lines + framer.finish()


def test_lines_come_without_their_newline_and_with_the_offset_behind_it():
    framer = LineFramer()
    assert framer.feed(b"one\ntw", 0) == [Line(b"one", 4, 0)]
    assert framer.feed(b"o\n\nend", 6) == [Line(b"two", 8, 0), Line(b"", 9, 0)]
    assert framer.finish() == [Line(b"end", 12, 0)]
    assert framer.finish() == []


@given(CHUNKS, st.integers(0, 1 << 40))
def test_however_the_bytes_are_cut_the_lines_are_the_same(chunks, start):
    data = b"".join(chunks)
    lines = fold(LineFramer(start), chunks, start)
    pieces = data.split(b"\n")
    assert [line.data for line in lines] == (pieces if pieces[-1] else pieces[:-1])
    # Each line stands in the data right before its newline, or at the very end.
    assert [line.end - start for line in lines] == [
        min(len(data), sum(len(piece) + 1 for piece in pieces[: n + 1])) for n in range(len(lines))
    ]


@given(CHUNKS)
def test_a_fold_begun_at_a_line_end_goes_on_as_the_first_one_did(chunks):
    """A daemon that comes back starts at the end of the last line it took."""
    data = b"".join(chunks)
    lines = fold(LineFramer(), [data])
    for index, line in enumerate(lines[:-1]):
        assert fold(LineFramer(line.end), [data[line.end :]], line.end) == lines[index + 1 :]


@given(st.lists(st.integers(0, 200), max_size=8), st.integers(1, 70))
def test_a_long_line_keeps_its_head_and_counts_the_rest(sizes, step):
    """In step again at the next newline, whatever the cut."""
    data = b"".join(bytes([65 + n]) * size + b"\n" for n, size in enumerate(sizes))
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    lines = fold(LineFramer(limit=100, head=10), chunks)
    for n, (size, line) in enumerate(zip(sizes, lines, strict=True)):
        kept = 10 if size > 100 else size
        assert (line.data, line.truncated) == (bytes([65 + n]) * kept, size - kept)


@pytest.mark.parametrize("size", [MAX_LINE, MAX_LINE + 1])
def test_the_cap_is_one_mebibyte(size):
    (line,) = LineFramer().feed(b"x" * size + b"\n", 0)
    assert (len(line.data), line.truncated) == ((size, 0) if size == MAX_LINE else (HEAD, size - HEAD))


def test_a_gigabyte_without_a_newline_costs_two_mebibytes():
    """Without the pipe: the real one is in `runner/test_flood.py`."""
    chunk = b"x" * (256 * 1024)
    framer = LineFramer()
    tracemalloc.start()
    try:
        for at in range(0, 1 << 30, len(chunk)):
            assert framer.feed(chunk, at) == []
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * MAX_LINE
    assert framer.feed(b"\nnext\n", 1 << 30) == [
        Line(b"x" * HEAD, (1 << 30) + 1, (1 << 30) - HEAD),
        Line(b"next", (1 << 30) + 6, 0),
    ]


def test_a_gap_is_an_error_rather_than_a_wrong_line():
    framer = LineFramer(10)
    framer.feed(b"ab", 10)
    with pytest.raises(ValueError, match="expected offset 12, got 13"):
        framer.feed(b"c", 13)
