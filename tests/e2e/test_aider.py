"""The main job with the real Aider: its limit, its stop and its death, and its turn as receiver."""

import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import git, until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f one.txt && test -f two.txt"]
BOTH = (Turn.write("one.txt", "x\n"), Turn.write("two.txt", "y\n"), Turn.text("Done."))


def test_aider_hits_its_limit_and_codex_finishes_under_the_contract(team):
    team.hire("aider", "codex")
    team.script("aider", Turn.limit())
    team.script("codex", *BOTH)
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "codex")
    assert team.contract_seen("codex")
    assert (record["tried"][0]["provider"], record["tried"][0]["failure"]) == ("aider", "usage_limit")


def test_aider_finishes_under_the_contract_and_leaves_nothing_but_its_work(team):
    team.hire("codex", "aider")
    team.script("codex", Turn.write("one.txt", "by codex\n"), Turn.limit(resets_in=7200))
    team.script("aider", Turn.write("two.txt", "by aider\n"))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "aider")
    assert team.contract_seen("aider")
    assert team.branch_file("two.txt") == b"by aider\n"
    listed = git(team.made.root, "ls-tree", "-r", "--name-only", f"hub/{record['sessionId']}")
    assert not [name for name in listed.splitlines() if ".aider" in name or name == ".gitignore"]


def test_a_stop_ends_aider_amid_its_answer(team):
    team.hire("aider")
    team.script("aider", Turn.hold())
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    until(lambda: team.mains("aider"), "the model is asked", PATIENCE)
    api.post("/api/session/stop")
    assert team.ended()["sessionState"] == "stopped"


def test_a_killed_aider_is_followed_by_the_next(team):
    team.hire("aider", "codex")
    team.script("aider", Turn.hold())
    team.script("codex", *BOTH)
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    until(lambda: team.mains("aider"), "the model is asked", PATIENCE)
    team.agent().kill()
    record = team.ended()
    assert (record["sessionState"], record["provider"]) == ("completed", "codex")
