"""Words of code and of questions: cut alike, so that what is asked is what is found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.graph.terms import MAX_TERMS, all_of, any_of, loosened, phrase, spaced, terms


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("getUserName", "get User Name"),
        ("HTTPServer", "HTTP Server"),
        ("getXValue", "get X Value"),
        ("parseJSON", "parse JSON"),
        ("utf8Decode", "utf8 Decode"),
        ("snake_case", "snake_case"),
        ("a.getB(c)", "a.get B(c)"),
        ("GrößeÄndern", "GrößeÄndern"),
        ("plain words", "plain words"),
        ("", ""),
    ],
)
def test_a_camel_case_word_is_cut_where_a_reader_would(text, cut):
    assert spaced(text) == cut


@given(st.text())
def test_cutting_only_adds_spaces_and_is_done_once(text):
    """The index forgets a chunk by the very text it was told."""
    cut = spaced(text)
    assert cut.replace(" ", "") == text.encode("utf-8", "replace").decode().replace(" ", "")
    assert spaced(cut) == cut


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("getUserName", (("get", "user", "name"),)),
        ("get_user_name", (("get", "user", "name"),)),
        ("user.getName", (("user", "get", "name"),)),
        ("where is the retry delay computed?", (("retry",), ("delay",), ("computed",))),
        ("retry retry Retry", (("retry",),)),
        ("the of and", (("the",), ("of",), ("and",))),
        ("¿?", ()),
        ("__init__", (("init",),)),
        ("___", ()),
    ],
)
def test_a_question_is_its_telling_words(question, found):
    assert terms(question) == found


@given(st.text(max_size=300))
def test_any_question_makes_a_query_of_letters_and_digits(question):
    """Nothing of a question can be taken for the index's own syntax."""
    found = terms(question)
    assert len(found) <= MAX_TERMS
    for words in found:
        assert words
        assert all(char.isalnum() for word in words for char in word)


def test_an_approximate_match_may_do_with_an_identifiers_words():
    found = terms("getUserName quickly")
    assert loosened(found) == (("get", "user", "name"), ("user",), ("name",), ("quickly",))
    assert phrase(("get", "user")) == '"get user"'
    assert all_of(found) == '"get user name" AND "quickly"'
    assert any_of(found[1:] * 2) == '"quickly" OR "quickly"'
