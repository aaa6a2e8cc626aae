"""Secrets out of a file's text: nothing is left of them, and no line moves."""

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.lines import hidden_in_place, shown
from hub.domain.redaction.redactor import KnownSecrets, Redactor

SECRET = "first line of it\n  second line\n\tthird"
REDACTOR = Redactor(KnownSecrets([SECRET, "of it\n  second line", "hunter2hunter2"]), b"k")


def test_a_text_without_a_secret_is_itself():
    text = "def f():\n    return 1\n"
    assert hidden_in_place(REDACTOR, text) is text


def test_finds_that_overlap_are_one():
    assert hidden_in_place(REDACTOR, f"a {SECRET} b\nc") == f"a {REDACTOR.text(SECRET)}\n\n b\nc"


@given(
    st.lists(st.sampled_from([SECRET, "hunter2hunter2", "x = 1", "\n", " ", "first line of it"]), max_size=12)
)
def test_lines_stay_and_what_is_left_is_what_redaction_leaves(pieces):
    """Retrieval tells line numbers: they are the file's."""
    text = "".join(pieces)
    hidden = hidden_in_place(REDACTOR, text)
    assert hidden.count("\n") == text.count("\n")
    assert hidden.replace("\n", "") == REDACTOR.text(text).replace("\n", "")


HIDE = partial(hidden_in_place, REDACTOR)


def test_many_texts_are_shown_as_one_each_in_its_place():
    texts = ["a", "", "x hunter2hunter2\ny", "last"]
    assert shown(texts, HIDE) == ["a", "", f"x {REDACTOR.text('hunter2hunter2')}\ny", "last"]


def test_what_a_terminal_acts_on_is_in_none_of_them():
    """Also where it counts as an end of a line: no text moves into its neighbour's place."""
    assert shown(["a\x1b[2Jb", "c\u2028d", "e"], HIDE) == ["ab", "c\nd", "e"]
