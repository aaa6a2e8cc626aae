"""Signs that mean the same are one to whoever reads words; a dash is no hyphen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.text.typography import typed


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("You\u2019ve hit your 5\u2011hour\u00a0limit", "You've hit your 5-hour limit"),
        (
            "\u201crate\u2010limited\u201d, \u2018again\u2019 in 5\u202fmin (UTC\u22128)",
            "\"rate-limited\", 'again' in 5 min (UTC-8)",
        ),
        ("limit reached \u2014 3\u20135pm", "limit reached \u2014 3\u20135pm"),
    ],
)
def test_signs_are_as_a_keyboard_has_them(text, plain):
    assert typed(text) == plain


@given(st.text())
def test_a_place_in_it_stays_where_it_was_and_ascii_is_untouched(text):
    assert len(typed(text)) == len(text)
    assert all(now == was for now, was in zip(typed(text), text, strict=True) if was.isascii())
    assert typed(typed(text)) == typed(text)


def test_every_blank_is_one():
    blanks = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Zs"]
    assert {typed(blank) for blank in blanks} - {" "} == {"\u1680"}, "but that of Ogham, which is drawn"
