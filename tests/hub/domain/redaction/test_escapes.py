"""Whoever reads `&quot;` sees a quote: what stands in it is hidden as it is in a plain one, wherever a stream is cut.

No name and value in quotes that a format escapes, in a table's lines or in a typesetter's quotes were found before.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.escapes import cut_off, unescaped
from tests.hub.domain.redaction.kit import KnownSecrets, leaks, redactor, streamed

NOBODY = KnownSecrets()
VALUE = "q7Zp2Lx9Vt4RbN8kW3mY"
WRITTEN = {
    "entities": "{&quot;api_key&quot;:&quot;§&quot;}",
    "numbered entities": "<pre>api_key=&#34;§&#34;</pre>",
    "JSON of Go and .NET": r'{"t":"\u003cadd key=\u0022api_key\u0022 value=\u0022§\u0022/\u003e"}',
    "signs in JSON": r'{"t":"GET /?a=1\u0026api_key=§"}',
    "hex": r"b'\x22api_key\x22: \x22§\x22'",
    "a form": "body=%7B%22api_key%22%3A%22§%22%7D",
    "colours in JSON": json.dumps({"t": "\x1b[36mapi_key\x1b[0m=\x1b[32m§\x1b[0m"}),
    "colours of a shell": r"printf '\033[1mapi_key\033[0m: \e[32m§\e[0m'",
    "a typesetter": "api_key = “§”",
    "a table": "│ api_key │ § │",
    "an arrow": "api_key → §",
    "a cell": "<tr><td>api_key</td><td>§</td></tr>",
}


@pytest.mark.parametrize("kind", WRITTEN)
def test_a_secret_is_hidden_however_its_quotes_are_written(kind):
    text = WRITTEN[kind].replace("§", VALUE)
    whole = redactor(NOBODY).text(text)
    assert not leaks(whole, VALUE), whole
    for cut in range(len(text)):
        assert streamed(text, [cut], NOBODY) == whole, cut
    assert streamed(text, [*range(len(text))], NOBODY) == whole


WITHIN = {
    "an entity": ('password="Tr0ub&amp;4dor3xyz"', "Tr0ub&amp;4dor3xyz"),
    "an attribute": ('<add key="password" value="Tr0ub&amp;4dor3xyz" />', "Tr0ub&amp;4dor3xyz"),
    "the same quote": ("password='it&apos;s9kQz7Lm2'", "it&apos;s9kQz7Lm2"),
    "brackets": ('password="a&lt;b&gt;9kQz7Lm2"', "a&lt;b&gt;9kQz7Lm2"),
    "quotes": ('password: "abc&quot;def&quot;ghi12345"', "abc&quot;def&quot;ghi12345"),
    "a number": ("password = 'O&#39;Reilly99secret'", "O&#39;Reilly99secret"),
    "a URL": ("postgres://user:pa&amp;ss99kQz@host/db", "pa&amp;ss99kQz"),
    "an option": ("mysql -u root -p'ab&quot;c9kQz7Lm'", "ab&quot;c9kQz7Lm"),
    "a login": (r"curl -u 'admin:ab\u0026c9kQz7Lm' http://x", r"ab\u0026c9kQz7Lm"),
    "a typesetter's": ('password: "Zx9“Q2vLm7Tz4"', "Zx9“Q2vLm7Tz4"),
    "an apostrophe": ("password: 'Zx9\u2019Q2vLm7Tz4'", "Zx9\u2019Q2vLm7Tz4"),
}


@pytest.mark.parametrize("kind", WITHIN)
def test_a_sign_within_a_value_does_not_end_it(kind):
    """What is escaped within plain quotes is a letter of the value: it was shown, as none of its pieces looks secret."""
    text, value = WITHIN[kind]
    whole = redactor(NOBODY).text(text)
    assert not any(value[at : at + 4] in whole for at in range(len(value) - 3)), whole
    for cut in range(len(text)):
        assert streamed(text, [cut], NOBODY) == whole, cut
    assert streamed(text, [*range(len(text))], NOBODY) == whole


PIECES = st.sampled_from(
    [text for text, _ in WITHIN.values()]
    + [text.replace("§", VALUE) for text in WRITTEN.values()]
    + ["hello world ", "\\", "&", "100% ", r"\u00", "&quo", "\n", 'a "b" c ', " " * 30, "x" * 190 + " "]
)


@given(st.lists(PIECES, max_size=5), st.lists(st.integers(0, 600), max_size=8))
def test_signs_around_and_within_values_are_told_alike_in_pieces(parts, cuts):
    """A text is looked at as it is written and as it is read: what is held back is what either may still change."""
    text = "".join(parts)
    assert streamed(text, cuts, NOBODY) == redactor(NOBODY).text(text)


def test_a_key_of_a_known_form_stands_behind_an_escaped_quote():
    """Its head has to begin a word, and `\\u0022` ends in a digit."""
    key = "AKIA" + "Q7ZP2LX9VT4RBN8K"
    assert not leaks(redactor(NOBODY).text(rf"{{\u0022id\u0022:\u0022{key}\u0022}}"), key)


@given(
    st.lists(
        st.sampled_from(
            [r"\u0022", r"\u001b[3", "1;2m", "&quot;", "&am", "p;", "%22%3A%22", "%", "\\", "é“", "a"]
        )
    )
)
def test_nothing_is_moved_and_all_signs_are_plain(parts):
    text = "".join(parts)
    plain = unescaped(text)
    assert len(plain) == len(text)
    assert unescaped(plain) == plain
    assert all(plain[at] in (letter, *" \"&|>:=<'") for at, letter in enumerate(text))


@pytest.mark.parametrize("text", ["plain text, 100 of it", 'x = "a b"'])
def test_a_text_without_any_is_the_same_object(text):
    assert unescaped(text) is text


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("a &quo", "&quo"),
        ("a \\u00", "\\u00"),
        ("a \\u001b[38;5", "\\u001b[38;5"),
        ("a %22%3", "%22%3"),
        ("a\\", "\\"),
    ],
)
def test_only_the_beginning_of_a_sign_is_waited_for(text, rest):
    assert text[cut_off(text) :] == rest
    assert cut_off(f"{text} ") == len(text) + 1
    assert cut_off("R&D, 5 % and \\n of it") == len("R&D, 5 % and \\n of it")
