"""Text that comes from an agent carries nothing a terminal acts on and nothing a reader cannot see."""

import json
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hub.domain.text.safe import MAX_LABEL, clean, clip, decode, headline, is_label, one_json

ATTACKS = [
    # security row 23
    ("\x1b[2J\x1b[Hgone", "gone"),
    ("\x1b[31;1mred\x1b[0m", "red"),
    ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x07", "link"),
    ("\x1b]52;c;ZXZpbA==\x07text", "text"),
    ("\x1b]0;title\x07text", "text"),
    ("\x1bPq#0;2;0\x1b\\text", "text"),
    ("\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\text", "text"),
    ("\x9b31mred\x9b0m", "red"),
    ("\x9d0;title\x9ctext", "text"),
    ("\x90dcs\x9ctext", "text"),
    ("\x1b(Btext\x1b7\x1b=\x1bc", "text"),
    ("\x07\x07\x08bell\x7f", "bell"),
    ("a\u202etxt.exe", "atxt.exe"),
    ("a\u200bb\u2066c\u2069\ufeffd", "abcd"),
    ("tag\U000e0041\U000e007f", "tag"),
    ("lone\ud800", "lone"),
    ("nul\x00", "nul"),
    ("unclosed \x1b]52;c;ZXZpbA==\nnext", "unclosed \nnext"),
    ("end\x1b", "end"),
    ("end\x1b[", "end"),
    ("one\r\ntwo\rthree\x85four\u2028five", "one\ntwo\nthree\nfour\nfive"),
]


@pytest.mark.parametrize(("text", "expected"), ATTACKS)
def test_what_a_terminal_acts_on_is_removed(text, expected):
    assert clean(text) == expected


@pytest.mark.parametrize(
    "text", ["", "plain", "tab\tand\nnewline", "\u00fcml\u00e4ut", "\u4e2d\u6587", "\u2764\ufe0f", "\ufffd"]
)
def test_what_a_reader_sees_is_kept(text):
    assert clean(text) is text


pieces = st.sampled_from(
    ["\x1b", "\x9b", "\x9d", "[", "]", "8;;", "\\", "\x07", "m", "0", "\r", "\n", "\u202e", "a", "\ud800"]
)
texts = st.lists(pieces, max_size=20).map("".join) | st.text(st.characters(), max_size=60)


@given(texts)
@example("\x1b\x1b[31m")
@example("\x1b\u200b[31m")
def test_clean_leaves_no_escape_and_nothing_invisible_and_is_idempotent(text):
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    for char in cleaned:
        assert char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"}
        assert unicodedata.bidirectional(char) not in {
            "LRE",
            "RLE",
            "LRO",
            "RLO",
            "PDF",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        }
    cleaned.encode()


@given(st.text(max_size=50), st.integers(0, 60))
def test_clip_is_never_longer_and_keeps_what_fits(text, limit):
    clipped = clip(text, limit)
    assert len(clipped) <= limit
    assert clipped == text or (len(text) > limit and text.startswith(clipped[:-1]))


def test_a_headline_is_the_first_line_clipped():
    assert headline("\n  fix it  \nand more") == "fix it"
    assert headline("a" * 99) == "a" * 79 + "\u2026"


@given(st.binary(max_size=50))
def test_decode_takes_any_bytes(data):
    decode(data).encode()


@pytest.mark.parametrize("label", ["work", "My account (2)", "\u00c5se", "\u4e2d\u6587", "a" * MAX_LABEL])
def test_labels(label):
    assert is_label(label)


@pytest.mark.parametrize(
    "label",
    # security row 5
    [
        "",
        "a" * (MAX_LABEL + 1),
        "a\nb",
        "\x1b]0;x\x07",
        "a\u202eb",
        "a\u200bb",
        " a",
        "a ",
        "a\tb",
        "\ue000",
        "\U000e0041",
        "\u0378",
    ],
)
def test_what_is_no_label(label):
    assert not is_label(label)


@given(
    st.recursive(
        st.text() | st.none() | st.integers(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@example(["\x1b[31m", "\u202eevil", "\U000e0001", "\u200b"])
def test_json_has_its_value_and_nothing_that_a_terminal_acts_on(value):
    text = one_json(value)
    assert json.loads(text) == value
    assert clean(text) == text
    assert "\n" not in text


def test_json_is_read_by_people_too():
    assert one_json({"a": ["\u00e9\U0001f600", "\u202e\x9b\U000e0001"]}) == (
        '{"a": ["\u00e9\U0001f600", "\\u202e\\u009b\\udb40\\udc01"]}'
    )
