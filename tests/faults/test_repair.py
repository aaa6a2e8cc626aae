"""kill -9 of the daemon while refused work is given back: the agent gets it once, the count holds, and nothing is lost."""

import json

import pytest

from tests.faults.harness import until, write
from tests.faults.invariants import check_invariants
from tests.faults.test_daemon_killed import dies_while_it_goes_on, run_with_fault

TASK = {"task": "write the files", "verify": ["test -f a2.txt"]}


@pytest.fixture
def work(made, tmp_path):
    """A project whose only agent says too early that it is done, and finishes when it is told so."""
    oracle = tmp_path / "oracle"
    oracle.touch()
    early = [write(oracle, f"a{n}.txt", f"first {n}") for n in range(2)]
    made.script(
        "demo-first", *early, {"done": "all there"}, write(oracle, "a2.txt", "at last"), {"done": "now"}
    )
    made.configure()
    return made, oracle


def finished(made):
    """How the session ended on a fresh daemon, and what was told of the work that was given back."""
    api = made.start()
    if not made.fsm():
        api.post("/api/run", TASK)
    record = until(made.ended, "the session ends by itself")
    told = [e["msg"] for e in made.events() if e["meta"].get("repair")]
    made.stop()
    audited = [json.loads(line) for line in (made.hub / "audit.jsonl").read_text().splitlines()]
    return record, told, [entry["data"]["attempt"] for entry in audited if entry["event"] == "repair"]


@pytest.mark.parametrize(
    "points",
    [("repair.told=kill9", "repair.given"), ("act.RUNNING.mid=kill9@2",), ("act.RUNNING.done=kill9@2",)],
    ids=["told-given", "mid", "done"],
)
def test_it_is_given_back_once_and_mended(work, points):
    made, oracle = work
    first, *others = points
    run_with_fault(made, first, TASK)
    for point in others:
        dies_while_it_goes_on(made, point)
    record, told, audited = finished(made)
    assert (record["sessionState"], record["verified"], record["handoffsDone"]) == ("completed", True, 0)
    assert record["repairs"] == 1
    assert audited == [1]
    assert told == ["the acceptance commands failed; back to demo-first (try 1 of 2)"]
    assert len(made.starts()) == 2
    check_invariants(made, oracle)


def test_who_does_not_mend_it_gives_it_to_the_next_who_is_asked_as_often(work):
    """Two tries each, then the failure is surfaced with its output; every try is on record."""
    made, _ = work
    for name in ("demo-first", "demo-second"):
        made.script(name, *[{"done": "all there"}] * 9)
    made.configure()
    record, told, audited = finished(made)
    assert (record["sessionState"], record["error"]["code"]) == ("failed", "verify_failed")
    assert record["verified"] is False
    assert audited == [1, 2, 1, 2]
    assert [text.split("; ")[1] for text in told] == [
        f"back to {name} (try {n} of 2)" for name in ("demo-first", "demo-second") for n in (1, 2)
    ]
    assert len(made.starts()) == 6


def test_none_means_that_the_next_one_gets_it_at_once(work):
    made, _ = work
    made.script("demo-first", {"done": "all there"})
    made.script("demo-second", {"write": {"path": "a2.txt", "text": "x"}}, {"done": "now"})
    made.configure(session="verifyTries = 0\n")
    record, told, _ = finished(made)
    assert (record["sessionState"], record["handoffsDone"], told) == ("completed", 1, [])
