"""`hub graph` on a real daemon: scan, search, show, and what the API says beside it."""

import json

import attrs
import pytest

from hub.api.graph import Detail, Graph, GraphEdge, GraphNode
from hub.cli.commands.graph import Known, _label, _shown, _summary
from tests.faults.harness import project
from tests.hub.cli.command import environ, hub
from tests.sample import sample

AT = "2026-01-02T03:04:05.678Z"
SECRET = "ghp_" + "Zq8Wn3Lk5Rt7" * 3
CODE = f"def retry_delay(attempt):\n    return 2**attempt\n\nTOKEN = '{SECRET}'\n" + "x = 1\n" * 20


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    base = tmp_path_factory.mktemp("graph")
    with project(base) as found:
        found.configure()
        (found.root / "pkg").mkdir()
        (found.root / "pkg/delay.py").write_text(CODE)
        found.start()
        yield found


def said(made, *args, code=0):
    done = hub(*args, cwd=made.root, env=environ(made.root.parent))
    assert done.returncode == code, done.stderr
    return done


def test_a_project_is_scanned_searched_and_shown(made):
    """One daemon for all of it: an empty index says so; then what was scanned is found, without its secrets."""
    empty = said(made, "graph", "search", "retry", "delay")
    assert ("nothing found" in empty.stdout, "hub graph scan" in empty.stderr) == (True, True)
    scanned = json.loads(said(made, "graph", "scan", "--json").stdout)
    assert (scanned["state"], scanned["files"], scanned["scan"]["error"]) == ("ready", 1, "")
    (chunk,) = json.loads(said(made, "graph", "search", "retryDelay", "--json").stdout)
    assert (chunk["Path"], chunk["StartLine"], chunk["EndLine"], chunk["Stale"]) == (
        "pkg/delay.py",
        1,
        24,
        False,
    )
    people = said(made, "graph", "search", "where is the retry delay").stdout
    assert people.startswith("pkg/delay.py:1-24\n  def retry_delay(attempt):\n")
    assert "... 12 more lines" in people
    assert SECRET not in people + chunk["Body"]
    assert said(made, "graph", "search", "--paths", "retry").stdout == "pkg/delay.py:1-24\n"
    shown = said(made, "graph", "show", "--type", "symbol").stdout
    assert "the code: ready, as of " in shown
    assert "retry_delay (pkg/delay.py:1)" in shown
    assert json.loads(said(made, "status", "--json").stdout)["graphNodes"] >= scanned["nodes"]
    stored = b"".join(path.read_bytes() for path in (made.root / ".hub").glob("graph.db*"))
    assert b"retry_delay" in stored
    assert SECRET.encode() not in stored


def test_a_summary_says_what_is_missing():
    body = {
        "nodes": 1,
        "edges": 2,
        "files": 3,
        "chunks": 4,
        "truncated": True,
        "state": "empty",
        "eventId": 5,
    }
    text = _summary(sample(Graph, **body))
    assert "there is more code than is indexed" in text
    assert "as of never (hub graph scan)" in text
    assert text.startswith("1 node, 2 edges; 3 files in 4 chunks")
    ready = _summary(sample(Graph, **{**body, "scannedAt": AT, "state": "ready", "eventId": 0}))
    assert "as of 2026-01-02 03:04:05 UTC; what agents did: nothing yet" in ready


def test_where_no_node_is_of_the_type_that_is_said():
    """`hub graph show --type nope` showed the summary, as if nothing had been asked."""
    body = sample(Known)
    assert _shown(attrs.evolve(body, detail=sample(Detail))).splitlines()[-1] == "no such node"
    assert _shown(body) == _summary(body)


def test_a_module_is_shown_with_what_it_imports():
    nodes = [
        sample(GraphNode, id=name, node_type="module", updated_at=AT, payload=payload)
        for name, payload in (
            ("module:a.py", {"path": "a.py"}),
            ("outside:python:os", {"name": "os", "lang": "python", "outside": True}),
        )
    ]
    edges = [
        sample(GraphEdge, from_id="module:a.py", to_id="outside:python:os", edge_type="imports"),
        sample(GraphEdge, from_id="module:a.py", to_id="module:a.py", edge_type="defines"),
    ]
    body = attrs.evolve(sample(Known), detail=Detail(nodes=nodes, edges=edges))
    rows = _shown(body).splitlines()[2:]
    assert rows == [
        "2026-01-02 03:04:05  module       a.py",
        "    imports os (python, from outside)",
        "2026-01-02 03:04:05  module       os (python, from outside)",
    ]


@pytest.mark.parametrize(
    ("payload", "label"),
    [
        ({"text": "keep\nit"}, "keep it"),
        ({"goal": "Do."}, "Do."),
        ({"name": "f", "path": "a.py", "line": 3}, "f (a.py:3)"),
        ({"name": "os", "lang": "python", "outside": True}, "os (python, from outside)"),
        ({}, "task:s-1"),
    ],
)
def test_a_node_is_told_in_a_line(payload, label):
    assert _label(sample(GraphNode, id="task:s-1", payload=payload)) == label
