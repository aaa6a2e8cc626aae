"""A known value is hidden where its letters are written by their numbers, wherever a stream is cut."""

from __future__ import annotations

import html

import pytest

from hub.domain.redaction.spelt import Spelt
from tests.hub.domain.redaction.kit import MARK, KnownSecrets, redactor, streamed

VALUE = 'k9Qx"4Lm&Vt7<Rz2Wp'
KNOWN = KnownSecrets([VALUE])
SPELT = {
    "percent": "".join(f"%{ord(one):02x}" for one in VALUE),
    "PERCENT": "".join(f"%{ord(one):02X}" for one in VALUE),
    "of a URL, in part": VALUE.replace("Q", "%51").replace('"', "%22"),
    "hex": "".join(rf"\x{ord(one):02x}" for one in VALUE),
    "hex within JSON": "".join(rf"\\x{ord(one):02X}"[1:] for one in VALUE),
    "JSON": "".join(rf"\u{ord(one):04x}" for one in VALUE),
    "ECMAScript": "".join(rf"\u{{{ord(one):x}}}" for one in VALUE),
    "octal": "".join(rf"\{ord(one):03o}" for one in VALUE),
    "entities": html.escape(VALUE),
    "decimal entities": "".join(f"&#{ord(one)};" for one in VALUE),
    "hex entities": "".join(f"&#x{ord(one):x};" for one in VALUE),
}


@pytest.mark.parametrize("kind", SPELT)
def test_a_known_value_is_hidden_however_its_letters_are_spelt(kind):
    text = f"before {SPELT[kind]} after, 5 % and R&D"
    whole = redactor(KNOWN).text(text)
    assert MARK.sub("§", whole) == "before § after, 5 % and R&D"
    for cut in range(len(text)):
        assert streamed(text, [cut], KNOWN) == whole, cut
    assert streamed(text, [*range(len(text))], KNOWN) == whole


def test_the_marker_is_that_of_the_value():
    assert redactor(KNOWN).text(SPELT["JSON"]) == redactor(KNOWN).text(VALUE)


def test_what_is_no_letter_of_ascii_is_none_of_a_value():
    spelt = Spelt("a&#150;b%41&#65;")
    assert spelt.view == "a\0bAA"
    assert [spelt.place(at) for at in range(6)] == [0, 1, 7, 8, 11, 16]


def test_only_what_may_be_a_spelling_is_held_back():
    stream = redactor(KNOWN).stream()
    assert stream.feed("of Y%") == "of Y"
    assert stream.feed(" and 1 & ?!") == "% and 1 & ?!"
    assert stream.feed(r"?!\x") == "?!"
