"""An editor in front of real agents: one conversation, and the agent behind it changes."""

import pytest

from tests.agents import base_env
from tests.hub.acp.kit import editor
from tests.model_server import Turn

pytestmark = pytest.mark.agents


def test_a_permission_and_the_wall_in_one_conversation(team):
    """Claude writes a file, asks for a command and hits its limit; Codex goes on; a prompt after the end goes on with both."""
    team.hire("claude", "codex")
    team.looks_at()
    team.script(
        "claude",
        Turn.write("one.txt", "by claude\n"),
        Turn.shell("touch asked.txt"),
        Turn.limit(resets_in=7200),
    )
    team.script("codex", Turn.write("two.txt", "by codex\n"), Turn.text("Both files are there."))
    api = team.start()
    with editor(team.made, **base_env(team.tmp / "home")) as ed:
        session = ed.new()
        assert ed.prompt("Write the files.")["result"]["stopReason"] == "end_turn"
        [asked] = [one["params"]["toolCall"] for one in ed.asked]
        assert "touch asked.txt" in asked["rawInput"]["command"]
        [touch] = [call for call in ed.calls().values() if "touch asked.txt" in str(call.get("rawInput"))]
        assert touch["toolCallId"] == asked["toolCallId"], "what is asked and what is done are one"
        said = ed.words()
        wall = said.index("handing the work over: ")
        assert wall < said.index("codex goes on with the work.") < said.rindex("Both files are there.")
        tree = team.made.hub / "worktrees" / session
        places = [place["path"] for call in ed.calls().values() for place in call.get("locations", ())]
        assert {str(tree / "one.txt"), str(tree / "two.txt")} <= set(places)
        edits = [
            part["path"]
            for call in ed.calls().values()
            if call.get("kind") == "edit" and not call["title"].startswith("Changes")
            for part in call.get("content", ())
            if part["type"] == "diff"
        ]
        assert {str(tree / "one.txt"), str(tree / "two.txt")} <= set(edits)
        assert "Write one.txt" in [call["title"] for call in ed.calls().values()]
        assert said.count("5-hour limit") == 1
        assert {call["status"] for call in ed.calls().values()} == {"completed"}
        team.script("codex", Turn.write("three.txt", "more\n"), Turn.text("And a third."))
        assert ed.prompt("Write a third.")["result"]["stopReason"] == "end_turn"
        assert "And a third." in ed.words()
    for name, words in (("one.txt", b"by claude\n"), ("two.txt", b"by codex\n"), ("three.txt", b"more\n")):
        assert team.made.show(f"hub/{session}-2:{name}") == words
    assert any("The task before this one: Write the files." in str(seen.body) for seen in team.mains("codex"))
    assert api.get("/api/approvals") == []
