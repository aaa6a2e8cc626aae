"""The message map: what it promises about deadlocks, and that its picture is true."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Never, get_args, get_type_hints

import attrs
import pytest

from hub.message_map import EDGES, INBOXES, Edge, Slots, document
from hub.messages.agent import AdapterInbox
from hub.messages.session import SessionInbox
from supervisors import Overflow

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("settings", "approvals", "adapter", "pipelines", "session", "sessions")
"""The actors whose modules fill a folder."""
ACTOR_FILES = {
    "audit": ["audit.py"],
    "events": ["events.py"],
    "breakers": ["breakers.py"],
    "job": ["jobs.py"],
    **{
        name: [f"{name}/{path.name}" for path in (ROOT / "hub/actors" / name).glob("*.py")]
        for name in FOLDERS
    },
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


TAKEN = {name: get_args(slot)[0] for name, slot in get_type_hints(Slots).items()} | {
    "session": SessionInbox,
    "adapter": AdapterInbox,
}


@pytest.mark.parametrize("actor", TAKEN)
def test_an_inbox_is_what_the_rows_of_its_actor_say(actor):
    """Rule 1, seen from the receiver. That an actor handles all of its inbox, and a ref takes no more, mypy proves."""
    inbox = TAKEN[actor]
    taken = set() if inbox is Never else set(get_args(inbox) or [inbox])
    assert {edge.message for edge in EDGES if edge.receiver == actor} == taken


def test_every_receiver_has_an_inbox():
    assert {edge.receiver for edge in EDGES} <= set(TAKEN)


@pytest.mark.parametrize("actor", ACTOR_FILES)
def test_an_actor_sends_only_along_its_rows(actor):
    """Rule 1, seen from the sender: what an actor's modules build is in its rows, as sender or receiver."""
    values = {edge.message.__name__ for edge in EDGES}
    allowed = {edge.message.__name__ for edge in EDGES if actor in (edge.sender, edge.receiver)}
    assert (_names_used(ACTOR_FILES[actor]) & values) <= allowed


def test_every_actor_says_how_much_may_wait_for_it():
    """Rule 4, of whoever has a slot: `Slots`, and the children of the dynamic supervisors."""
    assert set(INBOXES) == {*TAKEN, "job"}
    assert all(one.when_full for one in INBOXES.values())


@pytest.mark.parametrize("actor", INBOXES)
def test_an_inbox_that_a_blocking_row_leads_to_makes_its_senders_wait(actor):
    """What a row promises to its sender, its inbox keeps."""
    waits = any(edge.blocking for edge in EDGES if edge.receiver == actor)
    assert INBOXES[actor].mailbox.overflow == (Overflow.BLOCK if waits else Overflow.FAIL)


def test_the_map_alone_makes_slots():
    """An inbox without a bound of its own cannot come to be elsewhere."""
    makers = [path for path in (ROOT / "hub").rglob("*.py") if "Slot(" in path.read_text()]
    assert [path.name for path in makers] == ["message_map.py"]


def test_an_edge_is_plain_data():
    assert attrs.fields(Edge)
