"""What is shown of an agent and of its session, under the names of the API."""

from hub.actors.detector.scanner import shown
from hub.api.convert import unstructure
from hub.domain.detection.detected import combine
from hub.domain.detection.intel import Gap, StoredTurn
from tests.hub.domain.detection.test_detected import kept, label, lineup, one


def told(*found):
    return unstructure(shown(combine(*found)[-1], "Codex", adoptable=False))


def test_an_agent_and_its_session():
    intel = {"initial_prompt": "Do it.", "recent_turns": (StoredTurn("user", "Do it."),), "tokens_in": 3}
    found = told(lineup(one(10, home="/h")), [kept("s-1", **intel)], label)
    assert (found["displayName"], found["pid"], found["pids"], found["running"]) == ("Codex", 10, [10], True)
    assert (found["detectedVia"], found["confidence"]) == (["process", "transcript"], "likely")
    assert (found["owner"], found["lastActive"], found["alarm"]) == ("user", 2000, "")
    assert found["session"]["sessionId"] == "s-1"
    assert found["session"]["recentTurns"] == [{"role": "user", "text": "Do it."}]
    assert found["session"]["tokensIn"] == 3


def test_an_agent_alone_and_a_session_alone():
    agent = told(lineup(one(10, run_id="d-1")), [], label)
    assert (agent["session"]["sessionId"], agent["detectedVia"], agent["owner"]) == ("", ["process"], "hub")
    left = told([], [kept("s-1")], label)
    assert (left["running"], left["pid"], left["detectedVia"]) == (False, 0, ["transcript"])


def test_a_store_that_was_not_searched_to_its_end():
    gap = Gap("codex", "/h/sessions", "took too long")
    found = told([], [], label, [gap])
    assert (found["alarm"], found["session"]["sessionId"], found["detectedVia"]) == ("took too long", "", [])
