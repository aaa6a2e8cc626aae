"""What a shell makes of a word is one more reading of it; the word itself is always one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.permission.shellword import braced, readings


@pytest.mark.parametrize(
    ("line", "read"),
    [
        ("a$IFS-b", "a -b"),
        ("$PWD/a ${PWD} ~+/b ~+x", "./a . ./b ~+x"),
        (r"$'\x41\101\u0041\U00000041\n\'\a'", "'AAAA\n'\\'''"),
        (r"$'\UFFFFFFFFx'", "'x'"),
        ("a=b; $a ${a} $c", "a=b; b b $c"),
        ('x="y z" && $x', 'x="y z" && y z'),
        ("a !(b) c", "a * c"),
        ("alias a='b c'\na x; a-a", "alias a='b c'\nb c x; a-a"),
    ],
)
def test_what_is_read(line, read):
    assert readings(line) == [line, read]


@pytest.mark.parametrize(
    "line",
    [
        "a=rm; b=$a; $b x",
        'a=r; b="${a}m"; $b x',
        "a=rm; $a x; a=ls",
        "a=ls; a=rm; $a x",
        "f() { $a x; }; a=rm; f",
        "alias rm=ls; a=rm; $a x",
        "alias a=b; alias b=rm\na x",
        "alias a=rm; alias rm=ls\na x",
    ],
)
def test_one_of_the_readings_is_what_runs(line):
    """A `deny` of `rm` was walked around by a second name, and by a value set anew behind its use."""
    assert any("rm x" in one for one in readings(line))


def test_values_of_values_are_bounded():
    """Each doubles the one before: thirty of them would be a gigabyte."""
    line = "a0=xx;" + "".join(f"a{n}=$a{n - 1}$a{n - 1};" for n in range(1, 40)) + "alias " + "a39 " * 50
    assert sum(map(len, readings(line))) < 20_000_000


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
