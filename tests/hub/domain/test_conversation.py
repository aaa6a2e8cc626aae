"""A log as a conversation: each thing once, what belongs together as one, and hub's own words for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.conversation import ConversationFold, ItemKind, plan_of
from hub.domain.event import Tag

AGENT = {"dispatchId": "d-1", "provider": "claude", "account": "work", "sessionId": "s-1"}
AT = "2026-01-01T00:00:{:02}.000Z"


@pytest.fixture
def take():
    """Takes one record after the other, as hub's own or an agent's."""
    fold, number = ConversationFold(), iter(range(1, 100))

    def taken(tag, msg="", *, agent=True, **meta):
        at = next(number)
        told = {"at": AT.format(at), "sessionId": "s-1", **({"type": tag, **AGENT} if agent else {}), **meta}
        return fold.take({"id": at, "ts": "00:00:00.000", "tag": tag, "msg": msg, "meta": told})

    return taken


def test_a_tool_call_and_its_result_are_one(take):
    call = take("tool_use", "run /p/.hub/worktrees/s-1/a", toolId="a", input={"x": 1})
    assert (call.text, call.who, call.result, call.whole) == ("run a", "claude/work", None, False)
    other = take("tool_use", "run b", toolId="a", dispatchId="d-2")  # two agents may number theirs alike
    assert take("tool_result", "<tool_use_error>no</tool_use_error>", toolId="a", exitCode=2) is call
    assert (call.result, call.failed, call.whole) == ("no", True, True)
    assert (call.at, call.ended) == (AT.format(1), AT.format(3))
    assert (call.meta["exitCode"], call.meta["input"]) == (2, {"x": 1})
    assert other.result is None
    for meta, words in (
        ({"command": "make"}, "make"),
        ({"path": "a"}, "a"),
        ({"tool": "read"}, "read"),
        ({}, "a tool"),
    ):
        lost = take("tool_result", "its call is lost", toolId="c", **meta)
        assert (lost.text, lost.result) == (words, "its call is lost")
    take("tool_use", "run true", toolId="b")
    assert take("tool_result", "(Bash completed with no output)", toolId="b").result == ""


def test_a_text_that_comes_in_pieces_is_one(take):
    item = take("text", "Hel", delta=True)
    assert take("text", "lo.", delta=True) is item
    assert (item.text, item.whole) == ("Hello.", False)
    thought = take("text", "hm", type="thinking", delta=True)  # between the pieces
    assert (thought.kind, thought.text) == (ItemKind.THOUGHT, "hm")
    assert take("text", "Hello. ", more=True) is item
    assert (item.text, item.whole) == ("Hello. ", False)
    assert take("text", "You.") is item
    assert (item.text, item.whole) == ("Hello. You.", True)
    assert take("text", "Next.") is not item
    assert take("text", " ") is None
    assert take("text", "a\x1b]0;title\x07b\x1b[2J\u202e").text == "ab"


def test_whose_words_they_are(take):
    assert [
        (item.kind, item.who)
        for item in (
            take("text", "mine", role="user"),
            take("text", "mine", agent=False, role="user"),
            take("system", "hub", agent=False),
            take("system", "model x", account="default"),
            take("error", "its own"),
            take("error", "hub on it", agent=False, provider="claude"),
        )
    ] == [
        (ItemKind.USER, ""),
        (ItemKind.USER, ""),
        (ItemKind.NOTE, ""),
        (ItemKind.REMARK, "claude"),
        (ItemKind.ERROR, "claude/work"),
        (ItemKind.ERROR, ""),
    ]


def test_what_says_the_same_again_names_what_did(take):
    said = take("text", "It  is done.")
    assert take("system", "It is done.", type="result").again is said
    assert take("system", "More.", type="result").again is None
    assert take("system", "More.", type="result").again is None  # of another run
    asked = take("text", "Which?")
    assert take("waiting", "Which?", needsInput=True).again is asked
    broke = take("error", "It broke.")
    assert take("error", "claude: It broke.", agent=False, hint="Look.").again is broke
    assert take("error", "It broke too.", agent=False).again is None
    assert take("error", "another session's", agent=False, sessionId="s-2").again is None


def test_a_handoff_is_given_and_taken_with_its_states_between(take):
    moves = (("RUNNING", "PAUSING"), ("PAUSING", "SNAPSHOTTED"), ("RESUMING", "RUNNING"))
    about = {"reason": "five_hour at 100 %", "provider": "codex", "account": "default", "agent": False}
    items = [take("handoff", f"{a} -> {b}", **{"from": a, "to": b}, **about) for a, b in moves]
    assert [(item.kind, item.text) for item in items] == [
        (ItemKind.GIVEN, "handing the work over: 5-hour quota at 100 %"),
        (ItemKind.MOVED, "PAUSING -> SNAPSHOTTED"),
        (ItemKind.TAKEN, "codex goes on with the work"),
    ]
    plain = take("handoff", agent=False, **{"from": "RUNNING", "to": "PAUSING"})
    assert plain.text == "handing the work over"
    assert take("handoff", agent=False, to="RUNNING").text == "the next agent goes on with the work"
    assert take("handoff", "fidelity 90 of 100", agent=False, hfs=90).kind is ItemKind.SCORE
    assert take("handoff", "another word", agent=False).kind is ItemKind.NOTE


def test_a_check_is_one_thing_from_its_start_to_its_verdict(take):
    check = take("system", "verify: make", agent=False, command="make")
    assert (check.kind, check.whole) == (ItemKind.CHECK, False)
    assert (
        take("error", "verify failed (exit 1): make", agent=False, command="make", exitCode=1, output="x")
        is check
    )
    assert (check.text, check.failed, check.result) == ("verify failed (exit 1): make", True, "x")
    late = take(
        "error", "verify failed (took longer than 1 s): make", agent=False, command="make", durationMs=1000
    )
    assert late is not check
    assert (late.kind, late.failed) == (ItemKind.CHECK, True)
    passed = take("system", "verify passed: make", agent=False, command="make", exitCode=0)
    assert (passed.kind, passed.failed, passed.result) == (ItemKind.CHECK, False, "")
    assert take("error", "make is not on PATH", agent=False, command="make").kind is ItemKind.ERROR


def test_what_waits_and_for_what(take):
    assert take("waiting", "run it?", approvalId="n-1") is None  # hub tells it
    told = [
        take("waiting", "approval needed", agent=False, approvalId="a-1", needsApproval=True),
        take("waiting", "approved", agent=False, approvalId="a-1", approved=True),
        take("waiting", "again in 3 s", type="retry"),
        take("waiting", "paused", agent=False),
        take("waiting", "five_hour at 100 %; waiting 60 s", agent=False, until="2026-01-01T10:00:00.000Z"),
    ]
    assert [(item.kind, item.text) for item in told] == [
        (ItemKind.REQUEST, "approval needed"),
        (ItemKind.SETTLED, "approved"),
        (ItemKind.RETRY, "again in 3 s"),
        (ItemKind.WAIT, "paused"),
        (ItemKind.WAIT, "waiting until 2026-01-01T10:00:00.000Z: 5-hour quota at 100 %"),
    ]


def test_the_other_words_of_hub_and_of_agents(take):
    told = [
        take("system", "session started", agent=False, taskId="t", task="x"),
        take("system", "session completed", agent=False, ended="completed", task="x"),
        take("system", "qwen is left out", agent=False, leftOut="qwen"),
        take("system", "Plan", plan=["a"], amends=7),
        take("system", "Plan", agent=False, plan=["a"]),
        take("quota", "72 %", used=720),
    ]
    kinds = ["start", "end", "left_out", "plan", "plan", "reading"]
    assert [item.kind for item in told] == kinds
    assert take("tool_result", "its status", amends=7) is None
    assert take("system", "sqlite", role="user") is None  # the agent has heard its reply
    assert take("system", "codex runs", agent=False, detected="codex:1") is None


def test_the_steps_of_a_plan():
    assert plan_of({"plan": ["a", "b\x1b[2J"], "tasksRemaining": ["b"]}) == (("a", True), ("b", False))
    assert plan_of({}) == ()


@given(st.sampled_from(list(Tag)), st.text(), st.dictionaries(st.sampled_from(["type", "toolId", "to", "reason", "approvalId"]), st.text()))  # fmt: skip
def test_no_record_breaks_it(tag, msg, meta):
    """Whatever the log holds, older and newer hubs' records too."""
    fold = ConversationFold()
    for told in (meta, {}, {**meta, "delta": True}):
        fold.take({"id": 1, "ts": "", "tag": str(tag), "msg": msg, "meta": told})
