"""One task through the hands of five vendors' programs: each but the last hits its limit, and nothing is lost."""

import pytest

from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

CHAIN = ("claude", "codex", "gemini", "opencode", "qwen")
PATIENCE = 300.0
LEFT = "Leave qwen.txt to the last one"


def test_five_agents_finish_one_task(team):
    """Every agent writes one file; the branch has all five, byte for byte, and each got the contract of the one before.

    Gemini's has what its protocol leaves out: the open items of its list, and how its command ended.
    """
    team.hire(*CHAIN)
    more = {"gemini": (Turn.plan((LEFT, "pending"), ("Look", "completed")), Turn.shell("cat qwen.txt"))}
    for name in CHAIN[:-1]:
        own = Turn.write(f"{name}.txt", f"by {name}\n")
        team.script(name, *more.get(name, ()), own, Turn.limit(resets_in=7200))
    team.script(CHAIN[-1], Turn.write("qwen.txt", "by qwen\n"), Turn.text("All five are there."))
    api = team.start()
    verify = [" && ".join(f"test -f {name}.txt" for name in CHAIN)]
    api.post("/api/run", {"task": "Write the five files.", "verify": verify})
    record = until(team.made.ended, "the fifth agent finishes", PATIENCE)
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 4)
    assert [(left["provider"], left["failure"]) for left in record["tried"]] == [
        (name, "usage_limit") for name in CHAIN[:-1]
    ]
    for name in CHAIN:
        assert team.branch_file(f"{name}.txt") == f"by {name}\n".encode()
    signed = [
        event["meta"]["contract"] for event in team.made.events() if event["meta"].get("to") == "DISPATCHED"
    ]
    assert len(set(signed)) == 4
    assert all(team.contract_seen(name, contract) for name, contract in zip(CHAIN[1:], signed, strict=True))
    given = str(team.mains("opencode")[0].body)
    assert LEFT in given
    assert "cat qwen.txt ended with exit status 1" in given
    assert len(record["hfsHistory"]) == 4
    assert min(record["hfsHistory"]) > 0
