"""The listing of the log: whose the lines are where several sessions have some."""

from hub.cli.commands.logs import Floor


def record(session="", **meta):
    return {"id": 1, "ts": "12:34:56.789", "tag": "text", "msg": "x", "meta": {"sessionId": session, **meta}}


def test_a_heading_stands_where_another_sessions_lines_begin():
    """Two sessions with the same agent could not be told apart."""
    floor = Floor()
    starts = [record(f"s-{n}", taskId="t", task=f"Task {n}\nmore") for n in (1, 2)]
    lines = [starts[0], record("s-1"), starts[1], record(), record("s-2"), record("s-1"), record("s-3")]
    assert [floor.heading(line) for line in lines] == [
        *("--- s-1  Task 1", ""),
        *("--- s-2  Task 2", "", ""),
        *("--- s-1", "--- s-3"),
    ]


def test_what_a_run_says_of_its_node_is_the_runs_own():
    floor = Floor()
    lines = record("s-1"), record("s-2", node="api"), record("s-1")
    assert [floor.heading(line) for line in lines] == ["--- s-1", "", ""]
