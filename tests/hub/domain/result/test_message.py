"""The words of a commit in which a result is taken."""

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.config.model import ProviderSettings
from hub.domain.config.reader import Config
from hub.domain.result.message import CommitStory, left_behind, message, signed, slug, workers
from hub.domain.session import Attempt, SessionRecord

TOLD = CommitStory(session_id="s-1", task="Add --json to the list", agents=("Claude Code",))


def test_a_message_is_the_task_who_did_it_and_the_trailers():
    told = attrs.evolve(
        TOLD,
        task="Add --json to the list\n\nAs the others have it.",
        agents=("Claude Code", "Codex"),
        verified=True,
        verify=("make test", "ruff\ncheck"),
        co_authors=("Claude <c@x>", "Codex <o@x>", "Claude <c@x>", ""),
    )
    assert message(told) == (
        "Add --json to the list\n\nAs the others have it.\n\n"
        "Done by Claude Code, then Codex.\nVerified: make test; ruff check\n\n"
        "Hub-Session: s-1\nCo-authored-by: Claude <c@x>\nCo-authored-by: Codex <o@x>\n"
    )


def test_what_is_too_long_for_a_subject_is_whole_below_it():
    task = "word " * 30
    lines = message(attrs.evolve(TOLD, task=task)).split("\n")
    assert len(lines[0]) == 72
    assert lines[2] == task.strip()


def test_without_words_there_is_a_message_all_the_same():
    """What was not verified, or by nobody known, is not said to be; what was refused is said to be."""
    told = CommitStory(session_id="s-1", task=" \x1b[2J\n", agents=(), verified=None, verify=("make",))
    assert message(told) == "Work of s-1\n\nHub-Session: s-1\n"
    assert "erified" not in message(attrs.evolve(told, verified=True, verify=()))
    refused = message(attrs.evolve(told, verified=False))
    assert refused == "Work of s-1\n\nNot verified: make\n\nHub-Session: s-1\n"


@given(st.text(), st.text())
def test_no_task_and_no_author_adds_a_trailer(task, author):
    """Both are others' words; the trailers are the last paragraph, one line each."""
    text = message(attrs.evolve(TOLD, task=task, co_authors=(author,)))
    last = text.rstrip("\n").rpartition("\n\n")[2].split("\n")
    assert last[0] == "Hub-Session: s-1"
    assert len(last) <= 2
    assert all(line.startswith("Co-authored-by: ") for line in last[1:])


def test_who_worked_is_whoever_began_in_turn():
    tried = (
        Attempt("claude", "a", "usage_limit", ""),
        Attempt("claude", "b", "usage_limit", ""),
        Attempt("codex", "", "dispatch_failed", ""),
    )
    assert workers(SessionRecord(provider="gemini", tried=tried)) == ("claude", "gemini")
    assert workers(SessionRecord()) == ()


def test_agents_are_named_as_their_makers_sign_or_as_the_user_says():
    config = Config(providers={"codex": ProviderSettings(co_author="")})
    told = attrs.evolve(TOLD, agents=("claude", "codex", "mine"))
    found = signed(told, config, str.upper)
    assert found.agents == ("CLAUDE", "CODEX", "MINE")
    assert found.co_authors == ("Claude <noreply@anthropic.com>", "", "MINE <mine@hub.localhost>")


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("Add --json to the list command", "add-json-to-the-list-command"),
        ("Fix\nthe rest", "fix"),
        ("x" * 100, "x" * 40),
        ("one two three four five six seven eight nine ten", "one-two-three-four-five-six-seven-eight"),
        ("日本語", ""),
    ],
)
def test_a_branch_is_named_after_the_task(task, name):
    assert slug(task) == name


def test_what_programs_leave_behind_is_known_by_its_name():
    kept = ["src/a.py", "coverage.md", "docs/htmlcov.md", "a.pycx"]
    left = [
        "__pycache__/a.cpython-311.pyc", "src/__pycache__/b.pyc", "x.pyo", ".coverage", "a/.coverage.host.1",
        "htmlcov/index.html", ".pytest_cache/v/x", ".mypy_cache/x", ".DS_Store",
    ]  # fmt: skip
    assert left_behind([*kept, *left]) == left
