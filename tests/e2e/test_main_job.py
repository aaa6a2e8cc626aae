"""The main job with the real programs: a task handed from one real agent to the next, nothing lost.

Claude Code and Codex start fastest, so what holds for every agent is seen with them. What an agent does in its own way
has its adapter's test (`tests/hub/providers/<agent>/test_real_<agent>.py`), and each gives and takes in `test_chain.py`.
"""

import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f one.txt && test -f two.txt"]


def test_claude_hits_its_limit_and_codex_finishes_under_the_contract(team):
    """Claude writes a file and hits its 5-hour limit; Codex gets the contract and finishes; verify passes."""
    team.hire("claude", "codex")
    team.script("claude", Turn.write("one.txt", "by claude\n"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Both files are there."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 1)
    assert record["provider"] == "codex"
    assert record["failure"] is None
    assert team.branch_file("one.txt") == b"by claude\n"
    assert team.branch_file("two.txt") == b"by codex\n"
    assert team.contract_seen("codex")
    assert record["hfsHistory"][0] > 0
    tried = record["tried"][0]
    assert (tried["provider"], tried["failure"]) == ("claude", "usage_limit")


def test_another_account_of_the_same_provider_comes_before_another_provider(team):
    """Claude account A -> Claude account B; Codex, next in the chain, is never asked."""
    team.hire("claude:a", "claude:b", "codex")
    team.script("claude:a", Turn.write("one.txt", "by a\n"), Turn.limit(resets_in=7200))
    team.script("claude:b", Turn.write("two.txt", "by b\n"), Turn.text("Done."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["provider"], record["account"]) == ("completed", "claude", "b")
    assert team.contract_seen("claude:b")
    assert team.mains("codex") == []


def test_a_limit_with_nobody_left_is_waited_for(team):
    """The wait has an absolute instant, survives a kill of the daemon, and one call ends it."""
    team.hire("claude")
    team.script(
        "claude",
        Turn.write("one.txt", "x\n"),
        Turn.limit(resets_in=7200, repeat=1),
        Turn.write("two.txt", "y\n"),
        Turn.text("Done."),
    )
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    until(lambda: api.get("/api/status")["sessionState"] == "waiting", "the session waits", PATIENCE)
    instant = team.made.fsm()["wait"]["until"]
    assert instant > 7000
    team.made.kill()
    api = team.start()
    status = api.get("/api/status")
    assert status["sessionState"] == "waiting"
    assert team.made.fsm()["wait"]["until"] == instant
    api.post("/api/handoff")
    record = team.ended()
    assert (record["sessionState"], record["verified"]) == ("completed", True)


def test_an_agent_killed_in_the_middle_of_a_tool_loses_nothing(team):
    """kill -9 of the real agent while its command runs: what it wrote is kept and the next one goes on."""
    team.hire("claude", "codex")
    team.script(
        "claude",
        Turn.write("one.txt", "by claude\n"),
        Turn.shell("echo part > part.txt; sleep 60"),
        Turn.text("-"),
    )
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Done."))
    team.busy("part.txt", verify=VERIFY)
    team.agent().kill()
    record = team.ended()
    assert (record["sessionState"], record["provider"]) == ("completed", "codex")
    assert team.branch_file("part.txt") == b"part\n"
    assert team.branch_file("one.txt") == b"by claude\n"


def test_a_verify_that_fails_once_passes_on_the_fallback(team):
    """ "Done" is said by the acceptance commands: Claude says so too early, Codex gets what failed."""
    team.hire("claude", "codex")
    team.script("claude", Turn.write("one.txt", "x\n"), Turn.text("All done!"))
    team.script("codex", Turn.write("two.txt", "y\n"), Turn.text("Now it is."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "codex")
    assert record["tried"][0]["failure"] == "verify_failed"
    assert team.contract_seen("codex")


@pytest.mark.parametrize("name", ["claude", "opencode"])
def test_a_running_agent_outlives_the_daemon_and_is_re_attached(team, name):
    """kill -9 of the daemon while the real agent works: no second agent, no paid turn cut, no event doubled.

    OpenCode is a server of its own behind hub's bridge.
    """
    team.hire(name)
    team.script(name, Turn.write("one.txt", "x\n"), Turn.write("two.txt", "y\n"), Turn.hold())
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    until(
        lambda: len(team.mains(name)) >= 3,
        "the model is asked for its last words",
        PATIENCE,
    )
    dispatch = team.made.fsm()["dispatchId"]
    team.made.kill()
    team.models.release()
    team.start()
    record = team.ended()
    assert (record["sessionState"], record["dispatchId"], record["attempt"]) == ("completed", dispatch, 1)
    ids = [event["id"] for event in team.made.events()]
    assert ids == list(range(1, len(ids) + 1))
    assert len(team.mains(name)) == 3
