"""`graph.db`: one transaction at a time, private, migrated, bounded, and made anew when it is damaged."""

import os
import sqlite3
import stat
import threading
from contextlib import closing

import pytest

from hub.api.convert import unstructure
from hub.api.graph import Detail
from hub.domain.graph.vocabulary import EdgeType, GraphPart, NewEdge, NewNode, NodeType
from hub.errors import Code, HubError
from hub.io.graph import schema
from hub.io.graph.facts import GraphCounts, absorb, counts, detail, note, of_session, put, set_note
from hub.io.graph.schema import VERSION, connect
from hub.io.graph.store import GraphStore
from tests.refusals import refuses


@pytest.fixture
def path(tmp_path):
    return tmp_path / "graph.db"


@pytest.fixture
def store(path):
    return GraphStore.open(path)


def fact(number, at="2026-01-01T00:00:00.000Z", weight=1.0, **payload):
    node = NewNode(f"decision:{number}", NodeType.DECISION, {"text": str(number), **payload}, "s-1", weight)
    return at, GraphPart(
        (NewNode("task:s-1", NodeType.TASK, {}, "s-1", 0.0), node),
        (NewEdge("task:s-1", node.id, EdgeType.HAS_FACT),),
    )


def test_only_the_owner_can_read_it(path, store):
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_node_told_again_is_merged_and_weighs_more(store):
    store.write(absorb, [fact(1, "a", exitCode=1, tool="x"), fact(1, "b", exitCode=None, how="y")], [])
    (task, node) = sorted(store.read(detail, 10).nodes, key=lambda n: n.node_type, reverse=True)
    assert unstructure(node) == {
        "id": "decision:1", "node_type": "decision", "payload": {"text": "1", "tool": "x", "how": "y"},
        "session_id": "s-1", "weight": 2.0, "created_at": "a", "updated_at": "b",
    }  # fmt: skip
    assert task.weight == 0
    assert store.read(counts) == GraphCounts(2, 1, 0, 0)


def test_what_is_gone_takes_its_edges_along(store):
    store.write(absorb, [fact(1), fact(2), ("c", GraphPart(gone=("decision:1",)))], [])
    found = store.read(detail, 10)
    assert {node.id for node in found.nodes} == {"task:s-1", "decision:2"}
    assert [edge.to_id for edge in found.edges] == ["decision:2"]


def test_the_detail_is_the_newest_and_edges_between_what_is_shown(store):
    store.write(absorb, [fact(n, f"2026-01-01T00:00:0{n}.000Z") for n in range(5)], [])
    assert [n.id for n in store.read(detail, 2).nodes] == ["decision:4", "task:s-1"]
    assert [e.to_id for e in store.read(detail, 2).edges] == ["decision:4"]
    assert len(store.read(detail, 100, "task").nodes) == 1
    assert store.read(detail, 100, "", "s-2") == Detail(nodes=[], edges=[])


def test_it_keeps_so_many_and_the_oldest_give_way(store):
    """Bounded: a year of agents' doings does not fill the disk. The code's nodes are not counted in."""
    store.write(put, GraphPart(tuple(NewNode(f"module:{n}", NodeType.MODULE, {}) for n in range(30))), "0")
    for number in range(40):
        store.write(absorb, [fact(number, f"{number:04}")], [], keep=20)
    found = store.read(detail, 100).nodes
    told = [node.id for node in found if node.session_id]
    assert 15 <= len(told) <= 20
    assert told[:2] == ["decision:39", "task:s-1"]
    assert len(found) - len(told) == 30
    assert store.read(counts).edges == len(told) - 1


def test_of_the_sessions_under_way_only_tool_calls_give_way(store):
    """A decision of the first minute is in the contract of the last one, however many calls were made in between."""
    call = GraphPart((NewNode("tool_use:1", NodeType.TOOL_USE, {"tool": "Edit"}, "s-1"),))
    old = GraphPart((NewNode("decision:old", NodeType.DECISION, {"text": "old"}, "s-0"),))
    store.write(absorb, [("0", old), ("1", call), *(fact(n, f"{n:04}") for n in range(10))], [])
    store.write(absorb, [], [], keep=5, sessions=["s-1", "s-2"])
    kept = {kind for kind, _ in store.read(of_session, "s-1", ("decision", "tool_use", "task"))}
    assert kept == {"decision", "task"}
    assert len(store.read(of_session, "s-1", ("decision",))) == 10
    assert store.read(of_session, "s-0", ("decision",)) == []
    assert store.read(of_session, "", ("decision",)) == []


def test_a_transaction_is_whole_or_nothing(store):
    def half(db):
        absorb(db, [fact(1)], [("cursor", "7")])
        raise HubError(Code.INTERRUPTED, "cut off")

    with pytest.raises(HubError):
        store.write(half)
    assert store.read(counts).nodes == 0
    assert store.read(note, "cursor") == ""
    store.write(absorb, [fact(1)], [("cursor", "7")])
    assert store.read(note, "cursor") == "7"


def test_a_reader_sees_what_is_committed_while_another_writes(store):
    def while_writing(db):
        set_note(db, "a", "1")
        return store.read(note, "a")

    assert store.write(while_writing) == ""
    assert store.read(note, "a") == "1"


def test_a_reader_cannot_write(store):
    with refuses(Code.READ_ONLY):
        store.read(set_note, "a", "1")
    assert store.damage is None


def test_it_is_there_again_after_a_close(path, store):
    store.write(absorb, [fact(1)], [])
    store.close()
    store.close()
    with refuses(Code.UNAVAILABLE):
        store.read(counts)
    again = GraphStore.open(path)
    assert again.read(counts).nodes == 2
    assert again.damage is None


@pytest.mark.parametrize("content", [b"not a database at all " * 400, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_damaged_database_is_kept_aside_and_made_anew(path, content):
    path.write_bytes(content)
    store = GraphStore.open(path)
    assert store.damage.code is Code.STATE_CORRUPT
    (aside,) = path.parent.glob("graph.db.corrupt-*")
    assert aside.read_bytes() == content
    store.write(absorb, [fact(1)], [])
    assert store.read(counts).nodes == 2


def test_damage_found_on_the_way_is_told_and_the_next_question_is_answered(path, store):
    store.write(absorb, [fact(n, text="x" * 400) for n in range(400)], [])
    store.close()
    data = bytearray(path.read_bytes())
    data[4096 * 3 :] = os.urandom(len(data) - 4096 * 3)
    path.write_bytes(data)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    found = GraphStore.open(path)
    if found.damage is None:
        with refuses(Code.STATE_CORRUPT):
            found.read(detail, 100)
    assert found.damage is not None
    assert found.read(counts) == GraphCounts(0, 0, 0, 0)
    assert found.write(absorb, [fact(1)], []) is None


def test_two_that_find_the_same_damage_put_one_database_aside(path, store):
    """The second once put the first one's new database aside."""
    store.write(set_note, "cursor", "7")
    (page,) = store.read(
        lambda db: db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'").fetchone()
    )
    (size,) = store.read(lambda db: db.execute("PRAGMA page_size").fetchone())
    store.close()
    with path.open("r+b") as file:
        file.seek(size * (page - 1))
        file.write(b"\xff" * size)
    found = GraphStore.open(path)
    failed, told = [threading.Event(), threading.Event()], []

    def look(db, event):
        try:
            note(db, "cursor")
        finally:
            event.set()

    def ask(event):
        try:
            found.read(look, event)
        except HubError as error:
            told.append(error.code)

    threads = [threading.Thread(target=ask, args=(event,)) for event in failed]

    def both_fail_meanwhile(_db):
        for thread, event in zip(threads, failed, strict=True):
            thread.start()
            assert event.wait(60)

    assert found.damage is None
    found.write(both_fail_meanwhile)
    for thread in threads:
        thread.join()
    assert told == [Code.STATE_CORRUPT] * 2
    assert (
        len([p for p in path.parent.glob("graph.db.corrupt-*") if not p.name.endswith(("-wal", "-shm"))]) == 1
    )
    assert found.read(counts) == GraphCounts(0, 0, 0, 0)


def test_a_database_of_a_newer_hub_is_left_whole(path, store):
    store.write(absorb, [fact(1)], [])
    store.close()
    db = sqlite3.connect(path)
    db.execute(f"PRAGMA user_version = {VERSION + 1}")
    db.close()
    again = GraphStore.open(path)
    assert "version" in again.damage.detail
    assert again.read(counts).nodes == 0
    again.close()
    (aside,) = (p for p in path.parent.glob("graph.db.corrupt-*") if not p.name.endswith(("-wal", "-shm")))
    with closing(sqlite3.connect(aside)) as db:
        assert db.execute("SELECT count(*) FROM nodes").fetchone() == (2,)


def test_a_store_that_cannot_be_opened_whole_leaves_nothing_open(path, monkeypatch):
    """The writing connection stayed open where there was no file left for the reading one."""
    made = []

    def short(path):
        if made:
            raise HubError(Code.NO_PERMISSION, "Too many open files.")
        made.append(connect(path))
        return made[0]

    monkeypatch.setattr("hub.io.graph.store.connect", short)
    with pytest.raises(HubError, match="Too many"):
        GraphStore.open(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        made[0].execute("SELECT 1")


def test_an_older_hubs_tables_are_replaced_whole_or_not_at_all(path, store, monkeypatch):
    """One that cannot be made anew is as it was, and the next start tries again."""
    store.write(absorb, [fact(1)], [])
    store.close()
    monkeypatch.setattr("hub.io.graph.schema.VERSION", VERSION + 1)
    with monkeypatch.context() as failing:
        failing.setattr("hub.io.graph.schema._TABLES", f"{schema._TABLES}; INSERT INTO nowhere VALUES (1)")
        with pytest.raises(sqlite3.OperationalError, match="nowhere"):
            GraphStore.open(path)
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM nodes").fetchone() == (2,)
    store = GraphStore.open(path)
    assert store.read(lambda db: db.execute("PRAGMA user_version").fetchone()) == (VERSION + 1,)
    assert store.read(counts).nodes == 0
    store.close()


def test_what_is_no_file_is_told(path):
    path.mkdir()
    with refuses(Code.NO_PERMISSION):
        GraphStore.open(path)


def test_no_link_is_followed(tmp_path):
    (tmp_path / "graph.db").symlink_to(tmp_path / "elsewhere")
    with refuses(Code.NO_PERMISSION):
        GraphStore.open(tmp_path / "graph.db")
    assert not (tmp_path / "elsewhere").exists()
