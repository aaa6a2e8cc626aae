"""`hub eval`: a table, a document, and a status that says whether it is good enough."""

import json

import pytest

from hub.errors import HubError
from hub.evals import report
from tests.hub.cli.command import hub

LABELS = """
[recording]
task = "Write a.txt"
worktree = "/home/dev/repo"
env = { CLAUDE_CONFIG_DIR = "." }
[[facts]]
class = "objective"
text = "Write a.txt"
[[facts]]
class = "decisions"
text = "in capital letters"
"""
SESSION = "projects/-home-dev-repo/5d1b7f0c-0000-4000-8000-000000000001.jsonl"
USER = {
    "type": "user",
    "uuid": "u",
    "cwd": "/home/dev/repo",
    "message": {"role": "user", "content": "Write a.txt"},
}


@pytest.fixture
def suite(tmp_path):
    """One recording in which a decision is labelled that hub cannot know."""
    folder = tmp_path / "suite" / "claude" / "mine"
    (folder / "store" / SESSION).parent.mkdir(parents=True)
    (folder / "store" / SESSION).write_text(json.dumps(USER) + "\n")
    (folder / "facts.toml").write_text(LABELS)
    (tmp_path / "suite" / "thresholds.toml").write_text("[store.recall]\nobjective = 1.0\n")
    return tmp_path / "suite"


def test_a_suite_of_the_users_own_is_good_enough_or_not(suite):
    """Exit status 1 below a threshold, which is each agent's own."""
    good = hub("eval", "--suite", str(suite), "--json", cwd=suite)
    assert (good.returncode, json.loads(good.stdout)["ok"]) == (0, True)
    [found] = json.loads(good.stdout)["recordings"]
    assert found["classes"]["objective"] == {
        "facts": 12, "found": 12, "items": 12, "right": 12, "recall": 1.0, "precision": 1.0,
    }  # fmt: skip
    assert found["missed"][0]["text"] == "in capital letters"
    (suite / "thresholds.toml").write_text("[store.recall]\ndecisions = 0.5\n")
    bad = hub("eval", "--suite", str(suite), "--faults", cwd=suite)
    assert bad.returncode == 1
    assert "claude, store: recall of decisions is 0.000, below 0.500" in bad.stdout
    assert "claude/mine store missed decisions: 'in capital letters' at 1,2,3" in bad.stdout
    assert "1 recordings, 12 cuts" in bad.stdout
    (suite / "thresholds.toml").write_text(
        "[store.recall]\ndecisions = 0.5\n[claude.store.recall]\ndecisions = 0.0\n"
    )
    assert hub("eval", "--suite", str(suite), cwd=suite).returncode == 0


def test_an_agent_without_recordings_is_not_found(suite):
    """Exit status 3, with what there is to do."""
    done = hub("eval", "--suite", str(suite), "--provider", "codex", "--json", cwd=suite)
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (3, "not_found")


@pytest.mark.parametrize(
    "text",
    ["[store", "[store.recall]\nmood = 1.0", "[store.speed]\nplan = 1.0", "[claude.air.recall]\nplan = 1.0",
     "[store.recall]\nplan = 'x'", "store = 1"],
)  # fmt: skip
def test_thresholds_that_say_nothing_are_refused(suite, text):
    """A misspelt threshold would never be missed."""
    (suite / "thresholds.toml").write_text(text)
    with pytest.raises(HubError, match=r"thresholds\.toml"):
        report.thresholds(suite)


def test_a_suite_without_thresholds_has_those_of_hubs_own(suite):
    (suite / "thresholds.toml").unlink()
    assert report.thresholds(suite) == report.thresholds(report.GOLDEN) != {}
