"""What a shell makes of a word is one more reading of it; the word itself is always one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.shellword import braced, readings


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a$IFS-b", "a -b"),
        ("$PWD/a ${PWD} ~+/b ~+x", "./a . ./b ~+x"),
        (r"$'\x41\101\u0041\U00000041\n\'\a'", "'AAAA\n''"),
        (r"$'\UFFFFFFFFx'", "'x'"),
        ("a=b; $a ${a} $c", "a=b; b b $c"),
        ('x="y z" && $x', 'x="y z" && y z'),
        ("a !(b) c", "a * c"),
        ("alias a='b c'\na x; a-a", "alias a='b c'\nb c x; a-a"),
    ],
)
def test_what_is_read(line, read):
    assert readings(line) == [line, read]


@given(st.text(alphabet="ab =;'", max_size=40))
def test_a_plain_line_has_one_reading(line):
    assert readings(line) == [line]


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("a", ["a"]),
        ("{a,b}", ["a", "b"]),
        ("{a,}", ["a"]),
        ("x{a,b{c,d}}y", ["xay", "xbcy", "xay", "xbdy"]),
        ("{}{a}{b,c}", ["{}{a}b", "{}{a}c"]),
        ("a}b,{c", ["a}b,{c"]),
    ],
)
def test_what_braces_stand_for(word, words):
    assert braced(word) == words


def test_many_braces_are_bounded():
    assert len(braced("{a,b}" * 100)) <= 128
    assert len(braced("{" + "a," * 5000 + "}")) <= 128
