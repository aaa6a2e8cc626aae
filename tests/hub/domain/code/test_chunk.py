"""Chunks of source files."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.code.chunk import LINES, MAX_LINE, CodeChunk, chunks


@given(
    st.lists(
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=5), max_size=200
    )
)
def test_nothing_is_lost_or_doubled(lines):
    """Put together, the chunks are the file; each line is in one of them, at its number."""
    text = "\n".join(lines)
    found = chunks(text.encode())
    assert "\n".join(each.body for each in found) == text.removesuffix("\n")
    assert all(each.body.count("\n") == each.end_line - each.start_line < LINES for each in found)
    assert [each.start_line for each in found] == list(range(1, len(found) * LINES, LINES))


def test_an_empty_file_has_none_and_a_last_newline_begins_no_line():
    assert chunks(b"") == []
    assert chunks(b"\n") == [CodeChunk(1, 1, "")]
    assert chunks(b"a\n" * 61) == [CodeChunk(1, 60, "\n".join("a" * 60)), CodeChunk(61, 61, "a")]


def test_what_is_no_utf8_is_replaced():
    assert chunks(b"caf\xe9") == [CodeChunk(1, 1, "caf\N{REPLACEMENT CHARACTER}")]


@given(st.binary(max_size=10), st.integers(1, 100_000), st.integers(0, 70))
def test_a_chunk_is_bounded(part, times, short):
    """A minified bundle is one line of a megabyte."""
    body = b"short\n" * short + part * times
    assert all(len(each.body) <= LINES * (MAX_LINE + 1) for each in chunks(body))


def test_only_long_lines_are_cut():
    (found,) = chunks(b"a\n" + b"b" * 100_000 + b"\nc")
    assert found == CodeChunk(1, 3, "a\n" + "b" * MAX_LINE + "\nc")
    (whole,) = chunks(b"b" * 2000)
    assert len(whole.body) == 2000
