"""kill -9 around the look at a stopped agent's own store: what it tells is told once, and the contract has it."""

import json

import pytest

from tests.faults.harness import project, try_post, until
from tests.faults.replayed import replayed


@pytest.mark.parametrize("point", ["act.PAUSING.mid", "act.PAUSING.done", "fsm.SNAPSHOTTED.post_rename"])
def test_what_is_told_late_is_told_once_however_often_the_daemon_dies(tmp_path, point):
    """Before the look, after it, and when the next state is on record."""
    with project(tmp_path) as made:
        made.script("demo-second", {"say": "going on"}, {"done": "finished"})
        replayed(made, moment=12)
        api = made.start(HUB_FAILPOINTS=f"{point}=kill9")
        try_post(api, "/api/run", {"task": "write"})
        assert made.wait_dead() == -9
        made.start()
        record = until(made.ended, "the session ends by itself")
        amended = [event["meta"]["amends"] for event in made.events() if "amends" in event["meta"]]
        made.stop()
        contract = json.loads((made.hub / "envelope.json").read_text())
    assert (record["sessionState"], record["handoffsDone"]) == ("completed", 1)
    assert (len(amended), len(set(amended))) == (8, 8)
    assert contract["tasksRemaining"] == ["Mention it in NOTES.md"]
