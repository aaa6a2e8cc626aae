"""The seam of a detection engine: asked about tokens, at every cut alike; an engine here is a few lines of `re`."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.engine import LONGEST, EngineLayer
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from tests.hub.domain.redaction.kit import cut_up

MARK = re.compile(r"\[REDACTED:([a-z0-9-]{1,32}):[0-9a-f]{8}\]")


class Context:
    """Finds `q` or `v1.0-` and twelve letters or digits anywhere, and hex where its line names `acme` before it."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def find(self, text):
        self.asked.append(text)
        found = [(m.start(), m.end(), "q") for m in re.finditer("(?:q|v1[.]0-)[a-z0-9]{12}", text)]
        found += [(m.start(1), m.end(1), "acme") for m in re.finditer("acme.*?([0-9a-f]{12,})", text)]
        return found


def redactor(engine=None):
    return Redactor(KnownSecrets(["hunter2hunter2"]), b"key", engine=engine or Context())


def kinds(text, engine=None):
    return MARK.findall(redactor(engine).text(text))


def test_the_engine_sees_a_token_behind_its_line():
    engine = Context()
    assert kinds("one\nacme key: 12ab34cd56ef78\nx", engine) == ["acme"]
    assert engine.asked == ["acme key: 12ab34cd56ef78"]


def test_questions_are_asked_together_and_only_where_something_is_seen_alone():
    """A question alone costs ten times what reading it costs."""
    engine = Context()
    text = "\n".join(f"id {number:04}abcd1234efgh" for number in range(50)) + "\nacme key: 12ab34cd56ef78"
    assert kinds(text, engine) == ["acme"]
    assert len(engine.asked) == 2
    assert engine.asked[1] == "acme key: 12ab34cd56ef78"


def test_many_questions_are_asked_in_portions_and_answers_are_forgotten():
    """What an engine reads at once is bounded, and so is what is remembered."""
    engine = Context()
    asked = redactor(engine)
    lines = [f"{'w ' * 70}{number:05}abcd1234efgh" for number in range(5000)]
    text = "\n".join([*lines, "acme key 12ab34cd56ef78"])
    assert MARK.findall(asked.text(text)) == ["acme"]
    assert max(map(len, engine.asked)) < 3 * 65_536
    assert MARK.findall(asked.text(text)) == ["acme"]


def test_a_questions_answer_is_remembered():
    engine = Context()
    asked = redactor(engine)
    for _ in range(3):
        asked.text("acme key: 12ab34cd56ef78 is it")
    assert len(engine.asked) == 1


KNOWN = ("toolu_01", "msg_01", "req_011", "call_", "sha256:", "sha512-")


@pytest.mark.parametrize(
    "text",
    [
        "acme id: 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b",
        *(f"acme key {known}12ab34cd56ef78" for known in KNOWN),
    ],
)
def test_ids_and_digests_are_no_question(text):
    """Every line of an agent has a UUID; a run of twelve mixed letters stands at its end."""
    engine = Context()
    assert kinds(text, engine) == []
    assert engine.asked == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("acme: 12ab34cd56ef78", []),
        ("acme request id: 12ab34cd56ef78", []),
        ("the key for acme is 12ab34cd56ef78", ["acme"]),
        ("acme: q1b2c3d4e5f6a", ["q"]),
    ],
)
def test_a_services_name_alone_announces_no_secret(text, found):
    """What follows is as often the id of a request or a commit; a form of its own or a word of secrets tells."""
    assert kinds(text) == found


def test_a_key_that_opens_nothing_any_more_is_left_to_its_name():
    """Cloudflare's service keys ended on 30 September 2026; what a name calls a secret is hidden all the same."""
    assert kinds("is v1.0-12ab34cd56ef it") == []
    assert kinds("origin_ca=v1.0-12ab34cd56ef it") == []
    assert kinds("token=v1.0-12ab34cd56ef78ab it") == ["generic"]


def test_another_line_names_nothing_and_neither_does_what_stands_before_a_marker():
    """Else hiding one secret would change what is found behind it, and twice were not once."""
    assert kinds("acme key\n12ab34cd56ef78") == []
    assert kinds("acme key hunter2hunter2 12ab34cd56ef78") == ["known", "acme"]
    assert kinds("acme key [x] 12ab34cd56ef78") == []


@pytest.mark.parametrize(
    "text", ["words only, of no interest", "camelCaseNames_and_snake_case_names", "0123456789012345"]
)
def test_the_engine_is_not_asked_about_words_and_numbers(text):
    engine = Context()
    assert redactor(engine).text(text) == text
    assert engine.asked == []


def test_a_find_in_what_stands_before_a_token_is_not_hidden_there():
    """It was its own token's, and was judged there."""

    class Everything:
        def find(self, text):
            return [(0, len(text), "all"), (0, 3, "front")]

    assert redactor(Everything()).text("see abcd1234efgh").startswith("see [REDACTED:all:")


def test_of_a_long_token_only_the_beginning_is_judged_however_it_is_cut():
    """Data is no key; and what a stream may hold back has a bound."""
    for size in (
        0,
        100,
        LONGEST - 20,
        LONGEST - 13,
        LONGEST - 12,
        LONGEST - 7,
        LONGEST,
        LONGEST + 9,
        2 * LONGEST,
    ):
        text = "x " + "/" * size + "q1b2c3d4e5f6a/tail q1b2c3d4e5f6a"
        whole = redactor().text(text)
        assert len(MARK.findall(whole)) == (2 if size <= LONGEST - 13 else 1)
        for cut in range(0, len(text), 7):
            assert cut_up(redactor(), text, [cut, cut + 3]) == whole
    stream = redactor().stream()
    for _ in range(50):
        stream.feed("/" * 99)
        assert len(stream._held) < LONGEST


def test_a_word_that_may_go_on_is_held_and_no_more():
    layer = EngineLayer(Context())
    assert layer.scan("the end", 0, final=False) == ([], 4)
    assert layer.scan("the end", 5, final=False) == ([], 7)
    assert layer.scan("the end", 0, final=True) == ([], 7)


def test_a_published_key_is_left_to_the_engine():
    """Google prints keys in its own documentation; an engine knows them, hub's own rule cannot."""
    key = "AIza" + "Sy1-bQ" * 5 + "abcde"

    class Silent:
        def find(self, text):
            return []

    assert "[REDACTED:google:" in Redactor(KnownSecrets(), b"key").text(f"is {key} it")
    assert redactor(Silent()).text(f"is {key} it") == f"is {key} it"


words = st.sampled_from(
    [
        "q1b2c3d4e5f6a",
        "acme ",
        "acme",
        "12ab34cd56ef78",
        " ",
        "\n",
        "]",
        "[",
        "/",
        "=",
        "q",
        "hunter2",
        "hunter2hunter2",
        "token",
        "token=",
        "secret: ",
        '"',
        "'",
        "abc123def456ghi7",
        "sk-ant-",
        "x" * 300,
        "curl -u a:",
        "key",
        "é",
    ]
)


@given(st.lists(words, max_size=9).map("".join), st.lists(st.integers(0, 400), max_size=5))
def test_however_a_text_is_cut_its_pieces_are_the_whole_and_twice_is_once(text, cuts):
    whole = redactor().text(text)
    assert cut_up(redactor(), text, cuts) == whole
    assert redactor().text(whole) == whole
