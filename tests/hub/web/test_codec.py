"""What comes in is read in one way, or refused with every place that is wrong."""

from __future__ import annotations

import json
from typing import Annotated, Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.api.base import Nothing
from hub.api.meta import EventId, Meta
from hub.api.session import Run
from hub.domain.config.schema import MAX_PROBLEMS
from hub.domain.text.plain import plain_value
from hub.errors import Code, HubError
from hub.web.codec import decode_body, decode_query, encode
from tests.refusals import refuses


@attrs.frozen(kw_only=True)
class Node:
    id: Annotated[str, Meta(pattern="^[a-z]+$")]
    depends_on: list[str] = attrs.field(factory=list)


@attrs.frozen(kw_only=True)
class Tree:
    name: str
    nodes: list[Node]
    root: Node | None = None


@attrs.frozen(kw_only=True)
class Which:
    id: str
    since: EventId = 0


def refusal(data: bytes | Any, kind: type = Run, path: dict[str, str] | None = None) -> HubError:
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(HubError) as error:
        decode_body(data, kind, path or {})
    return error.value


@pytest.mark.parametrize(
    "data",
    [
        b"", b"   ", b"{", b"{}x", b"'task'", b'{"task": "a", "task": "b"}', b'{"task": NaN}', b'{"threshold": 1e999}',
        b'{"threshold": -Infinity}', b'{"task": "\xff"}', b'{"task": "\\ud800"}', b'\xef\xbb\xbf{"task":"x"}', b"[" * 100_000,
        b'{"maxHandoffs": ' + b"9" * 5000 + b"}", b'{"task": "a\nb"}',
    ],
    ids=lambda data: repr(data[:24]),
)  # fmt: skip
def test_what_is_not_strict_json_is_malformed(data: bytes):
    """Rows 32 to 34 of the security table: none of them is a 500."""
    assert refusal(data).code is Code.MALFORMED


def test_malformed_json_tells_where():
    error = refusal(b'{"task":\n  oops}')
    assert (error.extra["line"], error.extra["column"]) == (2, 3)


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({}, ["$.task"]),
        ([], ["$"]),
        (None, ["$"]),
        ({"task": ""}, ["$.task"]),
        ({"task": " \n"}, ["$.task"]),
        ({"task": "x" * 100_001}, ["$.task"]),
        ({"task": 5}, ["$.task"]),
        ({"task": "x", "threshold": 0}, ["$.threshold"]),
        ({"task": "x", "threshold": 1.01}, ["$.threshold"]),
        ({"task": "x", "threshold": "0.5"}, ["$.threshold"]),
        ({"task": "x", "threshold": True}, ["$.threshold"]),
        ({"task": "x", "maxHandoffs": -1}, ["$.maxHandoffs"]),
        ({"task": "x", "maxHandoffs": 1.5}, ["$.maxHandoffs"]),
        ({"task": "x", "onLimit": "panic"}, ["$.onLimit"]),
        ({"task": "x", "provider": "../x"}, ["$.provider"]),
        ({"task": "x", "verify": ["ok", "", 3]}, ["$.verify[1]", "$.verify[2]"]),
        ({"task": "x", "verify": "make"}, ["$.verify"]),
        ({"task": "x", "verify": ["a"] * 65}, ["$.verify"]),
        ({"task": "x", "max_handoffs": 1}, ["$.max_handoffs"]),
        ({"tsk": 1, "threshold": 2, "maxHandoffs": -1}, ["$.tsk", "$.task", "$.threshold", "$.maxHandoffs"]),
    ],
)
def test_every_field_that_does_not_validate_is_named(body: Any, paths: list[str]):
    error = refusal(body)
    assert error.code is Code.INVALID
    assert [problem["path"] for problem in error.extra["errors"]] == paths
    assert all(problem["message"] for problem in error.extra["errors"])


def test_problems_are_found_in_lists_of_objects_and_in_options():
    body = {
        "name": 1,
        "nodes": [{"id": "a"}, {"id": "B", "dependsOn": [1, "x", None]}, {"x": 1}],
        "root": {"id": "!"},
    }
    assert [problem["path"] for problem in refusal(body, Tree).extra["errors"]] == [
        "$.name", "$.nodes[1].id", "$.nodes[1].dependsOn[0]", "$.nodes[1].dependsOn[2]", "$.nodes[2].x",
        "$.nodes[2].id", "$.root.id",
    ]  # fmt: skip


def test_a_body_wrong_all_over_is_told_the_first_so_many():
    error = refusal({"task": "x", **{f"x{number}": 1 for number in range(1000)}})
    assert len(error.extra["errors"]) == MAX_PROBLEMS
    assert f"and at least {MAX_PROBLEMS} more" in error.detail


@pytest.mark.parametrize("threshold", [1, 1.0, 0.9, 0.001])
def test_a_good_body_is_read(threshold: float):
    run = decode_body(json.dumps({"task": "x", "threshold": threshold, "verify": ["make"]}).encode(), Run, {})
    assert (run.task, run.threshold, run.verify) == ("x", threshold, ["make"])


def test_an_empty_body_will_do_where_nothing_is_required():
    assert decode_body(b"", Nothing, {}) == decode_body(b"{}", Nothing, {})
    assert refusal({"x": 1}, Nothing).code is Code.INVALID


def test_path_parameters_are_fields_and_cannot_be_given_twice():
    assert decode_body(b"{}", Node, {"id": "abc"}).id == "abc"
    assert refusal({"id": "x"}, Node, {"id": "abc"}).extra["errors"] == [
        {"path": "$.id", "message": "is given by the path"}
    ]
    assert refusal({}, Node, {"id": "../x"}).extra["errors"][0]["path"] == "$.id"


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b"", "$.id"), (b"id=a&since=-1", "$.since"), (b"id=a&since=1e3", "$.since"), (b"id=a&since=9007199254740992", "$.since"),
        (b"id=a&id=b", "$.id"), (b"id=a&x=1", "$.x"), (b"id=a&since", "$.since"), (b"id=a&since=%20", "$.since"),
    ],
)  # fmt: skip
def test_a_query_that_does_not_validate(raw: bytes, path: str):
    with refuses(Code.INVALID) as error:
        decode_query(raw, Which, {})
    assert error.value.extra["errors"][0]["path"] == path


@pytest.mark.parametrize("raw", [b"id=%ff", b"%c3=1"])
def test_a_query_of_bad_utf8_is_malformed(raw: bytes):
    with refuses(Code.MALFORMED):
        decode_query(raw, Which, {})


@given(st.text(min_size=1, max_size=30).filter(lambda text: "\x00" not in text), st.integers(0, 2**53 - 1))
def test_a_good_query_is_read(name: str, since: int):
    from urllib.parse import urlencode

    raw = urlencode({"id": name, "since": since}).encode()
    assert decode_query(raw, Which, {}) == Which(id=name, since=since)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "nodes", "id", "root", "x"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_read_or_refused_never_a_crash(value: Any):
    try:
        assert isinstance(decode_body(json.dumps(value).encode(), Tree, {}), Tree)
    except HubError as error:
        assert error.code in (Code.INVALID, Code.MALFORMED)  # noqa: PT017  # either is an answer


HOSTILE = st.text(
    st.one_of(
        st.sampled_from('\x1b\x9b\x00\x07\x08\x0c\r\x7f\x90\u202e\u200b\ufeff[]0;mJ\\"a\n\t'),
        st.characters(codec="utf-8"),
    )
)


@given(
    st.recursive(
        HOSTILE | st.integers(-9, 9), lambda inner: st.lists(inner) | st.dictionaries(HOSTILE, inner)
    )
)
def test_no_answer_has_anything_a_terminal_acts_on(value: Any):
    """Whatever is answered: what is plain already is left alone, the rest is made plain."""
    told = json.loads(encode({"answer": value}))
    assert told == plain_value(told)
    assert told == {"answer": plain_value(value)}


def test_a_text_with_a_nul_is_refused_wherever_it_stands():
    """Bug: a command with one was taken, and failed as one that could not be started when the work was done."""
    with refuses(Code.INVALID) as caught:
        decode_body(
            b'{"task": "a\\u0000b", "verify": ["true", "echo \\u0000"], "provider": "\\u0000"}', Run, {}
        )
    assert [entry["path"] for entry in caught.value.extra["errors"]] == [
        "$.task",
        "$.provider",
        "$.verify[1]",
    ]
    with refuses(Code.INVALID, "$.id: has a NUL in it"):
        decode_query(b"id=s-%00", Which, {})
    tree = {"name": "x", "nodes": [{"id": "a", "dependsOn": ["b\0"]}], "root": None}
    with refuses(Code.INVALID, "$.nodes[0].dependsOn[0]: has a NUL in it"):
        decode_body(json.dumps(tree).encode(), Tree, {})
