"""The search for literals finds the same with RE2 and without it."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction import literals as redaction_literals
from hub.domain.redaction.literals import Literals, pattern

WORDS = ("abc", "abcab", "bcabc", "caa", "aaa", "-u ", "a.c", "a|b|", "sk-", "sk-ab")


def without_re2(words):
    """A searcher that was made where RE2 is not installed."""
    made = Literals(((word, word) for word in words), 3)
    made.__dict__["_finditer"] = None
    return made


@given(st.lists(st.sampled_from([*"abc-u .|sk", *WORDS]), max_size=30).map("".join), st.integers(0, 20))
def test_every_place_is_found_overlapping_ones_too(text, lo):
    expected = {
        (at, at + len(word), word)
        for word in WORDS
        for at in range(lo, len(text))
        if text.startswith(word, at)
    }
    for literals in (Literals(((word, word) for word in WORDS), 3), without_re2(WORDS)):
        found = list(literals.hits(text.encode(), lo))
        assert set(found) == expected
        assert len(found) == len(expected)


def test_no_literals_are_nowhere():
    assert list(Literals([], 3).hits(b"text", 0)) == []


@pytest.fixture
def fresh():
    """Whether RE2 is there is asked once; the test asks anew, and so does whoever comes after it."""
    redaction_literals._re2.cache_clear()
    yield
    redaction_literals._re2.cache_clear()


def test_where_re2_is_missing_the_search_goes_on(monkeypatch, fresh):
    """It is a plain dependency only where there are wheels."""
    monkeypatch.setitem(sys.modules, "re2", None)
    assert list(Literals([("abc", 1)], 3, ["abc[0-9]{4}"]).hits(b"xabcx", 0)) == [(1, 4, 1)]
    assert pattern("abc") is None


def test_with_re2_a_literal_without_what_must_follow_is_passed_over():
    made = Literals([("abc", 1), ("abcd", 2), ("bcd", 3)], 3, ["abcd?[0-9]", "bcd[0-9]"])
    text = b"abc abcd abcd1 bcd2"
    following = made.following(text, 0)
    assert [following(place) for place in (0, 9, 10, 11, 16)] == [9, 9, 10, 15, None]
    assert list(made.at(text, 9)) == [(b"abc", 1), (b"abcd", 2)]
    assert [made.next_of("abcd", lambda: "abcd[0-9]", text, place) for place in (0, 9, 10)] == [9, 9, None]


def test_without_re2_each_literal_is_looked_at():
    """Nothing else tells then of one behind which the end of a text cuts off what must follow."""
    made, text = without_re2(("abc", "bcd", "cab")), b"xabcdx abc"
    following = made.following(text, 0)
    assert [following(place) for place in (0, 2, 3, 8)] == [1, 2, 7, None]
    assert [made.next_of("abc", lambda: "abc[0-9]", text, place) for place in (0, 2, 8)] == [1, 7, None]


@given(st.lists(st.sampled_from([*"abc-u .|sk", *WORDS]), max_size=30).map("".join))
def test_whether_any_stands_in_a_text_is_told_alike(text):
    expected = any(word in text for word in WORDS)
    for literals in (Literals(((word, word) for word in WORDS), 3), without_re2(WORDS)):
        assert literals.stand_in(text.encode()) == expected


def test_no_literals_stand_in_no_text():
    assert not Literals([], 3).stand_in(b"text")
