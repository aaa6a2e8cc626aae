"""Whatever an agent writes, reading it never raises and what comes out is safe to keep."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.event import EventType
from hub.providers import jsonline

BROKEN = {
    "nothing": b"",
    "half an object": b'{"type": "assist',
    "an array": b"[1, 2]",
    "a bare string": b'"text"',
    "deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "deep arrays": b"[" * 200_000,
    "an integer of 5,000 digits": b'{"n": ' + b"9" * 5_000 + b"}",
    "binary": bytes(range(256)),
    "text": b"Warning: no stdin data received in 3s",
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in BROKEN.items()])
def test_a_broken_line_is_kept_as_an_unknown_event(line: bytes) -> None:
    event = jsonline.unknown(line)
    assert event.type is EventType.SYSTEM
    assert event.meta == {"unknown": True, "bytes": len(line)}
    json.dumps(event.to_json()).encode()


@pytest.mark.parametrize(
    "name",
    ["nothing", "half an object", "an array", "a bare string", "deep", "deep arrays", "binary", "text"],
)
def test_what_is_no_object_reads_as_nothing(name: str) -> None:
    assert jsonline.read(BROKEN[name]) is None


def test_a_torn_character_costs_a_character_and_not_the_line() -> None:
    found = jsonline.read(b'{"type": "text", "text": "caf\xc3"}')
    assert found == {"type": "text", "text": "caf\ufffd"}


def test_a_lone_surrogate_is_replaced_because_it_cannot_be_written_out_again() -> None:
    found = jsonline.read(b'{"text": "a\\ud800b"}')
    assert jsonline.text(found["text"]).encode() in {b"a?b", "a\ufffdb".encode()}


def test_nul_never_gets_through() -> None:
    found = jsonline.read(b'{"text": "a\\u0000b"}')
    assert jsonline.text(found["text"]) == "a\ufffdb"


@pytest.mark.parametrize("raw", [b"1e999", b"-1e400", b"9" * 400, b"123456789012345678901234567890"])
def test_a_number_no_contract_can_hold_is_refused(raw: bytes) -> None:
    found = jsonline.read(b'{"n": ' + raw + b"}") or {}
    assert jsonline.integer(found.get("n")) is None
    assert jsonline.number(found.get("n")) is None


def test_a_bool_is_not_a_number() -> None:
    assert jsonline.integer(True) is None
    assert jsonline.count(-5) == 0


@given(st.binary())
def test_any_bytes_can_be_read(line: bytes) -> None:
    jsonline.read(line)
    json.dumps(jsonline.unknown(line).to_json()).encode()


@given(st.dictionaries(st.text(), json_values))
def test_an_object_comes_back_as_it_was_written(value: dict[str, Any]) -> None:
    found = jsonline.read(json.dumps(value, allow_nan=False).encode()) if _finite(value) else value
    assert found is not None
    assert list(found) == list(value)


@given(json_values)
def test_an_excerpt_is_small_and_survives_strict_json(value: Any) -> None:
    small = jsonline.excerpt(value)
    assert _depth(small) <= 4
    json.dumps(small, allow_nan=False).encode()
    assert jsonline.excerpt(small) is not None or small is None


@given(json_values)
def test_the_readers_take_any_value(value: Any) -> None:
    assert isinstance(jsonline.text(value), str)
    assert isinstance(jsonline.mapping(value), dict)
    assert all(isinstance(item, str) for item in jsonline.texts(value))
    assert jsonline.count(value) >= 0
    found = jsonline.number(value)
    assert found is None or abs(found) <= jsonline.MAX_INT


def _finite(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_finite(inner) for inner in value.values())
    return all(_finite(inner) for inner in value) if isinstance(value, list) else True


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0
