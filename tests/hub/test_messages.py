"""The message map: what it promises about deadlocks, and that its picture is true."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import attrs
import pytest

from hub import messages
from hub.message_map import EDGES, Edge, document

ROOT = Path(__file__).resolve().parents[2]
ACTOR_FILES = {
    "audit": ["audit.py"],
    "events": ["events.py"],
    "settings": [f"settings/{path.name}" for path in (ROOT / "hub/actors/settings").glob("*.py")],
    "breakers": ["breakers.py"],
    "approvals": [f"approvals/{path.name}" for path in (ROOT / "hub/actors/approvals").glob("*.py")],
    "adapter": ["adapter.py"],
    "job": ["jobs.py"],
    "pipelines": [f"pipelines/{path.name}" for path in (ROOT / "hub/actors/pipelines").glob("*.py")],
    "session": [f"session/{path.name}" for path in (ROOT / "hub/actors/session").glob("*.py")],
}


def test_blocking_edges_form_a_dag():
    """Rule 2: bounded mailboxes and two-way blocking sends would be a deadlock."""
    graph: dict[str, set[str]] = {}
    for edge in EDGES:
        if edge.blocking:
            graph.setdefault(edge.sender, set()).add(edge.receiver)
    assert list(TopologicalSorter(graph).static_order())


def test_a_row_that_does_not_block_says_what_happens_when_there_is_no_room():
    """Rule 3."""
    assert {edge.overflow for edge in EDGES if not edge.blocking} <= {"refuse", "drop"}
    assert {edge.overflow for edge in EDGES if edge.blocking} == {"wait"}


def test_no_row_stands_twice():
    rows = [(edge.sender, edge.receiver, edge.message) for edge in EDGES]
    assert len(rows) == len(set(rows))


def test_the_picture_of_the_map_is_current():
    assert (ROOT / "design/message-map.md").read_text() == document()


def _names_used(files):
    used = set()
    for name in files:
        tree = ast.parse((ROOT / "hub/actors" / name).read_text())
        used |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return used


@pytest.mark.parametrize("actor", ACTOR_FILES)
def test_an_actor_handles_every_message_of_its_rows(actor):
    """Rule 1, seen from the receiver: no message of the map is left without a case."""
    wanted = {edge.message.__name__ for edge in EDGES if edge.receiver == actor}
    assert wanted <= _names_used(ACTOR_FILES[actor])


@pytest.mark.parametrize("actor", ACTOR_FILES)
def test_an_actor_sends_only_along_its_rows(actor):
    """Rule 1, seen from the sender: what an actor's modules build is in its rows, as sender or receiver."""
    values = {
        name
        for name in dir(messages)
        if isinstance(getattr(messages, name), type)
        and attrs.has(getattr(messages, name))
        and any(edge.message.__name__ == name for edge in EDGES)
    }
    allowed = {edge.message.__name__ for edge in EDGES if actor in (edge.sender, edge.receiver)}
    assert (_names_used(ACTOR_FILES[actor]) & values) <= allowed


def test_an_edge_is_plain_data():
    assert attrs.fields(Edge)
