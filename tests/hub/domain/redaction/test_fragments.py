"""Pieces of known values: whoever cut them off, and wherever they stand."""

from __future__ import annotations

import random
import string
import uuid
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.fragments import SIZE, WORDS_SIZE, Fragments, Piece, tells
from hub.domain.redaction.redactor import KnownSecrets, Redactor

KEY = "sk-ant-api03-tR8vQ2mX4kLpW9zN-Yb6Jc1_Hd5Gf3Sa7Ue0"
PATH = "/home/dev7/work/creds-2024.json"
SENTENCE = "the 2nd horse, a battery and a staple"
PIECE = Piece("known", KEY.encode())


def redactor(*values: str) -> Redactor:
    return Redactor(KnownSecrets(values or (KEY,)), b"installation")


def test_eight_letters_of_a_key_are_hidden_wherever_a_text_was_cut():
    """Programs cut at a width, agents in the middle, hub at a size: a piece is neither the beginning nor the whole."""
    red = redactor()
    for size in range(SIZE, 24):
        for at in range(8, len(KEY) - size + 1):
            piece = KEY[at : at + size]
            for text in (
                piece,
                f"a {piece}... b",
                f"{piece} [12 characters left out]",
                f'{{"a":"{piece}…"}}',
            ):
                assert piece not in red.text(text), text


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


def test_sixteen_letters_of_a_passphrase_are_hidden_and_a_word_of_it_is_text():
    red = redactor("correct-horse-battery-staple")
    assert "horse-ba" not in red.text("a horse-battery-stap b")
    assert red.text("a horse-bat battery, staple-gun b") == "a horse-bat battery, staple-gun b"


@pytest.mark.parametrize(
    "key",
    ["sk-opencode-test-1234", "key-of-the-user-of-opencode", "opencode2024", "sk-opencode-tR8vQ2mX4kLpW9zN"],
)
def test_a_name_that_stands_in_a_key_is_no_secret_and_the_key_is_one(key):
    """A key with a vendor's name in it hid the name in every text, and no contract that said it could be written."""
    text = "opencode runs test-123 with opencode-tools; ask opencode"
    known = KnownSecrets([key])
    assert redactor(key).text(text) == text
    assert not known.stand_in(text)
    assert key not in redactor(key).text(f"it is {key}, no?")


@pytest.mark.parametrize("key", ["password1", "Development", "authentication", "changeme-now", "test-token"])
def test_a_key_that_is_a_word_hides_that_and_leaves_its_parts(key):
    """Texts with a word of it stay whole, wherever they end; the last look at a contract takes it for a word, too."""
    for text in (
        "enter your password",
        "developments of the develop",
        "authenticat",
        "changeme",
        "a test-to",
    ):
        assert redactor(key).text(text) == text
    assert key not in redactor(key).text(f"it is {key}.")
    assert not KnownSecrets([key]).stand_in(f"it is {key}.")


@pytest.mark.parametrize("key", [KEY, "hunter2hunter2", "correct-horse-battery-staple", "k9Qx4Lm2Vt7Rz"])
def test_a_whole_key_is_met_and_sixteen_letters_of_it_and_no_less(key):
    known = KnownSecrets([key])
    assert known.stand_in(f"it is {key}.")
    assert known.stand_in(f"it is {key[::-1]}.")
    assert known.stand_in(f"it is {key[-20:-2]}.") is (len(key) > 17)
    assert not known.stand_in(f"it is {key[-12:-2]}")
    assert not KnownSecrets().stand_in(key)


def test_a_key_that_only_begins_like_a_path_has_pieces():
    key = "/BC94DzMdlvAutxQ5H8ara4E1xSKP7B12Ki+SxPC"
    assert key[9:20] not in redactor(key).text(f"a {key[9:20]} b")


def letters(alphabet: str, size: int) -> Callable[[random.Random], str]:
    return lambda rng: "".join(rng.choices(alphabet, k=size))


ALNUM = string.ascii_letters + string.digits


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "draw",
    [
        letters(ALNUM, 40),
        letters(ALNUM + "_-", 90),
        letters(ALNUM + "+/", 40),
        letters(string.ascii_lowercase + string.digits, 32),
        letters("0123456789abcdef", 40),
        letters(string.ascii_lowercase, 32),
        letters(string.ascii_letters, 34),
        lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    ],
    ids=["base62", "url-safe", "base64", "small letters", "hex", "no digits", "letters", "uuid"],
)
def test_of_keys_that_were_drawn_no_eight_letters_look_like_words(draw):
    """What a person writes is told from what a generator makes; in one piece of a hundred chance writes a word."""
    rng, seen, all_of_them = random.Random("drawn"), 0, 0
    for _ in range(60):
        key = draw(rng)
        red = redactor(key)
        pieces = [key[at : at + SIZE] for at in range(len(key) - SIZE + 1)]
        pieces = [piece for piece in pieces if not piece.isdigit()]
        seen += sum(piece in red.text(f"a {piece}! b") for piece in pieces)
        all_of_them += len(pieces)
    assert seen <= all_of_them / 100


def test_a_number_is_hidden_where_sixteen_digits_in_a_row_are_of_a_key():
    """Of fewer there are so many in keys and in the numbers of a day that some are alike by chance."""
    key = "9f" + "1734625089" * 2 + "c41d7be08a3f5629"
    red = redactor(key)
    for digits in range(SIZE, WORDS_SIZE):
        number = f"at 88{key[3 : 3 + digits]}88 ns"
        assert red.text(number) == number
    assert key[3 : 3 + WORDS_SIZE] not in red.text(f"at {key[3 : 3 + WORDS_SIZE]} ns")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("opencode", False),
        ("test-1234", False),
        ("MySecretPass", False),
        ("ab, cd 1", False),
        ("qXzRtKvB", True),
        ("strngthsx", True),
        ("a1b2c3d4", True),
        ("the words of it", False),
        ("the words of it all", True),
        ("4f1c7a52-93be", True),
    ],
)
def test_which_letters_tell_something_of_a_value(text, said):
    assert tells(text) is said


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
