"""Versions of `graph.db`: what was indexed by other rules is read again, and what agents did stays."""

from __future__ import annotations

import hashlib
from itertools import product

import pytest

from hub.domain.graph.terms import spaced
from hub.domain.graph.vocabulary import GraphPart, NewNode, NodeType
from hub.io.graph import rows, schema
from hub.io.graph.facts import absorb, counts, detail, note, set_note
from hub.io.graph.search import search
from hub.io.graph.store import GraphStore
from tests.hub.io.graph.conftest import AT, indexed


def test_what_cuts_text_into_words_changes_only_with_the_version():
    """A full-text index without a copy of its text forgets by the words it was told: others stay in it for ever."""
    texts = ("".join(chars) for length in range(6) for chars in product("aZ1_ é", repeat=length))
    digest = hashlib.sha256("\n".join(map(spaced, texts)).encode()).hexdigest()
    assert (schema.VERSION, digest[:16]) == (6, "fc4294964fa593ec"), (
        "`spaced` cuts otherwise than the index of existing databases was cut: raise VERSION "
        "(add WITHOUT_CODE to hub.io.graph.schema.STEPS once more), then change this line"
    )


def test_code_that_was_cut_by_other_rules_is_read_again_and_what_agents_did_stays(tmp_path, monkeypatch):
    """A version 1 left `ABar` whole after a small letter: taken out by later rules, words of it would stay behind."""
    root, path = tmp_path / "code", tmp_path / "graph.db"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n" * 70 + "fooABar()\n")
    with monkeypatch.context() as old:
        old.setattr(rows, "spaced", lambda text: text.replace("fooABar", "foo ABar"))
        store = GraphStore.open(path)
        indexed(store, root)
        told = GraphPart((NewNode("decision:1", NodeType.DECISION, {"text": "keep"}, "s-1"),))
        store.write(absorb, [(AT, told)], [("cursor", "7")])
        store.write(set_note, "scanned_at", AT)
        store.close()
    monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, schema.WITHOUT_CODE))
    monkeypatch.setattr(schema, "VERSION", schema.VERSION + 1)
    store = GraphStore.open(path)
    found = store.read(counts)
    assert (found.nodes, found.edges, found.files, found.chunks) == (1, 0, 0, 0)
    assert [node.id for node in store.read(detail, 10).nodes] == ["decision:1"]
    assert (store.read(note, "cursor"), store.read(note, "scanned_at")) == ("7", "")
    indexed(store, root)
    assert [found.start_line for found in store.read(search, tmp_path, "fooABar", 5)] == [61]
    (root / "a.py").write_text("x = 1\n")
    indexed(store, root)
    assert store.read(search, tmp_path, "ABar foo", 5) == []


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_database_of_each_earlier_version_takes_code_again(tmp_path, monkeypatch, version):
    root, path = tmp_path / "code", tmp_path / "graph.db"
    root.mkdir()
    (root / "a.py").write_text("import os\n")
    with monkeypatch.context() as old:
        old.setattr(schema, "STEPS", schema.STEPS[:version])
        old.setattr(schema, "VERSION", version)
        GraphStore.open(path).close()
    store = GraphStore.open(path)
    indexed(store, root)
    found = store.read(counts)
    assert (found.nodes, found.edges, found.files, found.chunks) == (2, 1, 1, 1)


def test_what_agents_did_is_read_again_where_it_became_other_nodes(tmp_path, monkeypatch):
    """Before a session's intent was drawn from nodes, they did not say enough for it: the log has them all."""
    root, path = tmp_path / "code", tmp_path / "graph.db"
    root.mkdir()
    (root / "a.py").write_text("import os\n")
    with monkeypatch.context() as old:
        old.setattr(schema, "STEPS", schema.STEPS[:4])
        old.setattr(schema, "VERSION", 4)
        store = GraphStore.open(path)
        indexed(store, root)
        told = GraphPart((NewNode("decision:1", NodeType.DECISION, {"text": "keep"}, "s-1"),))
        store.write(absorb, [(AT, told)], [("cursor", "7"), ("pending", "{}")])
        store.close()
    store = GraphStore.open(path)
    assert (store.read(note, "cursor"), store.read(note, "pending")) == ("", "")
    found = store.read(counts)
    assert (found.nodes, found.edges, found.files) == (2, 1, 1), "the code's are still there"
