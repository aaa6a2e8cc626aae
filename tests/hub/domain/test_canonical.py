"""The canonical form equals RFC 8785, and strict reading lets only one reading through."""

import json
from enum import IntEnum, StrEnum

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.canonical import (
    MAX_DEPTH,
    MAX_INT,
    NotCanonicalError,
    StrictJsonError,
    canonical,
    parse_strict,
)

texts = st.text(st.characters(codec="utf-8"))
# Keys around the one place where code points and UTF-16 units sort differently.
keys = texts | st.text(
    st.sampled_from("a\x00\x7f\u2028\ud7ff\ue000\ufb33\uffff\U00010000\U0001f600\U0010ffff")
)
scalars = st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | texts
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(keys, inner), max_leaves=30)


@given(values)
def test_same_bytes_as_the_reference(value):
    """A property test must hold the fast encoder equal to `rfc8785`."""
    assert canonical(value) == rfc8785.dumps(value)


@given(values)
def test_reading_the_canonical_form_gives_the_value_back(value):
    assert parse_strict(canonical(value)) == value


VECTORS = [
    (None, b"null"),
    (True, b"true"),
    (False, b"false"),
    (0, b"0"),
    (-1, b"-1"),
    (MAX_INT, b"9007199254740991"),
    (-MAX_INT, b"-9007199254740991"),
    ("", b'""'),
    ({}, b"{}"),
    ([], b"[]"),
    ([[], {}, [1, [2]]], b"[[],{},[1,[2]]]"),
    ({"b": 1, "a": 2}, b'{"a":2,"b":1}'),
    ({"a": {"d": 1, "c": 2}}, b'{"a":{"c":2,"d":1}}'),
    ("\x00\x1f\x7f", b'"\\u0000\\u001f\x7f"'),
    ("\b\t\n\f\r", b'"\\b\\t\\n\\f\\r"'),
    ('"\\/', b'"\\"\\\\/"'),
    ("\u2028é\U0001f600", '"\u2028é\U0001f600"'.encode()),
    ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'.encode()),
    # RFC 8785, section 3.2.3: the sorting example.
    (
        {"€": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh", "1": "One",
         "\U0001f600": "Emoji: Grinning Face", "\x80": "Control", "ö": "Latin Small Letter O With Diaeresis"},
        '{"\\r":"Carriage Return","1":"One","\x80":"Control","ö":"Latin Small Letter O With Diaeresis",'
        '"€":"Euro Sign","\U0001f600":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}'.encode(),
    ),
    # RFC 8785, section 3.2.2: the example's strings and literals.
    (
        {"string": '€$\u000f\nA\'B"\\\\"/', "literals": [None, True, False]},
        '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'.encode(),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "expected"), VECTORS)
def test_published_vectors(value, expected):
    assert canonical(value) == expected
    assert rfc8785.dumps(value) == expected


def test_nfc_and_nfd_stay_different():
    assert canonical("\u00e9") != canonical("e\u0301")


def test_enums_count_as_their_values():
    class Name(StrEnum):
        A = "a"

    class Number(IntEnum):
        ONE = 1

    assert canonical({Name.A: Name.A, "n": Number.ONE, "t": (1, 2)}) == b'{"a":"a","n":1,"t":[1,2]}'


def nested(depth):
    value = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    UNFIT := [1.0, float("nan"), -0.0, MAX_INT + 1, -MAX_INT - 1, 10**5000, "\ud800", {"\udfff": 1}, {1: 2}, {None: 1}, b"x",
     {1, 2}, object(), [1.5], {"a": {"b": 2.5}}, {"\U0001f600": "\ud800"}, nested(MAX_DEPTH + 1), nested(5000)],
    ids=range(len(UNFIT)),
)  # fmt: skip
def test_what_has_no_canonical_form_is_refused(value):
    with pytest.raises(NotCanonicalError):
        canonical(value)


def test_deepest_allowed():
    assert parse_strict(canonical(nested(MAX_DEPTH))) == nested(MAX_DEPTH)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a":1,"a":2}', "duplicate key 'a'"),
        (b'{"a":1,"\\u0061":2}', "duplicate key 'a'"),
        (b'[{"b":{"x":1}},{"b":1,\n "c":2,"b":3}]', "duplicate key 'b'"),
        (b"[NaN]", "NaN"),
        (b"[1,-Infinity]", "-Infinity"),
        (b"[1e999]", "out of range: 1e999"),
        (b"9007199254740992", "out of range: 9007199254740992"),
        (b"[1,-9007199254740992]", "out of range"),
        (b"[" + b"9" * 5000 + b"]", "out of range"),
        (b'["ok","\\ud800"]', "surrogate"),
        (b'{"\\udc00":1}', "surrogate"),
        (b"[" * 65 + b"]" * 65, "deeper"),
        (b"[" * 100_000 + b"]" * 100_000, "deeper"),
        (b'{"a":' * 200_000, "deeper"),
    ],
)
def test_a_rule_that_is_broken_is_named(data, words):
    """400 for duplicate keys, NaN, numbers that are not told apart."""
    with pytest.raises(StrictJsonError) as caught:
        parse_strict(data)
    assert words in caught.value.reason
    assert len(str(caught.value)) < 100
    assert (caught.value.line, caught.value.column) == (None, None)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'"a\xff"', (1, 3)),
        (b'{\n"\xed\xa0\x80"', (2, 2)),
        (b"", (1, 1)),
        (b"{} {}", (1, 4)),
        (b"{'a':1}", (1, 2)),
        (b'{\n  "a": 1,\n  b: 2\n}', (3, 3)),
        (b"\xef\xbb\xbf{}", (1, 1)),
        (b'"a\nb"', (1, 3)),
        (b"01", (1, 2)),
    ],
)
def test_where_the_grammar_is_broken_is_told(data, place):
    """400 for malformed JSON and bad UTF-8."""
    with pytest.raises(StrictJsonError) as caught:
        parse_strict(data)
    assert (caught.value.line, caught.value.column) == place
    assert f"line {place[0]}, column {place[1]}" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [(b"0.9", 0.9), (b'{"a":1e2}', {"a": 100.0}), (b'"\\ud83d\\ude00"', "\U0001f600"), (b" [true , null]\n", [True, None]),
     (b'{"a":"\\"}{a","b":"[[["}', {"a": '"}{a', "b": "[[["}), (b'{"a":{"a":{"a":1}}}', {"a": {"a": {"a": 1}}}),
     (b"[" + b"[]," * 500 + b"[]]", [[]] * 501)],
)  # fmt: skip
def test_strict_reading_lets_plain_json_through(data, value):
    assert parse_strict(data) == value


@given(st.binary(max_size=60) | st.text('{}[]":,\\u0dD8a1-.eE \n', max_size=60).map(str.encode))
def test_strict_reading_accepts_only_what_the_standard_reader_reads_alike(data):
    """Fuzz: a value or a StrictJsonError, nothing else; and a value is the one Python's own reader gives."""
    try:
        value = parse_strict(data)
    except StrictJsonError:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize("text", [b'{"a\nb": "\\u0041"}', b'["\\u00e9", "tab\there"]'])
def test_a_string_that_is_malformed_is_told_by_the_reader(text):
    """A raw control character."""
    with pytest.raises(StrictJsonError, match=r"Invalid control character"):
        parse_strict(text)
