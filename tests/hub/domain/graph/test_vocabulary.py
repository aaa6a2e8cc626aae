"""What code and agents' doings are as parts of the graph."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.code.resolve import project
from hub.domain.code.symbol import Symbol
from hub.domain.event import Record
from hub.domain.graph.activity import ActivityFold
from hub.domain.graph.vocabulary import (
    EdgeType,
    NodeType,
    code_part,
    fact_id,
    file_id,
    import_part,
    module_id,
    outside_id,
    task_id,
)
from tests.hub.domain.graph.logs import LOGS, ROOT, SESSION, TASK, Known, Log, known, logged


def test_a_module_defines_its_symbols_each_name_once():
    part = code_part(
        "a.py",
        "python",
        "generated",
        [Symbol("f", "function", 1), Symbol("f", "function", 9), Symbol("C", "class", 3)],
    )
    assert [(node.id, node.weight) for node in part.nodes] == [
        ("module:a.py", 0.5), ("symbol:a.py#f", 0.5), ("symbol:a.py#C", 0.5),
    ]  # fmt: skip
    assert part.nodes[0].payload == {"path": "a.py", "lang": "python", "mark": "generated"}
    assert part.nodes[1].payload == {
        "name": "f",
        "kind": "function",
        "path": "a.py",
        "line": 1,
        "lines": [1, 9],
    }
    assert {(edge.from_id, edge.type, edge.to_id) for edge in part.edges} == {
        ("module:a.py", EdgeType.DEFINES, "symbol:a.py#f"), ("module:a.py", EdgeType.DEFINES, "symbol:a.py#C"),
    }  # fmt: skip
    assert code_part("b", None, None, []).nodes[0].payload["lang"] == ""


def test_the_task_its_constraints_and_its_end():
    found = known(Log().began().add("system", "session completed", ended="completed", verified=True))
    task = found.nodes[task_id(SESSION)]
    assert (task["goal"], task["taskId"], task["state"], task["verified"]) == (TASK, "t-1", "completed", True)
    number = fact_id(NodeType.CONSTRAINT, SESSION, "Do not touch the schema.")
    assert {(task_id(SESSION), "has_fact", number), (number, "scope", task_id(SESSION))} <= found.edges


def test_a_call_its_file_and_how_it_ended():
    found = known(Log().began().calls("Edit", path=f"{ROOT}/src/a.py").answers("ok"))
    call = found.nodes["tool_use:d-1:c"]
    assert (call["tool"], call["path"], call["writes"], call["failed"], call["result"]) == (
        "Edit",
        "src/a.py",
        True,
        False,
        3,
    )
    assert {
        (task_id(SESSION), "emitted", "tool_use:d-1:c"),
        ("tool_use:d-1:c", "touches", file_id("src/a.py")),
        (task_id(SESSION), "touches", file_id("src/a.py")),
    } <= found.edges
    assert found.weights[file_id("src/a.py")] == 1


def test_a_failure_has_its_exit_code_and_is_one_until_the_command_works():
    log = Log().began().calls("Bash", command="make test").answers("boom\nmore", exitCode=2)
    (failure,) = known(log).of(NodeType.FAILURE)
    assert (failure["text"], failure["exitCode"]) == ("make test ended with exit status 2: boom", 2)
    number = fact_id(NodeType.FAILURE, SESSION, "make test")
    assert {(task_id(SESSION), "has_fact", number), ("tool_use:d-1:c", "extracted", number)} <= known(
        log
    ).edges
    log.calls("Bash", "e", command="make test").answers("fine", "e", exitCode=0)
    assert known(log).of(NodeType.FAILURE) == []
    assert not any(number in edge for edge in known(log).edges)


def test_a_result_without_its_call_is_a_node_of_its_own():
    found = known(Log().began().answers("said", "x", isError=True))
    assert found.nodes["tool_use:d-1:x"]["failed"] is True
    assert found.of(NodeType.FAILURE) == [], "nothing says what failed"
    assert found.weights["tool_use:d-1:x"] == 1
    assert (
        "tool_use:s-1:2" in known(Log().began().add("tool_use", "Read", type="tool_use", tool="Read")).nodes
    )


def test_statements_and_the_files_they_mention():
    found = known(
        Log().began().says("Decision: keep src/parse.py and setup.toml, not version 1.2.\nWhat now?")
    )
    assert found.texts(NodeType.DECISION) == {"keep src/parse.py and setup.toml, not version 1.2."}
    number = fact_id(NodeType.DECISION, SESSION, "keep src/parse.py and setup.toml, not version 1.2.")
    assert {edge[2] for edge in found.edges if edge[:2] == (number, "mentions")} == {
        file_id("src/parse.py"), file_id("setup.toml"),
    }  # fmt: skip
    assert found.weights[file_id("src/parse.py")] == 0, "spoken of is not touched"


def test_thoughts_and_tools_outputs_are_no_statements():
    found = known(
        Log().began("x").add("text", "Decision: a", type="thinking").calls("Read").answers("Decision: b")
    )
    assert found.texts(NodeType.DECISION) == set()


def test_what_belongs_to_no_session_is_passed_over():
    assert known(Log().add("system", "hub started", "")) == Known()
    assert ActivityFold(str).feed(Record(1, "", "text", "x", {"sessionId": 7})).nodes == ()


@settings(max_examples=60)
@given(LOGS, st.frozensets(st.integers(1, 16)))
def test_a_reader_that_ends_in_between_misses_nothing_and_counts_nothing_twice(steps, cuts):
    log = logged(steps)
    assert known(log, cuts) == known(log)


@settings(max_examples=100)
@given(LOGS)
def test_no_edge_leads_to_nowhere(steps):
    found = known(logged(steps))
    assert {end for edge in found.edges for end in edge[::2]} <= found.nodes.keys()


def test_an_import_is_an_edge_to_the_file_or_to_the_module_that_is_so_called():
    """A file of the project where the name settles which; each target once, however often it is named."""
    part = import_part(
        "pkg/a.py", "python", ["pkg.b", "pkg.b", "json"], project(["pkg/a.py", "pkg/b.py"], {})
    )
    outside = outside_id("python", "json")
    assert {(edge.from_id, edge.to_id, edge.type) for edge in part.edges} == {
        (module_id("pkg/a.py"), module_id("pkg/b.py"), EdgeType.IMPORTS),
        (module_id("pkg/a.py"), outside, EdgeType.IMPORTS),
    }
    assert [(node.id, node.type, node.payload) for node in part.nodes] == [
        (outside, NodeType.MODULE, {"name": "json", "lang": "python", "outside": True})
    ]


def test_a_name_that_leads_nowhere_and_names_no_module_is_no_edge():
    """A relative import of a file that is not there says nothing of the world outside."""
    part = import_part("pkg/a.py", "python", [".gone"], project(["pkg/a.py"], {}))
    assert (part.nodes, part.edges) == ((), ())
