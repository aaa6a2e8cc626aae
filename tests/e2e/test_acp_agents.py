"""Agents that speak ACP, end to end: Qwen Code, Copilot CLI, and one of the user's own from hub.toml alone."""

from __future__ import annotations

import pytest

from tests.agents import PROGRAMS, program_path
from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f one.txt && test -f two.txt"]
LONG = 300.0
"""These agents retry a used-up quota themselves, for a minute and more, before they tell it."""


@pytest.fixture(params=["qwen", "copilot"])
def name(request) -> str:
    return request.param


def ended(team):
    return until(team.made.ended, "the session ends", LONG)


def test_a_limit_is_handed_to_another_agent_under_the_contract(team, name):
    """It names its reset, so that Qwen tells it at once; how long the other kind takes is the adapter's test."""
    team.hire(name, "codex")
    team.script(name, Turn.write("one.txt", "by the first\n"), Turn.limit(dated=True))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Both files are there."))
    team.start().post("/api/run", {"task": "Write the files.", "verify": VERIFY})
    record = ended(team)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "codex")
    assert record["tried"][0]["failure"] == "usage_limit"
    assert team.branch_file("one.txt") == b"by the first\n"
    assert team.contract_seen("codex")


def test_the_contract_of_another_agent_is_taken_over(team):
    """Qwen takes one over in `test_chain`."""
    team.hire("codex", "copilot")
    team.script("codex", Turn.write("one.txt", "by codex\n"), Turn.limit(resets_in=7200))
    team.script("copilot", Turn.write("two.txt", "by the second\n"), Turn.text("Both files are there."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "copilot")
    assert team.contract_seen("copilot")


def test_a_stop_leaves_no_process_and_keeps_the_work(team, name):
    team.hire(name)
    team.script(name, Turn.write("one.txt", "x\n"), Turn.shell("touch busy; sleep 300.25"), Turn.text("-"))
    api = team.busy("busy", verify=VERIFY)
    agent = team.agent()
    api.post("/api/session/stop", {})
    record = ended(team)
    assert record["sessionState"] == "stopped"
    assert team.branch_file("one.txt") == b"x\n"
    assert not agent.is_running()


def test_an_agent_of_the_users_own_takes_part_in_a_handoff(team):
    """Named, described and pointed at its model by hub.toml alone; Copilot CLI behind a name hub does not know."""
    own = PROGRAMS["copilot"]
    team.hire("codex")
    env = {**team.models.proxy_env(), **own.env, own.key: "mine"}
    shown = ", ".join(f'{key} = "{value}"' for key, value in env.items() if key.isupper())
    config = team.made.root / "hub.toml"
    config.write_text(
        config.read_text().replace('"codex",', '"codex", "mine",', 1)
        + f'[providers.mine]\nkind = "acp"\ncommand = ["{program_path("copilot")}", "--acp", "--no-auto-update"]\n'
        + f'displayName = "Mine"\nmodel = "{own.model}"\nmodelEnv = "COPILOT_MODEL"\nhomeEnv = "COPILOT_HOME"\n'
        + f'baseUrl = "{team.models.openai_url}"\nbaseUrlEnv = "COPILOT_PROVIDER_BASE_URL"\nenv = {{ {shown} }}\n'
    )
    team.script("codex", Turn.write("one.txt", "by codex\n"), Turn.limit(resets_in=7200))
    team.models.script("mine", Turn.write("two.txt", "by mine\n"), Turn.text("Done."))
    api = team.start()
    assert "mine" in [entry["name"] for entry in api.get("/api/providers")]
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    record = ended(team)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "mine")
    assert team.branch_file("two.txt") == b"by mine\n"
