"""Three sessions at once, each handed over at its wall, and kill -9 of the daemon in between: nothing lost, nothing twice.

Every account is used by one session at a time: the agents themselves keep a lock of their account on the outside record.
"""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.faults.harness import project, try_post, until, write
from tests.faults.invariants import check_many
from tests.waiting import Gate

LABELS = ("a", "b", "c")
FAULTS = {
    "none": (),
    "in_the_first": ("fsm.SNAPSHOTTED.post_rename=kill9", "fsm.RESUMING.pre_write=kill9"),
    "in_any": ("act.PAUSING.mid=kill9", "fsm.DISPATCHED.post_rename=kill9", "act.RESUMING.done=kill9"),
    "in_the_claims": ("claims.pre_rename=kill9@2", "claims.post_rename=kill9@2"),
}


@pytest.fixture
def work(tmp_path):
    """Three logins of each agent: the first agents hit their limit, the second ones finish."""
    with project(tmp_path) as made:
        oracle = tmp_path / "oracle"
        oracle.touch()
        steps = [write(oracle, f"{{name}}{n}.txt", f"text {n}") for n in range(3)]
        first = json.loads(json.dumps(steps).replace("{name}", "a"))
        second = json.loads(json.dumps(steps).replace("{name}", "b"))
        gate = Gate(tmp_path / "gate")
        made.script(
            "demo-first", {"say": "working"}, *first, {"run": gate.command}, {"limit": {"resetsIn": 3600}}
        )
        made.script("demo-second", {"say": "going on"}, *second, {"done": "finished"})
        accounts = "".join(
            f'\n[[providers.{name}.accounts]]\nlabel = "{label}"\n'
            for name in ("demo-first", "demo-second")
            for label in LABELS
        )
        made.configure(accounts, session="concurrent = 3\n")
        with gate:
            yield made, gate


def _sessions(api) -> list[dict[str, object]]:
    return list(api.get("/api/sessions")["sessions"])


@pytest.mark.parametrize("faults", FAULTS.values(), ids=FAULTS)
def test_three_are_handed_over_whatever_dies(work, faults):
    """Each session ends by itself, on an account that no other had, with every byte on its own branch."""
    made, gate = work
    begun, waiting = 0, 3  # at the gate
    for failpoints in (*faults, ""):
        with contextlib.suppress(
            AssertionError
        ):  # the fault may come before the daemon says where it listens
            api = made.start(**({"HUB_FAILPOINTS": failpoints} if failpoints else {}))
            while begun < 3 and try_post(api, "/api/run", {"task": f"task {begun}"}) is not None:
                begun += 1
        if begun == 3:  # no login is used up before each session has one, and an agent is started with one
            until(lambda: len(made.starts()) >= 3 or made.daemon.poll() is not None, "three agents start")
        while begun == 3 and waiting:
            gate.open()
            waiting -= 1
        if failpoints:
            assert made.wait_dead() == -9
    assert begun == 3
    until(lambda: all(row["endedAt"] for row in _sessions(api)), "all sessions end")
    rows = _sessions(api)
    assert [row["sessionState"] for row in rows] == ["completed"] * 3
    assert [row["handoffsDone"] for row in rows] == [1] * 3
    made.stop()
    for row in rows:
        folder = made.hub / "sessions" / row["sessionId"]
        brief = (folder if (folder / "envelope.md").exists() else made.hub) / "envelope.md"
        signed = brief.read_text().partition("the project's `.hub/")[2].partition("`")[0]
        assert json.loads((made.hub / signed).read_bytes())["sessionId"] == row["sessionId"]
    check_many(made, rows)
