"""A turn's end is not the end of the work while a subagent is still at it.

Bug: Claude Code starts subagents in the background. Its main turn may end while one of them works, or waits for a person's
word. Hub took that for the end, and what the subagent did afterwards was lost.
"""

from __future__ import annotations

import attrs
import pytest

from tests.model_server import FOR_EVER, Call, Seen, Turn
from tests.waiting import until

pytestmark = pytest.mark.agents

ASKED = """
[[approvals]]
command = "*late.txt*"
"""


def model(seen: Seen) -> Turn:
    """The main agent starts another one, and has nothing more to say; that one writes a file."""
    agent = {"description": "look", "prompt": "PART-OF-THE-WORK", "subagent_type": "general-purpose"}
    if "tool_result" in str(seen.body):
        turn = Turn.text("That is all.")
    elif "Write the files." in seen.text:
        turn = Turn.tools(Call("native", {"name": "Agent", "arguments": agent}))
    else:
        turn = Turn.tools(Call("shell", {"command": "sleep 2; echo late > late.txt"}))
    return attrs.evolve(turn, repeat=FOR_EVER)


@pytest.mark.parametrize("rules", ["", ASKED], ids=["at work", "waiting"])
def test_what_a_subagent_writes_after_the_turn_is_part_of_the_work(team, rules):
    team.hire("claude")
    config = team.made.root / "hub.toml"
    config.write_text(config.read_text() + rules)
    team.script("claude", model)
    api = team.start(HUB_TRUST="1")
    api.post("/api/run", {"task": "Write the files."})

    def ended() -> object:
        for one in api.get("/api/approvals"):
            results = [
                event for event in api.get("/api/events?since=0") if event["meta"].get("type") == "result"
            ]
            if results:  # the turn is over: only now the subagent may go on
                api.post(f"/api/approvals/{one['id']}", {"approved": True})
        return team.made.ended()

    record = until(ended, "the session ends", 120.0)
    assert record["sessionState"] == "completed"
    assert team.branch_file("late.txt") == b"late\n"
