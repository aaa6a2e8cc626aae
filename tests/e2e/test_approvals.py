"""The real programs ask before a shell command: allowed it runs, denied it does not, and the model is told."""

from __future__ import annotations

import json

import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

AGENTS = ["claude", "codex", "gemini"]
RULE = 'severity = "danger"\nreason = "shells are looked at"'
TASK = {"task": "Make the file."}


def hire(team, name: str, more: str = "") -> None:
    """One agent that wants to run a command which changes something, and then ends."""
    team.hire(name)
    team.looks_at(RULE + more)
    team.script(name, Turn.shell("touch asked.txt"), Turn.text("That is all."), Turn.text("That is all."))


def waiting(api) -> dict[str, object]:
    """The one request, once it waits."""
    return until(lambda: next(iter(api.get("/api/approvals")), None), "the agent asks", PATIENCE)


def files(team) -> str:
    return team.made.show(f"hub/{team.made.fsm()['sessionId']}^{{tree}}").decode()


@pytest.mark.parametrize("name", AGENTS)
def test_an_allowed_command_runs(team, name):
    """Also when the daemon is killed while the agent waits: the same process hears the answer from the next one."""
    hire(team, name)
    api = team.start()
    api.post("/api/run", TASK)
    asked = waiting(api)
    assert (asked["provider"], asked["severity"], asked["reason"]) == (
        name,
        "danger",
        "shells are looked at",
    )
    assert "touch asked.txt" in asked["action"]
    assert not (team.made.hub / "worktrees" / team.made.fsm()["sessionId"] / "asked.txt").exists()
    team.made.kill()
    api = team.start()
    assert waiting(api)["id"] == asked["id"]
    api.post(f"/api/approvals/{asked['id']}", {"approved": True})
    record = team.ended()
    assert (record["sessionState"], record["attempt"]) == ("completed", 1)
    assert "asked.txt" in files(team)


@pytest.mark.parametrize("name", AGENTS)
def test_a_denied_command_does_not_run_and_the_model_is_told(team, name):
    hire(team, name)
    api = team.start()
    api.post("/api/run", TASK)
    asked = waiting(api)
    api.post(f"/api/approvals/{asked['id']}", {"approved": False, "note": "touch nothing, please"})
    record = team.ended()
    assert record["sessionState"] == "completed"
    assert "asked.txt" not in files(team)
    seen = json.dumps([request.body for request in team.mains(name)])
    assert "touch nothing, please" in seen


def test_a_rule_denies_without_anybody(team):
    """The agent is told why, the same way as of a person's no; nothing waits."""
    name = "codex"
    hire(team, name, '\ncommand = "touch*"\ndecision = "deny"')
    record = team.run(**TASK)
    assert record["sessionState"] == "completed"
    assert "asked.txt" not in files(team)
    seen = json.dumps([request.body for request in team.mains(name)])
    assert "shells are looked at" in seen
