"""What of the server's events is worth a line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.providers.opencode.thin import AGAIN, LONG_LINE, LONG_TEXT, Thinner, shorten

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def tool(status: str, **more: object) -> dict[str, object]:
    state = {"status": status, "input": {"command": "make"}, "metadata": {"output": "x" * 100}}
    part = {"id": "prt_1", "type": "tool", "state": state}
    return {"type": "message.part.updated", "properties": {"sessionID": "ses_1", "part": part, **more}}


@pytest.mark.parametrize(
    "kind",
    [
        "server.heartbeat",
        "plugin.added",
        "session.updated",
        "session.diff",
        "permission.v2.asked",
        "session.next.prompted",
    ],
)
def test_noise_is_dropped(kind):
    """The heartbeat above all: it would tell hub every ten seconds that a hung agent is not silent."""
    assert Thinner().keep({"type": kind, "properties": {}}, 10, 0.0) is None


@pytest.mark.parametrize(
    "kind", ["session.status", "message.part.delta", "permission.asked", "question.asked", "todo.updated"]
)
def test_the_agents_own_is_kept_as_it_is(kind):
    event = {"type": kind, "properties": {"a": 1}}
    assert Thinner().keep(event, 10, 0.0) == event


def test_a_running_tool_is_told_at_a_pace_and_without_its_growing_output():
    """Its whole output comes with every piece: a build's log of 30 KB in 500 pieces would be 8 MB of lines."""
    thinner = Thinner()
    first = thinner.keep(tool("running"), 10, 100.0)
    assert "metadata" not in first["properties"]["part"]["state"]
    assert thinner.keep(tool("running"), 10, 100.0 + AGAIN / 2) is None
    assert thinner.keep(tool("running"), 10, 100.0 + AGAIN) is not None
    ended = thinner.keep(tool("completed"), 10, 100.0 + AGAIN)
    assert ended == tool("completed")


def test_a_huge_event_is_cut_to_a_line_that_can_be_read():
    event = {
        "type": "message.part.updated",
        "properties": {"part": {"text": "y" * LONG_LINE, "deep": [[{"a": 1}]]}},
    }
    kept = Thinner().keep(event, LONG_LINE + 1, 0.0)
    assert kept is not None
    assert len(json.dumps(kept)) < LONG_TEXT + 200
    assert kept["properties"]["part"]["deep"] == [[{"a": 1}]]


def test_what_is_nested_deeper_than_any_event_is_dropped():
    value: object = "x"
    for _ in range(100):
        value = [value]
    assert len(json.dumps(shorten(value))) < 100


@given(JSON)
def test_it_takes_whatever_comes(value):
    Thinner().keep(value, 10, 0.0)
    Thinner().keep({"type": "message.part.updated", "properties": value}, LONG_LINE + 1, 0.0)
    Thinner().keep({"type": "message.part.updated", "properties": {"part": value}}, 10, 0.0)
