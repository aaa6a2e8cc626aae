"""Copilot's list of tasks, from the statements it sends to its own database."""

import pytest

from hub.providers.copilot.todos import Todos

MADE = (
    "INSERT INTO todos (id, title, description) VALUES ('read', 'Reading the; code', 'x'), ('write', 'Writing it', 'y');\n"
    "INSERT INTO todo_deps (todo_id, depends_on) VALUES ('write', 'read');"
)


def after(*queries, failed=False):
    todos = Todos()
    for query in queries:
        todos.asked("c", query)
        found = todos.ended("c", failed=failed)
    return found


def test_the_list_is_what_its_statements_make_it():
    assert after(MADE) == [("Reading the; code", "pending"), ("Writing it", "pending")]
    done = "UPDATE todos SET status = 'done', updated_at = CURRENT_TIMESTAMP WHERE id = 'read'"
    assert after(MADE, done) == [("Reading the; code", "done"), ("Writing it", "pending")]
    assert after(MADE, "DELETE FROM todos WHERE id IN ('read')") == [("Writing it", "pending")]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM todos",
        "SELECT 1",
        "not sql about todos",
        "INSERT INTO todos (id, title) VALUES ('x', 'x' || randomblob(1000000000))",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO todos (id) SELECT i FROM n",
        "PRAGMA journal_mode = WAL; -- todos",
        "INSERT INTO todos (id, title) VALUES ('" + "x" * 70_000 + "', 'x')",
    ],
)
def test_what_changes_no_task_tells_nothing(query):
    assert after(query) is None


def test_a_statement_reaches_no_file(tmp_path):
    """It is a model's words."""
    place = tmp_path / "todos.db"
    assert after(f"ATTACH '{place}' AS x; VACUUM INTO '{place}'; CREATE TABLE todos2 (id)") is None
    assert list(tmp_path.iterdir()) == []


def test_a_statement_that_failed_changed_nothing():
    assert after(MADE, failed=True) is None
    assert Todos().ended("unknown", failed=False) is None


def test_a_statement_that_cannot_be_done_here_takes_no_other_with_it():
    assert after(f"INSERT INTO test_cases (id) VALUES (1); {MADE}") is not None
