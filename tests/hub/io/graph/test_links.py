"""The `imports` edges in the database: they say what the imports mean with the files there are now."""

from __future__ import annotations


def edges(project) -> set[tuple[str, str]]:
    project.index()
    query = "SELECT from_id, to_id FROM edges WHERE edge_type = 'imports'"
    return set(project.store.read(lambda db: db.execute(query).fetchall()))


def outside(project) -> set[str]:
    query = "SELECT id FROM nodes WHERE node_type = 'module' AND id LIKE 'outside:%'"
    return {row[0] for row in project.store.read(lambda db: db.execute(query).fetchall())}


def test_a_name_means_the_file_that_is_there_now(project):
    """A file that comes or goes changes what the imports of files mean that have not changed themselves."""
    project.write("a.py", "import os\nimport b\n")
    assert edges(project) == {("module:a.py", "outside:python:os"), ("module:a.py", "outside:python:b")}
    project.write("b.py", "import os\n")
    both = {
        ("module:a.py", "outside:python:os"), ("module:a.py", "module:b.py"), ("module:b.py", "outside:python:os"),
    }  # fmt: skip
    assert edges(project) == both
    assert outside(project) == {"outside:python:os"}, "b is none of the outside any more"
    (project.root / "b.py").unlink()
    assert edges(project) == {("module:a.py", "outside:python:os"), ("module:a.py", "outside:python:b")}
    project.write("a.py", "x = 1\n" * 3)
    assert edges(project) == outside(project) == set()
    assert project.store.read(lambda db: db.execute("SELECT count(*) FROM imports").fetchone()) == (0,)


def test_a_go_module_that_gets_its_name_is_followed_at_once(project):
    """`go.mod` is no source file: it may change alone."""
    project.write("srv/main.go", 'package main\n\nimport "ex.org/m/in"\n')
    project.write("srv/in/x.go", "package in\n")
    assert edges(project) == {("module:srv/main.go", "outside:go:ex.org/m/in")}
    project.write("srv/go.mod", "// the module\nmodule ex.org/m\n\ngo 1.22\n")
    assert edges(project) == {("module:srv/main.go", "module:srv/in/x.go")}
    weights = "SELECT weight FROM edges WHERE edge_type = 'imports'"
    assert edges(project) == {("module:srv/main.go", "module:srv/in/x.go")}
    assert project.store.read(lambda db: db.execute(weights).fetchall()) == [(1.0,)], (
        "told again it is the same edge"
    )
