"""Claude, Codex and OpenCode side by side in one daemon, each at its wall, and kill -9 of the daemon in between.

`HUB_TEST_KILLS=20` kills it at the moments of twenty draws; a normal run has one.
"""

import os
import random
from functools import partial

import pytest

from tests.faults.harness import until
from tests.faults.invariants import check_many
from tests.model_server import Turn

from .conftest import PATIENCE

pytestmark = pytest.mark.agents

MEMBERS = ("claude", "codex", "opencode")
DRAWS = range(int(os.environ.get("HUB_TEST_KILLS", "1")))
EVENTS = 80
"""The log of a run has more, when each has been handed over: the last kill is behind that, in every run."""


def drawn(draw: int) -> list[int]:
    """The events, as many of them as have happened, at which the daemon is killed: two, the same in every run."""
    return sorted(random.Random(draw).sample(range(1, EVENTS), 2))


@pytest.mark.parametrize(
    "kills", [[], *map(drawn, DRAWS)], ids=lambda kills: "-".join(map(str, kills)) or "behind"
)
def test_three_real_agents_are_handed_over_side_by_side(team, kills):
    """Nothing is lost, nothing is done twice, and no account is used by two sessions at a time."""
    (team.tmp / "oracle").touch()
    team.hire(*(f"{name}:{label}" for name in MEMBERS for label in ("a", "b")), session="concurrent = 3")
    for name in MEMBERS:
        team.script(
            f"{name}:a",
            Turn.write("one.txt", f"by {name}\n"),
            Turn.limit(resets_in=7200, repeat=1),
            Turn.text("-"),
        )
        team.script(f"{name}:b", Turn.write("two.txt", f"by {name} too\n"), Turn.hold())
    api = team.start()
    begun = {
        name: api.post("/api/run", {"task": "Write both.", "provider": name})["sessionId"] for name in MEMBERS
    }

    def rows():
        return api.get("/api/sessions")["sessions"]

    def told(event):
        return api.get("/api/events", {"since": event - 1, "limit": 1})

    for event in kills:
        until(partial(told, event), f"there is event {event}", 2 * PATIENCE)
        team.made.kill()
        api = team.start()
    until(
        lambda: all(len(team.mains(f"{name}:b")) >= 2 for name in MEMBERS),
        "each has been handed over",
        2 * PATIENCE,
    )
    team.made.kill()
    team.models.release()
    api = team.start()
    until(lambda: all(row["endedAt"] for row in rows()), "all sessions end", 2 * PATIENCE)
    found = {row["sessionId"]: row for row in rows()}
    team.made.stop()
    for name, session in begun.items():
        row = found[session]
        assert (row["sessionState"], row["activeProvider"], row["account"]) == ("completed", name, "b")
        assert row["handoffsDone"] == 1
        assert team.made.show(f"hub/{session}:one.txt") == f"by {name}\n".encode()
        assert team.made.show(f"hub/{session}:two.txt") == f"by {name} too\n".encode()
        assert len(team.mains(f"{name}:b")) == 2, "no turn was paid for twice"
    check_many(team.made, list(found.values()))
