"""The main job with the real OpenCode: its stop and its death."""

from __future__ import annotations

import psutil
import pytest

from tests.e2e.conftest import PATIENCE
from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

VERIFY = ["test -f one.txt && test -f two.txt"]


def test_a_stop_ends_the_turn_and_leaves_no_process(team):
    """The server too: it is a process of its own behind the bridge."""
    team.hire("opencode")
    team.script("opencode", Turn.shell("echo part > part.txt; sleep 300"))
    api = team.busy("part.txt", verify=VERIFY)
    bridge = team.agent()
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
    team.busy("part.txt", verify=VERIFY)
    bridge = team.agent()
    family = bridge.children(recursive=True)
    bridge.kill()
    record = team.ended()
    assert (record["sessionState"], record["provider"]) == ("completed", "codex")
    assert team.branch_file("part.txt") == b"part\n"
    assert not any(_runs(member) for member in family)


def _runs(process: psutil.Process) -> bool:
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
