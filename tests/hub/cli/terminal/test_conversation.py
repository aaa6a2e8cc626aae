"""A log as a conversation: each thing once, whole, and in the words of whoever reads along."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.cli.terminal.clock import Clock
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import Heading, PlanItem, Said, ToldItem, ToolItem
from hub.domain.event import Tag

NOON = 1_795_435_200


def record(tag="text", msg="hello", **meta):
    """A record of an agent's; `type` is its tag unless it is given."""
    meta = {"type": tag, "provider": "claude", "account": "work", "sessionId": "s-1", **meta}
    return {"id": 1, "ts": "12:34:56.789", "tag": tag, "msg": msg, "meta": meta}


def own(tag, msg, **meta):
    """A record of hub's own."""
    entry = record(tag, msg, **meta)
    return {**entry, "meta": {k: v for k, v in entry["meta"].items() if k not in ("type", "account")} | meta}


@pytest.fixture
def told():
    """A conversation in UTC."""
    return Conversation(clock=Clock(NOON))


def take(told, *records):
    return [item for entry in records for item in told.take(entry)]


def test_an_agent_is_named_when_it_changes(told):
    """Its name stood on every line."""
    items = take(told, record(msg="a"), record(msg="b"), record(msg="c", provider="codex", account="default"))
    assert items == [Heading("claude/work"), Said("a"), Said("b"), Heading("codex"), Said("c")]


def test_a_tool_is_told_with_its_result(told):
    call = record("tool_use", "Bash npm test", toolId="t1", command="npm test")
    assert take(told, call) == []
    assert told.doing == "Bash npm test"
    done = record("tool_result", "one\ntwo\n3 passed\n---\n", toolId="t1", command="npm test", exitCode=0)
    assert take(told, done) == [Heading("claude/work"), ToolItem("Bash npm test", "3 passed", folded=3)]
    assert told.doing == ""
    silent = record("tool_result", "(Bash completed with no output)", toolId="t2", exitCode=0)
    assert take(told, record("tool_use", "Bash true", toolId="t2"), silent) == [ToolItem("Bash true")]


def test_a_tool_that_failed_says_how(told):
    take(told, record("tool_use", "Bash make", toolId="t1"))
    (_, item) = take(told, record("tool_result", "a\nno rule", toolId="t1", isError=True, exitCode=2))
    assert item == ToolItem("Bash make", "exit 2: no rule", folded=1, failed=True)


def test_a_tool_without_a_result_is_not_lost(told):
    take(told, record("tool_use", "Read a.py", toolId="t1"))
    assert told.rest() == [Heading("claude/work"), ToolItem("Read a.py")]
    assert told.rest() == []


def test_text_comes_in_pieces_and_is_kept_whole(told):
    assert take(told, record(msg="It is ", delta=True), record(msg="done", delta=True)) == []
    assert told.partial == "It is done"
    assert take(told, record(msg="It is done.\n\n1. a\n2. b"))[-1] == Said("It is done.\n\n1. a\n2. b")
    assert told.partial == ""
    assert take(told, record(msg="long ", more=True), record(msg="answer")) == [Said("long answer")]


def test_the_last_words_are_told_once(told):
    """Most agents say them as text, and again as the result of their run."""
    take(told, record(msg="It is done.\nAll pass."))
    assert take(told, record("system", "It is done. All pass.\n", type="result")) == []
    assert take(told, record("system", "Another answer", type="result")) == [Said("Another answer")]


def test_a_plan_fills(told):
    plan = {"type": "system", "plan": ["a", "b"]}
    (_, first) = take(told, record("system", "Plan", tasksRemaining=["a", "b"], **plan))
    assert first == PlanItem((("a", False), ("b", False)), ())
    assert take(told, record("system", "Plan", tasksRemaining=["b"], **plan)) == [
        PlanItem((("a", True), ("b", False)), ("a",), changed=False)
    ]
    assert take(told, record("system", "Plan", tasksRemaining=["b"], **plan)) == []


def test_a_plan_that_is_kept_by_a_tool_fills_as_well(told):
    """Claude Code's: the list comes with the tool's result, and the call is no news beside it."""
    made = record("tool_use", "TaskUpdate", tool="TaskUpdate", toolId="1")
    done = record("tool_result", "Updated task #1 status", toolId="1", plan=["a", "b"], tasksRemaining=["b"])
    assert take(told, made, done) == [
        Heading("claude/work"),
        PlanItem((("a", True), ("b", False)), ("a",)),
    ]
    assert told.rest() == []


def test_quota_and_tokens_are_no_news(told):
    """They stand in the bottom line."""
    assert (
        take(
            told,
            record("quota", "x", tokensIn=1000, tokensOut=200, dispatchId="d"),
            record("quota", "x", tokensIn=1000, tokensOut=34, dispatchId="d"),
            record("quota", "x", tokensIn=60, tokensOut=6, dispatchId="e"),
            record("quota", "72 % used", used=720, window="five_hour"),
            record("quota", "9 % used", used=90, window="seven_day"),
        )
        == []
    )
    assert (told.tokens, told.quota) == (2300, "5-hour 72 %")


MOVES = (("RUNNING", "PAUSING"), ("PAUSING", "SNAPSHOTTED"), ("SNAPSHOTTED", "ENVELOPE_BUILT"))


def moves(reason, taker=("codex", "default")):
    """A handoff's records."""
    meta = {"account": "work", "reason": reason}
    for before, after in MOVES:
        yield own("handoff", f"{before} -> {after}", **{"from": before, "to": after}, **meta)
    for before, after in (("ENVELOPE_BUILT", "DISPATCHED"), ("DISPATCHED", "RESUMING")):
        move = {"from": before, "to": after, "receiver": "/".join(taker)}
        yield own("handoff", f"{before} -> {after}", **move, **meta)
    yield own(
        "handoff", "RESUMING -> RUNNING", **{"from": "RESUMING", "to": "RUNNING"}, provider=taker[0],
        account=taker[1], reason=reason,
    )  # fmt: skip


def test_a_handoff_is_one_sentence(told):
    """Six states of a machine were shown for it."""
    wall = record(
        "error", "You've hit your limit.", failure="usage_limit", window="five_hour", resetsAt=NOON + 11220
    )
    items = take(told, wall, *moves("the usage limit is reached"))
    sentence = "handing over: claude/work -> codex/default (5-hour limit, resets 15:07 UTC)"
    assert items == [ToldItem(sentence, "handoff")]
    assert told.working == "codex"


def test_a_handoff_before_the_wall_says_how_full(told):
    take(told, record("quota", "x", used=970, window="five_hour", resetsAt=NOON + 60))
    (item,) = take(told, *moves("five_hour at 97 %"))
    assert item.text.endswith("(5-hour limit at 97 %, resets 12:01 UTC)")


def test_a_handoff_as_asked_for(told):
    assert take(told, *moves("asked for by the user"))[0].text.endswith("(asked for by the user)")


def test_its_states_are_for_verbose(told):
    told.verbose = True
    texts = [item.text for item in take(told, *moves("asked for by the user"))]
    assert texts[:3] == ["RUNNING -> PAUSING", "PAUSING -> SNAPSHOTTED", "SNAPSHOTTED -> ENVELOPE_BUILT"]


def test_fidelity_is_explained_where_it_is_first_told(told):
    first, second = take(told, own("handoff", "x", hfs=100), own("handoff", "x", hfs=97.5))
    assert first.text.startswith("fidelity 100 of 100: how much")
    assert second.text == "fidelity 97.5 of 100"


def test_an_error_is_told_once(told):
    """The agent says it, hub repeats it, and the end of the session has it a third time."""
    assert take(told, record("error", "No such model.", failure="refusal"))[-1] == ToldItem(
        "No such model.", "bad"
    )
    assert take(told, own("error", "claude: No such model.", failure="refusal")) == []
    assert take(told, own("error", "Nobody can go on.", code="no_fallback", hint="Log in.")) == []
    assert take(told, own("system", "session failed", ended="failed")) == []


def test_an_error_that_is_not_the_end_is_told_with_its_next_step(told):
    take(told, own("error", "It failed.\nwhy", code="x", hint="Mend it."))
    assert take(told, record(msg="on"))[0] == ToldItem("It failed.", "bad", ("why", "next: Mend it."))


def test_a_failed_check_shows_the_end_of_its_output(told):
    output = "\n".join(f"line {n}" for n in range(40))
    (item,) = take(
        told, own("error", "verify failed (exit 1): make", command="make", exitCode=1, output=output)
    )
    assert item == ToldItem("verify failed (exit 1): make", "bad", tuple(f"line {n}" for n in range(28, 40)))


def test_each_check_that_took_too_long_is_told(told):
    """It has no exit code; of three that failed alike, the second and the third were left out."""
    late = own("error", "verify failed (took longer than 1 s): make", command="make", durationMs=1000)
    item = ToldItem(late["msg"], "bad")
    assert [take(told, late) for _ in range(3)] == [[item]] * 3


def test_who_is_left_out_matters_only_where_it_changes_something(told):
    out = own("system", "gemini is left out of the chain: not logged in.", leftOut="gemini", hint="Log in.")
    assert take(told, out) == []
    assert take(told, {**out, "meta": {**out["meta"], "named": True}}) == [ToldItem(out["msg"])]


def test_a_question_and_an_approval_wait(told):
    take(told, record("waiting", "Which colour?", needsInput=True))
    take(
        told,
        own("waiting", "approval needed: run: rm", needsApproval=True, approvalId="a-1", action="run: rm"),
    )
    assert [(ask.text, ask.approval) for ask in told.asks] == [("Which colour?", ""), ("run: rm", "a-1")]
    take(told, own("waiting", "approved: run: rm", approvalId="a-1", approved=True))
    assert [ask.approval for ask in told.asks] == [""]
    take(told, record(msg="thank you"))
    assert told.asks == []


def test_a_wait_says_until_when(told):
    (item,) = take(
        told, own("waiting", "the usage limit is reached; waiting 60 s", until="2026-11-23T13:00:00.000Z")
    )
    assert item.text == "waiting until 13:00 UTC: the usage limit is reached"


@given(
    st.sampled_from([str(tag) for tag in Tag]),
    st.text(),
    st.sampled_from(["", "text", "result", "system", "error"]),
)
def test_no_record_breaks_it(tag, msg, kind):
    """Whatever the log holds, older and newer hubs' records too."""
    told = Conversation(verbose=True)
    entry = record(tag, msg, type=kind, tool="x")
    for item in [*told.take(entry), *told.take({**entry, "meta": {}}), *told.rest()]:
        assert isinstance(item, Heading | Said | ToolItem | PlanItem | ToldItem)


def test_that_an_agent_tries_again_is_told_once_until_it_answers(told):
    """Without a network nothing was told for minutes."""
    tries = [
        record("waiting", f"Attempt {n} failed (no answer), next in 2.0 s", type="retry") for n in (1, 2)
    ]
    first = ToldItem("Attempt 1 failed (no answer), next in 2.0 s", "warn")
    assert take(told, *tries) == [Heading("claude/work"), first]
    assert told.doing == "Attempt 2 failed (no answer), next in 2.0 s"
    assert take(told, record(msg="It works."), tries[0]) == [Said("It works."), first]
