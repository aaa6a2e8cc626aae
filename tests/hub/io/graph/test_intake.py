"""A reading of the project in batches."""

import os

import pytest

from hub.io.graph import intake
from hub.io.graph.facts import counts
from hub.io.graph.store import GraphStore
from tests.hub.io.graph.conftest import LONG_AGO, indexed


@pytest.fixture
def root(tmp_path):
    """Five files, each with a symbol, an import and two chunks."""
    folder = tmp_path / "code"
    folder.mkdir()
    for name in "abcde":
        write(folder, name, f"import os\ndef {name}Name(): ...\n" + "x = 1\n" * 70)
    return folder


def write(root, name, text, at=LONG_AGO):
    path = root / f"{name}.py"
    path.write_text(text)
    os.utime(path, (at, at))


def content(store):
    """All rows but the numbers, which say nothing; and whether both indexes hold what the chunks say."""

    def rows(db):
        found = {
            "nodes": "SELECT * FROM nodes",
            "edges": "SELECT * FROM edges",
            "files": "SELECT path, size, mtime_ns, mark FROM files",
            "imports": "SELECT path, name FROM imports JOIN files USING (number)",
            "chunks": "SELECT chunks.path, id, lang, startLine, endLine, body, defines, sha FROM chunks"
            " JOIN files ON files.number = chunks.number >> 12 AND files.path = chunks.path",
            "text": "SELECT id FROM chunks_text JOIN chunks ON number = chunks_text.rowid WHERE chunks_text MATCH 'name'",
            "names": "SELECT id FROM chunks_names JOIN chunks ON number = chunks_names.rowid WHERE chunks_names MATCH 'name'",
        }
        return {name: sorted(db.execute(query).fetchall()) for name, query in found.items()}

    return store.read(rows)


@pytest.mark.parametrize("size", [1, 600, 1 << 20])
def test_in_however_many_batches_a_project_is_read_the_same_is_known_of_it(tmp_path, root, monkeypatch, size):
    """A file that changes gets another number, and nothing of the old one may stay, in either index."""
    whole = GraphStore.open(tmp_path / "whole.db")
    store = GraphStore.open(tmp_path / "parts.db")
    monkeypatch.setattr(intake, "BATCH", size)
    indexed(store, root)
    write(root, "b", "def other(): ...\n", LONG_AGO + 1)
    write(root, "f", "def fName(): ...\n")
    (root / "d.py").unlink()
    assert indexed(store, root).files == 2
    indexed(whole, root)
    found = content(store)
    assert found == content(whole)
    assert [len(found[name]) for name in ("files", "chunks", "text", "names")] == [5, 8, 4, 4]
    store.write(
        lambda db: [
            db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 0)")
            for index in ("chunks_text", "chunks_names")
        ]
    )


def test_what_fails_while_it_is_read_is_told_after_what_was_read_is_in(tmp_path, root, monkeypatch):
    monkeypatch.setattr(intake, "BATCH", 1)
    store = GraphStore.open(tmp_path / "graph.db")

    def scrub(text):
        if "cName" in text:
            raise ValueError("no")
        return text

    with pytest.raises(ValueError, match="no"):
        indexed(store, root, scrub)
    assert store.read(counts).files == 2
    assert indexed(store, root).files == 3
