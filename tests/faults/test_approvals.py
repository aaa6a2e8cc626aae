"""Requests for permission and kill -9: none is lost, none is answered twice, no answer is heard before it is on record."""

from __future__ import annotations

import json
import time

import pytest

from hub.client.quick import Api
from hub.domain.approval import request_id
from hub.errors import Code
from tests.faults.harness import Project, git, project, try_post, until
from tests.refusals import refuses

ASKS = '\n[[approvals]]\ncommand = "deploy*"\n'
TASK = {"task": "ship it"}


@pytest.fixture
def made(made):
    """An agent that asks twice; what it does between is on its branch."""
    made.script(
        "demo-first",
        {"say": "working"},
        {"approve": "deploy one"},
        {"write": {"path": "one.txt", "text": "1\n"}},
        {"approve": "deploy two"},
        {"write": {"path": "two.txt", "text": "2\n"}},
        {"done": "finished"},
    )
    made.configure(ASKS)
    return made


def waiting(api: Api, action: str) -> str:
    """The id of the request that waits for this, once it does."""

    def one():
        return next((a["id"] for a in api.get("/api/approvals") if a["action"] == f"approve: {action}"), "")

    return until(one, f"{action!r} waits")


def answer(api: Api, number: str, *, approved: bool = True, note: str = "") -> None:
    api.post(f"/api/approvals/{number}", {"approved": approved, "note": note})


def entries(made: Project, event: str) -> list[dict[str, object]]:
    """The audit log's records of one kind, but for what the rules allowed by themselves."""
    lines = (made.hub / "audit.jsonl").read_bytes().split(b"\n")[:-1]
    found = [entry["data"] for entry in map(json.loads, lines) if entry["event"] == event]
    return [entry for entry in found if entry.get("by") != "policy"]


def check(made: Project, words: list[str]) -> None:
    """The session ended well; each request was told once, answered once, and the agent heard each answer once."""
    record = until(made.ended, "the session ends")
    events = made.events()
    assert made.stop() == 0
    assert (record["sessionState"], record["needsInput"]) == ("completed", False)
    assert made.show(f"hub/{record['sessionId']}:two.txt") == b"2\n"
    assert len(made.starts()) == 1
    asked = {entry["approvalId"] for entry in entries(made, "approval_requested")}
    told = [event for event in events if event["msg"].startswith(("Approved", "Denied"))]
    heard = [
        event["msg"]
        for event in told
        if request_id(event["meta"]["dispatchId"], event["meta"]["approvalId"]) in asked
    ]
    assert heard == words
    for stage in ("requested", "resolved"):
        told = entries(made, f"approval_{stage}")
        assert len(told) == len({entry["approvalId"] for entry in told}) == 2
    needed = [event["meta"]["approvalId"] for event in events if event["meta"].get("needsApproval")]
    assert len(needed) == len(set(needed)) == 2


def test_a_request_outlives_the_daemon(made):
    """Killed while it waits: the next daemon shows the same request, and the same agent hears the answer."""
    api = made.start()
    api.post("/api/run", TASK)
    number = waiting(api, "deploy one")
    made.kill()
    api = made.start()
    assert waiting(api, "deploy one") == number
    until(lambda: api.get("/api/status")["needsApproval"], "the session waits")
    answer(api, number, note="slowly")
    answer(api, waiting(api, "deploy two"), approved=False)
    check(made, ["Approved: slowly", "Denied"])


@pytest.mark.parametrize("point", ["approvals.pre_write", "approvals.pre_rename", "approvals.post_rename"])
@pytest.mark.parametrize("nth", [1, 2])
def test_killed_while_it_is_put_on_record(made, point, nth):
    """At each step of the write, of the request and of its answer: the next daemon has one of the two states.

    What the audit log does not have the agent has not heard.
    """
    api = made.start(HUB_FAILPOINTS=f"{point}=kill9@{nth}")
    api.post("/api/run", TASK)
    if nth == 2:
        with refuses(Code.DAEMON_NOT_RUNNING):
            answer(api, waiting(api, "deploy one"))
    assert made.wait_dead() == -9
    assert (entries(made, "approval_resolved"), heard_by_agents(made)) == ([], False)
    api = made.start()
    if nth == 1 or point != "approvals.post_rename":
        answer(api, waiting(api, "deploy one"))
    number = waiting(api, "deploy two")
    answer(api, number)
    check(made, ["Approved", "Approved"])


@pytest.mark.parametrize("point", ["approval.audited", "approval.told"])
def test_killed_between_the_record_of_an_answer_and_the_agents_ear(made, point):
    """The answer was given: the next daemon tells what is not told yet, and the agent hears it without being asked about.

    The log is slow: whoever told the agent in the meantime would be found out.
    """
    api = made.start(HUB_FAILPOINTS=f"audit.append=sleep:0.2;{point}=kill9")
    api.post("/api/run", TASK)
    with refuses(Code.DAEMON_NOT_RUNNING):
        answer(api, waiting(api, "deploy one"), approved=False, note="no")
    assert made.wait_dead() == -9
    assert (len(entries(made, "approval_resolved")), heard_by_agents(made)) == (1, False)
    api = made.start()
    answer(api, waiting(api, "deploy two"))
    check(made, ["Denied: no", "Approved"])
    assert heard_by_agents(made)


def heard_by_agents(made: Project) -> bool:
    """Whether an agent has written that it had an answer; it is in the spool of its run, whoever reads it."""
    spools = [
        path for path in (made.hub / "run").rglob("*") if path.is_file() and path.name.startswith("stdout")
    ]
    assert spools
    return any(b'"answered"' in path.read_bytes() for path in spools)


def test_a_timeout_is_an_instant_that_a_restart_does_not_move(made):
    """The daemon is away when the time is over: the next one says no at once."""
    made.configure(
        '\n[[approvals]]\ncommand = "deploy one"\ntimeout = 1\n\n[[approvals]]\ncommand = "deploy*"\n'
    )
    try_post(made.start(HUB_FAILPOINTS="approvals.post_rename=kill9@1"), "/api/run", TASK)
    assert made.wait_dead() == -9  # once it is on record: within its second nobody else can be sure to come
    [kept] = json.loads((made.hub / "approvals.json").read_bytes())["approvals"]
    until(lambda: time.time() * 1000 > kept["expiresMs"], "the time is over")
    api = made.start()
    answer(api, waiting(api, "deploy two"))
    check(made, ["Denied: Nobody answered in 1 s.", "Approved"])
    assert entries(made, "approval_resolved")[0]["approvalId"] == kept["request"]["id"]


def test_a_command_behind_an_escape_sequence_is_judged_and_shown(tmp_path):
    """A terminal shows nothing of it, and a shell runs it."""
    with project(tmp_path) as made:
        made.script(
            "demo-first",
            {"run": "true;\x1b]0; touch hidden"},
            {"run": "true;\x1b]0; deploy now"},
            {"done": "finished"},
        )
        made.configure('\n[[approvals]]\ncommand = "touch*"\ndecision = "deny"\n' + ASKS)
        api = made.start()
        session = api.post("/api/run", TASK)["sessionId"]
        whole = "run: true;[U+001B]]0; deploy now"
        asked = until(lambda: [a["id"] for a in api.get("/api/approvals") if a["action"] == whole], whole)
        answer(api, asked[0], approved=False)
        until(made.ended, "the session ends")
        assert "hidden" not in git(made.root, "ls-tree", "-r", "--name-only", f"hub/{session}")
