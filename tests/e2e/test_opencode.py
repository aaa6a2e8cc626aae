"""The main job with the real OpenCode: its limit, its refusal, its death and the daemon's, and its turn as receiver."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f one.txt && test -f two.txt"]


def test_opencode_hits_its_limit_and_codex_finishes_under_the_contract(team):
    team.hire("opencode", "codex")
    team.script("opencode", Turn.write("one.txt", "by opencode\n"), Turn.limit(resets_in=7200))
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Both files are there."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "codex")
    assert team.branch_file("one.txt") == b"by opencode\n"
    assert team.contract_seen("codex")
    tried = record["tried"][0]
    assert (tried["provider"], tried["failure"]) == ("opencode", "usage_limit")


def test_codex_hits_its_limit_and_opencode_finishes_under_the_contract(team):
    team.hire("codex", "opencode")
    team.script("codex", Turn.write("one.txt", "by codex\n"), Turn.limit(resets_in=7200))
    team.script("opencode", Turn.write("two.txt", "by opencode\n"), Turn.text("Done."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["verified"], record["provider"]) == ("completed", True, "opencode")
    assert team.branch_file("two.txt") == b"by opencode\n"
    assert team.contract_seen("opencode")


def test_another_account_of_opencode_goes_on(team):
    """The directories of the two are apart: the second has a key and sessions of its own."""
    team.hire("opencode:a", "opencode:b")
    team.script("opencode:a", Turn.write("one.txt", "by a\n"), Turn.limit(resets_in=7200))
    team.script("opencode:b", Turn.write("two.txt", "by b\n"), Turn.text("Done."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["account"]) == ("completed", "b")
    assert team.contract_seen("opencode:b")


def test_a_refusal_of_opencode_goes_to_one_other_provider(team):
    team.hire("opencode", "codex")
    team.script("opencode", Turn.refusal())
    team.script("codex", Turn.write("one.txt", "x\n"), Turn.write("two.txt", "y\n"), Turn.text("Done."))
    record = team.run(verify=VERIFY)
    assert (record["sessionState"], record["provider"]) == ("completed", "codex")
    assert record["refusedBy"] == ["opencode"]


def test_a_stop_ends_the_turn_and_leaves_no_process(team):
    """The server too: it is a process of its own behind the bridge."""
    team.hire("opencode")
    team.script("opencode", Turn.shell("echo part > part.txt; sleep 300"))
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    worktree = until(lambda: api.get("/api/status")["worktree"], "the worktree is made", PATIENCE)
    until((Path(worktree) / "part.txt").exists, "the command has begun", PATIENCE)
    bridge = psutil.Process(_agent(team)["pid"])
    family = [bridge, *bridge.children(recursive=True)]
    assert len(family) > 2
    api.post("/api/session/stop")
    record = team.ended()
    assert record["sessionState"] == "stopped"
    until(lambda: not any(_runs(member) for member in family), "all processes have gone", PATIENCE)
    assert team.branch_file("part.txt") == b"part\n"


def test_a_killed_opencode_loses_nothing(team):
    """kill -9 of the bridge in the middle of a command: what was written is kept and the next one goes on."""
    team.hire("opencode", "codex")
    team.script(
        "opencode", Turn.write("one.txt", "by opencode\n"), Turn.shell("echo part > part.txt; sleep 300")
    )
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Done."))
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    worktree = until(lambda: api.get("/api/status")["worktree"], "the worktree is made", PATIENCE)
    until((Path(worktree) / "part.txt").exists, "the command has begun", PATIENCE)
    family = psutil.Process(_agent(team)["pid"]).children(recursive=True)
    os.kill(_agent(team)["pid"], signal.SIGKILL)
    record = team.ended()
    assert (record["sessionState"], record["provider"]) == ("completed", "codex")
    assert team.branch_file("part.txt") == b"part\n"
    assert not any(_runs(member) for member in family)


def test_a_running_opencode_outlives_the_daemon_and_is_re_attached(team):
    """kill -9 of the daemon while the real agent works: no second agent, no paid turn cut, no event doubled."""
    team.hire("opencode")
    team.script("opencode", Turn.write("one.txt", "x\n"), Turn.write("two.txt", "y\n"), Turn.hold())
    api = team.start()
    api.post("/api/run", {"task": "Write both.", "verify": VERIFY})
    until(
        lambda: len(team.models.mains("opencode-default")) >= 3,
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
    assert len(team.models.mains("opencode-default")) == 3


def _agent(team) -> dict[str, int]:
    return json.loads((team.made.hub / "run" / team.made.fsm()["dispatchId"] / "agent.json").read_text())


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
