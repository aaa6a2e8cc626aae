"""A session's stream: each thing once, and what belongs together in one place."""

from hub.web.page.stream import items, look_of, newest_plan, turns
from tests.hub.web.page.test_gantt import event

AGENT = {"dispatchId": "d-1", "provider": "claude", "account": "work"}


def told(*events):
    return [(look_of(item), item.text) for item in items(events)]


def test_a_text_that_comes_in_pieces_is_one_and_is_not_said_again():
    said = {"type": "text", **AGENT}
    assert told(
        event(1, "text", "Hel", delta=True, **said),
        event(2, "text", "lo.", delta=True, **said),
        event(3, "text", "Hello.", **said),
        event(4, "text", "A long ", more=True, **said),
        event(5, "text", "text.", **said),
        event(6, "system", "A  long text.", type="result", **AGENT),
        event(7, "text", "And", delta=True, **said),
        event(8, "text", " so", delta=True, **said),
    ) == [("said", "Hello."), ("said", "A long text."), ("said", "And so")]


def test_the_end_of_a_run_is_said_where_it_says_more():
    assert told(event(1, "system", "All done.", type="result", **AGENT)) == [("said", "All done.")]


def test_what_the_page_shows_elsewhere_is_not_in_the_stream():
    assert told(
        event(1, "quota", "72 % used", used=720),
        event(2, "system", "claude is left out of the chain", leftOut="claude"),
        event(3, "system", "Plan: 1 of 2 left", plan=["a", "b"], tasksRemaining=["b"]),
        event(4, "waiting", "run it?", approvalId="a-1", type="waiting", **AGENT),
        event(5, "waiting", "approval needed: run it", approvalId="a-1", needsApproval=True),
        event(6, "system", "verify: make test", command="make test"),
        event(7, "system", "verify passed: make test", command="make test", exitCode=0),
        event(8, "error", "verify failed (took longer than 1 s): make", command="make", durationMs=1000),
        event(9, "system", "verify: make", command="make"),
        event(10, "system", "verify passed: make", command="make", exitCode=0),
        event(11, "system", "verify: make more", command="make more"),
        event(12, "handoff", "RUNNING -> PAUSING", **{"from": "RUNNING", "to": "PAUSING"}),
        event(13, "handoff", "PAUSING -> SNAPSHOTTED", **{"from": "PAUSING", "to": "SNAPSHOTTED"}),
        event(
            14, "handoff", "RESUMING -> RUNNING", **{"from": "RESUMING", "to": "RUNNING"}, provider="codex"
        ),
        event(15, "handoff", "fidelity 90 of 100", hfs=90),
    ) == [
        ("waiting", "approval needed: run it"),
        ("note", "verify passed: make test"),
        ("error", "verify failed (took longer than 1 s): make"),
        ("note", "verify passed: make"),
        ("note", "verify: make more"),
        ("handoff", "handing the work over"),
        ("handoff", "codex goes on with the work"),
    ]


def test_who_speaks_heads_what_is_said():
    shown = items(
        [
            event(1, "system", "session started"),
            event(2, "text", "a", type="text", **AGENT),
            event(3, "text", "b", type="text", **AGENT),
            event(4, "text", "no", role="user", type="text", **AGENT),
            event(5, "text", "c", type="text", **{**AGENT, "account": "default"}),
        ]
    )
    found = turns(shown)
    assert [(turn.who, len(turn.items)) for turn in found] == [
        ("", 1),
        ("claude/work", 2),
        ("", 1),
        ("claude", 1),
    ]


def test_the_newest_plan_is_the_plan():
    events = [
        event(1, "system", plan=["a", "b"], tasksRemaining=["a", "b"]),
        event(2, "system", plan=["a", "b"], tasksRemaining=["b"]),
    ]
    assert newest_plan(events) == (("a", True), ("b", False))
    assert newest_plan([event(1, "system", plan="no list")]) == ()


def test_what_an_agent_puts_in_the_place_of_anything_is_no_error():
    odd = {
        "toolId": [],
        "plan": "x",
        "command": {"a": 1},
        "provider": 3,
        "account": 4,
        "type": [],
        "dispatchId": 1,
    }
    tags = ("tool_use", "tool_result", "text", "system", "quota", "handoff", "waiting", "error")
    assert turns(items(event(number, tag, "x", **odd) for number, tag in enumerate(tags, 1)))
