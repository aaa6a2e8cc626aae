"""What authenticates a file below `.hub`: for these bytes, this name and this key alone."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.io.files import seal

KEY = b"k" * 32
OBJECTS = st.dictionaries(st.text(), st.integers() | st.text(), min_size=1).map(
    lambda v: json.dumps(v).encode()
)
ARRAYS = st.lists(st.integers() | st.text()).map(lambda v: json.dumps(v, indent=1).encode())
TABLES = st.sampled_from([b"", b"a = 1\n", b"# mine\n[b]\nc = 'x'", b"x = '''\n# seal '''\n"])
BODIES = OBJECTS | ARRAYS | TABLES


@given(BODIES, st.binary(max_size=40))
def test_what_was_sealed_comes_back(body, name):
    assert seal.opened(KEY, name, seal.closed(KEY, name, body)) == body


@given(OBJECTS | ARRAYS)
def test_sealed_json_is_json(body):
    value = json.loads(seal.closed(KEY, b"n", body))
    if isinstance(value, dict):
        assert len(value.pop("seal")) == 64
    assert value == json.loads(body)


def test_sealed_toml_is_toml():
    assert tomllib.loads(seal.closed(KEY, b"n", b"a = 1\n").decode()) == {"a": 1}


@given(BODIES, st.data())
def test_any_other_byte_breaks_the_seal(body, data):
    """But for line breaks at the very end, which say nothing."""
    whole = seal.closed(KEY, b"n", body)
    at = data.draw(st.integers(0, len(whole.rstrip(b"\n")) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[at]))
    changed = whole[:at] + bytes([other]) + whole[at + 1 :]
    if changed.rstrip(b"\n") != whole.rstrip(b"\n"):
        assert seal.opened(KEY, b"n", changed) is None


@given(BODIES)
def test_another_name_or_key_breaks_the_seal(body):
    whole = seal.closed(KEY, b"n", body)
    assert seal.opened(KEY, b"m", whole) is None
    assert seal.opened(b"l" * 32, b"n", whole) is None
    assert seal.opened(seal.derived(KEY, b"n"), b"n", whole) is None


@given(BODIES)
def test_no_seal_is_none(body):
    assert seal.opened(KEY, b"n", body) is None
    assert seal.split(body) == (body, "")


def test_name_and_bytes_do_not_run_into_each_other():
    assert seal.mark(KEY, b"ab", b"c") != seal.mark(KEY, b"a", b"bc")


@pytest.mark.parametrize(
    "tail", [b'{"a":1,"seal":"0"}', b"[]\n" + b" " * 255, b"[]\n" + b" " * 257, b"# seal ", b"\n" * 9, b" "]
)
def test_half_a_seal_is_none(tail):
    assert seal.opened(KEY, b"n", tail) is None
