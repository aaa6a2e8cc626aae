"""kill -9 of the daemon anywhere in a pipeline: the run goes on by itself, and no node runs twice.

Two nodes make a file each, a third begins at the merge of both. The outside record (one line a started agent, one
line a file written) says what truly happened.
"""

import contextlib
import json
from collections import Counter

import pytest

from hub.errors import Code, HubError
from tests.faults.harness import git, reply, try_post, write
from tests.faults.invariants import check_invariants
from tests.refusals import refuses
from tests.waiting import PATIENCE, until

WRITES = ("pre_write", "pre_rename", "post_rename")
DEATHS = {
    "between_intent_and_session": ["fsm.RUNNING.pre_rename", "fsm.RUNNING.post_rename", "pipeline.launched"],
    "middle_of_a_node": ["act.RUNNING.mid", "act.RUNNING.mid@2", "act.RUNNING.done"],
    "between_two_nodes": ["pipeline.heard", "pipeline.starting.pre_write"],
    "while_merging": ["pipeline.merged", "pipeline.starting.post_rename", "pipeline.launched"],
    "run_ends": ["pipeline.heard@3"],
    **{
        f"write_of_{step}": [f"pipeline.{step}.{at}" for at in WRITES]
        for step in ("begun", "starting", "running", "heard", "ended")
    },
}
"""Where one daemon after the other dies in one run. A step's write fails at its beginning, the next daemon's at its
middle, the third one's when it is whole.
"""


def node(name, provider, *needs, verify=()):
    return {
        "id": name, "provider": provider, "task": f"make {name}", "dependsOn": list(needs), "fallback": [],
        "verify": list(verify),
    }  # fmt: skip


PIPELINE = {
    "name": "both",
    "nodes": [
        node("join", "demo-first", "left", "right", verify=["test -f one.txt && test -f two.txt"]),
        node("left", "demo-first"),
        node("right", "demo-second"),
    ],
}


@pytest.fixture
def work(made, tmp_path):
    """A project with the pipeline on record; each provider makes one file, and says so outside."""
    oracle = tmp_path / "oracle"
    oracle.touch()
    made.script("demo-first", {"say": "working"}, write(oracle, "one.txt", "first"), {"done": "x"})
    made.script("demo-second", {"say": "working"}, write(oracle, "two.txt", "second"), {"done": "x"})
    made.configure()
    (made.hub).mkdir(mode=0o700)
    made.put("pipelines.json", json.dumps([PIPELINE]).encode())
    (made.hub / "pipelines.json").chmod(0o600)
    return made, oracle


def record(made):
    """The run, as it stands on disk."""
    try:
        return json.loads((made.hub / "pipeline-run.json").read_bytes())
    except FileNotFoundError:
        return {}


def over(made):
    run = record(made)
    return run if run.get("state") in ("completed", "failed", "stopped") else {}


def order_run(made, api):
    return try_post(api, "/api/pipelines/run", {"name": "both"})


def finish(made):
    """A fresh daemon takes the run to its end without being told to; what it then tells."""
    api = made.start()
    if not record(made):
        order_run(made, api)
    until(lambda: over(made), "the run ends by itself")
    until(lambda: any(e.get("meta", {}).get("runEnded") for e in made.events()), "its end is told")
    told = api.get("/api/pipelines/run"), made.events()
    made.stop()
    return told


def check_run(made, run, events):
    """What must hold after any fault: all done, each node once, each of its moves told once."""
    assert run["state"] == "completed"
    assert {n["id"]: n["state"] for n in run["nodes"]} == dict.fromkeys(
        ("left", "right", "join"), "completed"
    )
    assert {n["how"] for n in run["nodes"]} <= {"executed", "replayed"}
    assert len(made.starts()) == 3, "each node's agent was started once"
    join = next(n for n in run["nodes"] if n["id"] == "join")
    assert join["verified"] is True
    assert git(made.root, "show", f"{join['branch']}:two.txt") == "second"
    parents = git(made.root, "log", "-1", "--format=%P", join["base"]).split()
    assert parents == [
        n["snapshot"] for n in sorted(run["nodes"], key=lambda n: n["id"]) if n["id"] != "join"
    ]
    moves = Counter(
        (e["meta"]["node"], e["meta"]["nodeState"]) for e in events if "nodeState" in e.get("meta", {})
    )
    assert set(moves.values()) == {1}
    assert set(moves) == {(n, s) for n in ("left", "right", "join") for s in ("running", "completed")}
    assert sum(bool(e.get("meta", {}).get("runEnded")) for e in events) == 1
    assert git(made.root, "status", "--porcelain") == "?? hub.toml"


@pytest.mark.parametrize("points", DEATHS.values(), ids=DEATHS)
def test_a_run_goes_on_after_a_kill(work, points):
    """Kill the daemon anywhere: nothing runs twice, nothing is lost."""
    made, oracle = work
    for point in points:
        name, _, nth = point.partition("@")
        with contextlib.suppress(
            AssertionError
        ):  # one that goes on with a run may die before it says where it listens
            api = made.start(HUB_FAILPOINTS=f"{name}=kill9" + (f"@{nth}" if nth else ""))
            if not record(made):
                order_run(made, api)
        assert made.wait_dead() == -9, point
    run, events = finish(made)
    check_run(made, run, events)
    check_invariants(made, oracle)


def test_a_kill_while_the_run_is_taken_up_changes_nothing(work):
    """A fault during the recovery of a fault."""
    made, oracle = work
    order_run(made, made.start(HUB_FAILPOINTS="pipeline.heard.pre_rename=kill9@2"))
    assert made.wait_dead() == -9
    for point in ("recover.pipeline", "pipeline.heard"):
        with contextlib.suppress(AssertionError):  # it may die before it says where it listens
            made.start(HUB_FAILPOINTS=f"{point}=kill9")
        assert made.daemon.wait(timeout=PATIENCE) == -9
    run, events = finish(made)
    check_run(made, run, events)
    check_invariants(made, oracle)


def test_a_restart_says_what_became_of_each_node(work):
    """Each node is replayed, executed or halted, and the log says which."""
    made, _ = work
    order_run(made, made.start(HUB_FAILPOINTS="pipeline.launched=kill9@2"))
    assert made.wait_dead() == -9
    run, events = finish(made)
    assert {n["id"]: n["how"] for n in run["nodes"]} == {
        "left": "replayed",
        "right": "executed",
        "join": "executed",
    }
    assert run["resumed"] == 1
    (said,) = [e["msg"] for e in events if "taken up again" in e["msg"]]
    assert said == "pipeline both taken up again: join is still to run, left replayed, right goes on"
    assert events[-1]["msg"] == "pipeline both completed: 2 executed, 1 replayed"


def test_no_other_session_starts_between_two_nodes(work):
    """Specification: one session at a time, for the whole run; also after a restart in between."""
    made, _ = work
    made.script(
        "demo-second", {"ask": "go on?"}, {"write": {"path": "two.txt", "text": "second"}}, {"done": "x"}
    )
    order_run(made, made.start(HUB_FAILPOINTS="pipeline.heard.post_rename=kill9"))
    assert made.wait_dead() == -9
    api = made.start()
    with refuses(Code.SESSION_ALREADY_RUNNING):
        api.post("/api/run", {"task": "mine"})
    until(lambda: api.get("/api/status")["needsInput"], "the second node asks")
    reply(api, "yes")
    until(lambda: over(made), "the run ends")
    assert until(lambda: free(api), "then others may start")
    made.stop()


def free(api):
    try:
        return api.post("/api/run", {"task": "mine", "verify": []})
    except HubError as error:
        if error.code is not Code.SESSION_ALREADY_RUNNING:
            raise
        return None


def test_a_stopped_daemon_stops_the_run(work):
    """SIGTERM is an ordered stop: the node's session is stopped, what waits is halted, nothing starts later."""
    made, _ = work
    made.script("demo-first", {"ask": "go on?"}, {"done": "x"})
    api = made.start()
    order_run(made, api)
    until(lambda: api.get("/api/status")["needsInput"], "the first node asks")
    assert made.stop() == 0
    run = record(made)
    states = {n["id"]: n["state"] for n in run["nodes"]}
    assert (run["state"], states) == ("stopped", {"left": "stopped", "right": "halted", "join": "halted"})
    api = made.start()
    assert api.get("/api/status")["sessionState"] == "stopped"
    assert len(made.starts()) == 1
    made.stop()


def test_a_detached_run_goes_on_with_the_next_daemon(work, gate):
    """`hub daemon --detach`: the agent stays, and so does the run."""
    made, oracle = work
    # A run lasts until the stop, however late it comes.
    held = [{"say": "working"}, {"run": gate.command}]
    made.script("demo-first", *held, write(oracle, "one.txt", "first"), {"done": "x"})
    order_run(made, made.start("--detach"))
    until(made.starts, "the first node's agent has started")
    made.stop()
    assert record(made)["state"] == "running"
    for _ in range(2):  # it works on two nodes
        gate.open()
    run, events = finish(made)
    check_run(made, run, events)
    check_invariants(made, oracle)


@pytest.mark.parametrize("point", ["pipeline.launched", "act.RUNNING.done"])
def test_a_node_whose_record_is_lost_is_not_run_again(work, point):
    """A damaged session record: nobody can know how far the node came, so it fails, and says where its work is."""
    made, _ = work
    order_run(made, made.start(HUB_FAILPOINTS=f"{point}=kill9"))
    assert made.wait_dead() == -9
    until(lambda: made.starts() or point == "pipeline.launched", "the agent has started")
    (made.hub / "fsm.json").write_text("{")
    branch = record(made)["nodes"][1]["branch"]
    if branch not in git(made.root, "branch", "--list", "--format=%(refname:short)").split():
        git(made.root, "branch", branch, "main")  # as if it had just been made
    run, _ = finish(made)
    nodes = {n["id"]: n for n in run["nodes"]}
    assert {name: n["state"] for name, n in nodes.items()} == {
        "left": "failed", "right": "completed", "join": "halted",
    }  # fmt: skip
    assert nodes["left"]["error"]["code"] == "state_corrupt"
    assert nodes["left"]["branch"] in nodes["left"]["error"]["detail"]
    assert len(made.starts()) == 1 + (point != "pipeline.launched")
