"""Pieces of known values: whoever cut them off, and wherever they stand."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.fragments import SIZE, Fragments, Piece, telling
from hub.domain.redaction.redactor import KnownSecrets, Redactor

KEY = "sk-ant-api03-tR8vQ2mX4kLpW9zN-Yb6Jc1_Hd5Gf3Sa7Ue0"
PATH = "/home/dev7/work/creds-2024.json"
SENTENCE = "the 2nd horse, a battery and a staple"
PIECE = Piece("known", KEY.encode())


def redactor(*values: str) -> Redactor:
    return Redactor(KnownSecrets(values or (KEY,)), b"installation")


def test_eight_letters_of_a_key_are_hidden_wherever_a_text_was_cut():
    """Programs cut at a width, agents in the middle, hub at a size: a piece is neither the beginning nor the whole."""
    for size in range(SIZE, 24):
        for at in range(8, len(KEY) - size + 1):
            piece = KEY[at : at + size]
            for text in (
                piece,
                f"a {piece}... b",
                f"{piece} [12 characters left out]",
                f'{{"a":"{piece}…"}}',
            ):
                assert piece not in redactor().text(text), text


def test_seven_letters_of_a_key_are_text():
    assert all(redactor().text(f"a {KEY[at : at + 7]}! b") == f"a {KEY[at : at + 7]}! b" for at in range(40))


def test_what_every_key_of_a_vendor_begins_with_is_text():
    assert (
        redactor().text('if key.startswith("sk-ant-api03-"): pass')
        == 'if key.startswith("sk-ant-api03-"): pass'
    )


def test_pieces_of_a_path_an_address_or_a_sentence_are_text_but_for_what_no_word_is():
    """A file's path is kept as a credential by many; its folder stands in every other line."""
    address = "https://api.acme.example/v2/models"
    red = redactor(PATH, address, SENTENCE)
    for text in ("/home/dev7/work/src/main.py", "https://api.acme.example/", "the battery and a staple, too"):
        assert red.text(f"see {text} there") == f"see {text} there"
    assert PATH not in red.text(f"see {PATH} there")
    assert "the 2nd ho" not in red.text("of the 2nd house")


def test_the_words_of_a_passphrase_are_hidden_too():
    assert "horse-bat" not in redactor("correct-horse-battery").text("a horse-bat b")


@pytest.mark.parametrize(
    ("gram", "opaque", "tells"),
    [
        ("aaaaaaab", True, False),
        (" a1b2c3d", True, False),
        ("abcdefgh", True, True),
        ("abcdefgh", False, False),
        ("ab, cd 1", False, True),
        ("password", False, False),
        ("qXzRtKvB", False, True),
    ],
)
def test_which_letters_tell_something_of_a_value(gram, opaque, tells):
    assert telling(gram, opaque=opaque) is tells


def test_a_piece_that_stands_in_a_marker_is_none():
    found = Fragments([("[REDACTED:anthropic-api-key", PIECE)], "[REDACTED:anthropic-api-key:")
    assert list(found.find(b"[REDACTED:anthropic-api-key:0011aabb]", 0, 0)) == []


def test_of_huge_values_and_of_none_there_are_no_pieces():
    huge = "".join(random.Random(1).choices("abcdef0123456789", k=5000))
    assert list(Fragments([(huge, PIECE)]).find(huge.encode(), 0, 0)) == []
    assert Fragments([]).begun("abc", 0) == 3
    assert KNOWN_WHOLE not in redactor(huge).text(f"x {huge} y")[:40]


KNOWN_WHOLE = "".join(random.Random(1).choices("abcdef0123456789", k=5000))[:20]


@given(st.integers(0, 40), st.integers(8, 40), st.integers(0, 9), st.integers(0, 9))
def test_a_piece_is_one_find_from_its_first_letter_to_its_last_at_every_place(at, size, before, after):
    piece = KEY[8 + at % 20 :][:size]
    found = Fragments([(KEY, PIECE)])
    view = b"." * before + piece.encode() + b"." * after
    places = [(span.start, span.end) for span in found.find(view, 0, 0)]
    assert places == ([(before, before + len(piece))] if len(piece) >= SIZE else [])


def test_the_places_of_a_long_text_are_found_in_every_stretch():
    view = (b"." * 70_001 + KEY[10:30].encode()) * 3
    assert [span.end - span.start for span in Fragments([(KEY, PIECE)]).find(view, 0, 0)] == [20, 20, 20]


def test_touching_pieces_are_two_and_what_may_go_on_is_held():
    found = Fragments([(KEY, PIECE)])
    both = (KEY[10:20] + "|" + KEY[30:40]).encode()
    assert [(s.start, s.end) for s in found.find(both, 0, 0)] == [(0, 10), (11, 21)]
    assert found.begun("see " + KEY[20:25], 0) == 4
    assert found.begun("see " + KEY[20:25], 6) == 6
    assert found.begun(KEY[20:40], 0) == 13
