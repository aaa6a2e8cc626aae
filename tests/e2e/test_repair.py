"""Work that was refused goes back to the agent in its own session: the real program resumes, reads the output and mends it."""

import pytest

from tests.faults.harness import until
from tests.model_server import Turn

pytestmark = pytest.mark.agents

PATIENCE = 240.0


def test_claude_mends_what_the_acceptance_command_refused(team):
    """One session of its own from beginning to end, no handoff; the second request has the command's own words."""
    team.hire("claude")
    team.script(
        "claude",
        Turn.write("a.txt", "bad\n"),
        Turn.text("It is done."),
        Turn.write("b.txt", "good\n"),
        Turn.text("Now it is."),
    )
    api = team.start()
    verify = ["test -f b.txt || { echo b.txt is missing: E4711; false; }"]
    api.post("/api/run", {"task": "Write the file.", "verify": verify})
    record = until(team.made.ended, "Claude mends it", PATIENCE)
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 0)
    assert record["repairs"] == 1
    assert team.branch_file("b.txt") == b"good\n"
    natives = {e["meta"]["nativeSession"] for e in team.made.events() if e["meta"].get("nativeSession")}
    assert len(natives) == 1, "its own session went on"
    asked = [str(request.body) for request in team.mains("claude")]
    assert "b.txt is missing: E4711" in asked[-1]
    assert "Write the file." in asked[-1], "it remembers the task"
    assert "E4711" not in asked[0]
