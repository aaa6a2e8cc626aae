"""Versions of `graph.db`: what was made by other rules is made anew."""

import hashlib
from itertools import product

from hub.domain.graph.terms import spaced
from hub.domain.graph.vocabulary import GraphPart, NewNode, NodeType
from hub.io.graph import files, schema
from hub.io.graph.facts import GraphCounts, absorb, counts, note
from hub.io.graph.search import search
from hub.io.graph.store import GraphStore
from tests.hub.io.graph.conftest import AT, indexed


def test_what_cuts_text_into_words_changes_only_with_the_version():
    """A full-text index without a copy of its text forgets by the words it was told: others stay in it for ever."""
    texts = ("".join(chars) for length in range(6) for chars in product("aZ1_ é", repeat=length))
    digest = hashlib.sha256("\n".join(map(spaced, texts)).encode()).hexdigest()
    assert (schema.VERSION, digest[:16]) == (6, "fc4294964fa593ec"), (
        "`spaced` cuts otherwise than the index of existing databases was cut: raise VERSION, "
        "then change this line"
    )


def test_a_database_that_was_made_by_other_rules_is_made_anew(tmp_path, monkeypatch):
    """A version left `ABar` whole after a small letter: taken out by later rules, words of it would stay behind."""
    root, path = tmp_path / "code", tmp_path / "graph.db"
    root.mkdir()
    (root / "a.py").write_text("x = 1\n" * 70 + "fooABar()\n")
    with monkeypatch.context() as old:
        old.setattr(files, "spaced", lambda text: text.replace("fooABar", "foo ABar"))
        old.setattr(schema, "VERSION", schema.VERSION - 1)
        store = GraphStore.open(path)
        indexed(store, root)
        told = GraphPart((NewNode("decision:1", NodeType.DECISION, {"text": "keep"}, "s-1"),))
        store.write(absorb, [(AT, told)], [("cursor", "7")])
        store.close()
    store = GraphStore.open(path)
    assert store.damage is None
    assert store.read(counts) == GraphCounts(0, 0, 0, 0)
    assert store.read(note, "cursor") == "", "the log is read again from its beginning"
    indexed(store, root)
    assert [found.start_line for found in store.read(search, tmp_path, "fooABar", 5)] == [61]
    (root / "a.py").write_text("x = 1\n")
    indexed(store, root)
    assert store.read(search, tmp_path, "ABar foo", 5) == []
    store.close()
