"""Top-level symbols, beside samples whose lines say what they define."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hub.domain.code.symbol import MAX_NAME, MAX_SYMBOLS, Symbol
from hub.domain.code.table import LANGUAGES, declared

SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))
_LABEL = re.compile(r"(?://|#): (\w+ [^\s,]+(?:, \w+ [^\s,]+)*)")


def language(sample: Path) -> str:
    return sample.stem.partition("-")[0]


def labelled(text: str) -> list[Symbol]:
    """What the comments `//: kind name` or `#: kind name, kind name` of a sample say."""
    return [
        Symbol(name, kind, number)
        for number, line in enumerate(text.split("\n"), 1)
        for label in _LABEL.findall(line)
        for kind, name in (part.split(" ") for part in label.split(", "))
    ]


def test_every_language_has_a_sample():
    assert {language(sample) for sample in SAMPLES} == set(LANGUAGES)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["unix", "windows"])
def test_sample(sample, newline):
    """Every definition at the top level is found with its kind and line; none that a string or comment holds."""
    body = sample.read_bytes()
    found = declared(language(sample), body.replace(b"\n", newline)).symbols
    expected = labelled(body.decode())
    assert [each for each in found if each not in expected] == []
    assert [each for each in expected if each not in found] == []
    assert len(found) == len(expected)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.stem)
def test_a_definition_on_the_first_line_behind_a_byte_order_mark(sample):
    body = b"class First { }" if language(sample) not in {"go", "rust"} else b"type First = u8;"
    assert [
        (each.name, each.line) for each in declared(language(sample), b"\xef\xbb\xbf" + body).symbols
    ] == [("First", 1)]
    assert declared(language(sample), b"").symbols == []


def test_an_unknown_language_has_no_symbols():
    assert declared("cobol", b"class A:").symbols == []


def test_a_name_and_a_list_are_bounded():
    """A hostile file fills no database."""
    (found,) = declared("python", b"def " + b"a" * 100_000 + b"(): ...").symbols
    assert len(found.name) == MAX_NAME
    assert len(declared("python", b"a = 1\n" * (MAX_SYMBOLS + 1)).symbols) == MAX_SYMBOLS


def test_a_name_that_is_no_utf8_is_shown():
    assert [each.name for each in declared("python", b"def a\xff(): ...").symbols] == [
        "a\N{REPLACEMENT CHARACTER}"
    ]


CORNERS = {
    "comments that are closed": ("go", b"/* a */\ntype A int\n/* b */\ntype B int\n", ["A", "B"]),
    "a definition behind all comments": ("javascript", b"// `\nvar a", ["a"]),
    "a bracket that is escaped": ("ruby", b'A = %q{\\}\nclass B\n}\nclass C; end # "\n', ["A", "C"]),
    "a bracket in brackets": ("ruby", b'A = %q{{}\nclass B\n}\nclass C; end # "\n', ["A", "C"]),
    "a bracket that stays open": ("ruby", b'A = %q{\nclass B\n # "\n', ["A"]),
    "a document that ends": ("ruby", b'A = <<~X\nclass B; end\nX\nclass C; end # "\n', ["A", "C"]),
    "a shift": ("ruby", b'a <<X\nclass B; end # "\n', ["B"]),
    "a name of an earlier document": ("ruby", b'A = <<X\nX\na <<X\nclass B; end # "\n', ["A", "B"]),
    "a comment in a comment": ("rust", b"/* /* */\nfn a() {}\n*/\nfn b() {}\n", ["b"]),
    "a comment that stays open": ("rust", b"fn a() {}\n/* /* */\nfn b() {}\n", ["a"]),
}


@pytest.mark.parametrize("corner", CORNERS)
def test_strings_and_comments_are_left_out(corner):
    """One each, where nothing else in the file makes its strings be read."""
    language, body, names = CORNERS[corner]
    assert [each.name for each in declared(language, body).symbols] == names


def test_braces_in_a_templates_code_do_not_end_that_code():
    """After `{ a: 1 }` inside of `${...}` the template goes on where its own brace closes, and no sooner."""
    body = b"const t = `\n${f({ a: { b: 1 } }, '`')}\nclass Inside {}\n`;\nclass After {}\n"
    assert [(each.name, each.line) for each in declared("javascript", body).symbols] == [
        ("t", 1),
        ("After", 5),
    ]
