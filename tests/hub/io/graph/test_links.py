"""The `imports` edges in the database: they say what the imports mean with the files there are now."""

from __future__ import annotations

import os

import pytest

from hub.io.graph.intake import Intake
from hub.io.graph.store import GraphStore

AT = "2026-01-01T00:00:00.000Z"


class Project:
    """A folder of code and its index."""

    def __init__(self, root, store):
        self.root, self.store = root, store

    def write(self, path: str, text: str):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        os.utime(self.root / path, (1_500_000_000, 1_500_000_000))

    def edges(self) -> set[tuple[str, str]]:
        paths = sorted(os.fsencode(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file())
        intake = Intake(self.store, self.root, paths, str, AT)
        while intake.batch():
            pass
        query = "SELECT from_id, to_id FROM edges WHERE edge_type = 'imports'"
        return set(self.store.read(lambda db: db.execute(query).fetchall()))

    def outside(self) -> set[str]:
        query = "SELECT id FROM nodes WHERE node_type = 'module' AND id LIKE 'outside:%'"
        return {row[0] for row in self.store.read(lambda db: db.execute(query).fetchall())}


@pytest.fixture
def project(tmp_path):
    (tmp_path / "code").mkdir()
    store = GraphStore.open(tmp_path / "graph.db")
    yield Project(tmp_path / "code", store)
    store.close()


def test_a_name_means_the_file_that_is_there_now(project):
    """A file that comes or goes changes what the imports of files mean that have not changed themselves."""
    project.write("a.py", "import os\nimport b\n")
    assert project.edges() == {("module:a.py", "outside:python:os"), ("module:a.py", "outside:python:b")}
    project.write("b.py", "import os\n")
    both = {
        ("module:a.py", "outside:python:os"), ("module:a.py", "module:b.py"), ("module:b.py", "outside:python:os"),
    }  # fmt: skip
    assert project.edges() == both
    assert project.outside() == {"outside:python:os"}, "b is none of the outside any more"
    (project.root / "b.py").unlink()
    assert project.edges() == {("module:a.py", "outside:python:os"), ("module:a.py", "outside:python:b")}
    project.write("a.py", "x = 1\n" * 3)
    assert project.edges() == project.outside() == set()
    assert project.store.read(lambda db: db.execute("SELECT count(*) FROM imports").fetchone()) == (0,)


def test_a_go_module_that_gets_its_name_is_followed_at_once(project):
    """`go.mod` is no source file: it may change alone."""
    project.write("srv/main.go", 'package main\n\nimport "ex.org/m/in"\n')
    project.write("srv/in/x.go", "package in\n")
    assert project.edges() == {("module:srv/main.go", "outside:go:ex.org/m/in")}
    project.write("srv/go.mod", "// the module\nmodule ex.org/m\n\ngo 1.22\n")
    assert project.edges() == {("module:srv/main.go", "module:srv/in/x.go")}
    weights = "SELECT weight FROM edges WHERE edge_type = 'imports'"
    assert project.edges() == {("module:srv/main.go", "module:srv/in/x.go")}
    assert project.store.read(lambda db: db.execute(weights).fetchall()) == [(1.0,)], (
        "told again it is the same edge"
    )
