"""Secrets leave no trace: over every cut, twice as well as once, in events and values too."""

from __future__ import annotations

import hashlib
import json
import random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hub.domain.event import Event, EventType
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.redactor import KnownSecrets, summary
from hub.domain.redaction.rules import RULES
from tests.hub.domain.redaction.kit import (
    ALL_FORMS,
    ANTHROPIC,
    KNOWN,
    MARK,
    VALUES,
    redactor,
    sample,
    streamed,
)

alphabet = st.sampled_from(
    [
        *ALL_FORMS,
        *VALUES[:2],
        ANTHROPIC[:20],
        ANTHROPIC[9:],
        "hunter2",
        "2hunter2",
        "\n",
        "\r\n  ",
        "\\n",
        "\\",
        " ",
        "n",
        "x",
    ]
    + [sample(rule, random.Random(rule.literal)) for rule in RULES]
    + [
        "sk-",
        "ant-",
        "eyJ",
        "Bearer ",
        "-----",
        "BEGIN ",
        "PRIVATE KEY-----",
        "://",
        ":",
        "@",
        "[REDACTED:x:",
        "]",
    ]
)
texts = st.lists(alphabet, max_size=6).map("".join)
cuts = st.lists(st.integers(0, 400), max_size=6)


@given(texts, cuts)
@example("hunter2hunter\\" + "n2", [14])
@example("n-secret-value-r\\" + "n x", [17])
@example("Bearer hunter2hunter2hunter2", [7, 14])
def test_however_a_text_is_cut_its_pieces_are_the_whole(text, cuts):
    assert streamed(text, cuts) == redactor().text(text)


@given(texts)
@example("hunter2hunter\\")
@example("before sk-ant-api03-Zq8\n  Zq8")
def test_what_has_begun_at_the_end_is_told_without_a_search_of_the_text(text):
    """The end of each message is asked for it when the next one comes: it may not cost as much as the message did."""
    assert KNOWN.begun(text) == KNOWN.scan(text, 0, final=False)[1]


pieces = st.builds(lambda text, lo, size: text[lo : lo + size], texts, st.integers(0, 60), st.integers(0, 20))


@given(pieces, pieces)
@example("say hunter2", "hunter2 ")
@example("a hunter2hu\\", "nnter2")
def test_what_is_remembered_of_a_message_is_all_that_the_next_ones_are_asked_about(one, two):
    """Two thousand letters of each kind of message were kept, and searched at each message that followed."""
    red = redactor()
    assert red.begins(red.begins(one) + two).rstrip() == red.begins(one + two).rstrip()
    begun = red.begins(one).rstrip()
    spans, hold = KNOWN.scan(begun + two, 0, final=False)
    over = [span for span in spans if span.start < len(begun) < span.end]
    assert bool(red.begun({begun}, two)) == bool(begun and (over or hold < len(begun) < len(begun + two)))


@settings(max_examples=50)
@given(texts)
def test_letter_by_letter_is_the_whole(text):
    text = text[:600]
    assert streamed(text, list(range(len(text)))) == redactor().text(text)


@given(texts)
@example("hunter2hunter2sk-" + "a1B2" * 10)  # a marker is no boundary
@example("hunter2hunter2abc8Q~" + "a1B2c" * 7)
@example("AKIA" + "A1B2" * 4 + "hunter2hunter2")
@example("login " + "hunter2" * 12 + " password a1B2c3D4e5")
def test_redacting_twice_is_redacting_once_and_nothing_remains(text):
    once = redactor().text(text)
    assert redactor().text(once) == once
    for form in ALL_FORMS:
        assert form not in once


@given(
    st.lists(
        st.sampled_from(["aaaaaaaa", "aaaaaaab", "baaaaaaaa", "abababab", "abababababa", "bbbbbbbba"]),
        unique=True,
    ),
    st.text("ab\n\\", max_size=60),
    cuts,
)
def test_the_laws_hold_for_values_that_overlap_in_every_way(values, text, cuts):
    known = KnownSecrets(values)
    whole = redactor(known).text(text)
    assert streamed(text, cuts, known) == whole
    assert not any(value in whole.replace("\n", "").replace("\\n", "") for value in values)


def test_an_event_is_redacted_in_content_and_everywhere_in_meta():
    key = "hunter2hunter2"
    event = Event(EventType.TOOL_USE, f"use {key}", {"a": [key, 1, {"b": (key, None)}], key: True, "n": 1.5})
    (safe,) = EventRedactor(redactor()).feed(event)
    assert key not in json.dumps(safe.to_json())
    assert safe.meta["n"] == 1.5
    assert safe.meta["a"][1] == 1


def test_deep_meta_is_flattened_rather_than_followed():
    deep: object = "hunter2hunter2"
    for _ in range(100):
        deep = [deep]
    assert "hunter2" not in json.dumps(redactor().value({"x": deep}))


def test_counts_are_by_kind_and_taken_once():
    red = redactor()
    red.text(f"hunter2hunter2 {ANTHROPIC} {ANTHROPIC} ghp_{'a1B2' * 9}")
    counts = red.take_counts()
    assert summary(counts) == "anthropic-api-key:2, github:1, known:1"
    assert red.take_counts() == {}
    assert summary({}) == ""


def test_many_different_secrets_do_not_fill_the_table_of_markers():
    red = redactor()
    for number in range(1100):
        assert MARK.fullmatch(red.text(f"ghp_{hashlib.sha256(str(number).encode()).hexdigest()}"))
    assert len(red._marks) == 1024


def test_what_names_a_secret_is_held_with_it_while_another_layer_waits():
    """A known value may begin inside `Bearer `: letting that out would blind the rule to the key behind it."""
    known = KnownSecrets(['er qz7defghijklmnopqrstuvwxyz"secret'])
    text = 'Bearer qz7defghijklmnopqrstuvwxyz"secre!'
    assert "defghijk" not in redactor(known).text(text)
    for cut in range(len(text) + 1):
        assert streamed(text, [cut], known) == redactor(known).text(text)


def test_what_names_a_secret_is_held_with_it_at_every_cut():
    rule = next(rule for rule in RULES if "ecretAccessKey" in rule.literal)
    text, nobody = f"a {sample(rule, random.Random(rule.literal))} b\n", KnownSecrets([])
    assert f"[REDACTED:{rule.name}:" in redactor(nobody).text(text)
    for cut in range(len(text) + 1):
        assert streamed(text, [cut], nobody) == redactor(nobody).text(text)


def test_a_known_key_that_goes_on_in_the_next_turn_of_a_talk_is_hidden_there():
    """Turns are read one after another; items that are none, and what stands deeper than is followed, stay as they are."""
    turns = [
        {"role": "a", "text": "it is hunter2"},
        {"role": "b", "text": ""},
        {"role": "a", "text": "hunter2 ok"},
    ]
    safe = redactor().value(["x", *turns, {"text": 7}])
    assert MARK.sub("*", safe[3]["text"]) == "* ok"
    assert (safe[0], safe[1]["text"], safe[4]) == ("x", "it is hunter2", {"text": 7})
    deep: object = turns
    for _ in range(64):
        deep = [deep]
    assert "hunter2hunter2" not in json.dumps(redactor().value(deep))
