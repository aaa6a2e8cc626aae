"""The fold over Codex's app-server, on captured runs: each trap by its name."""

import json

import attrs
import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending, ProcessExit
from hub.providers.codex.agent import PROVIDER
from tests.hub.providers.captured import ASSIGNMENT, NOW, exit_of, fold, lines_of, rpc, runs

RUNS = runs("codex")
LINES = {run: lines_of("codex", run) for run in RUNS}
THREAD = "01a1fc8b-1a20-7ba3-850a-28c801d9cc1f"
OPENED = [
    rpc(id="init", result={}),
    rpc(id="thread", result={"thread": {"id": THREAD}, "model": "gpt-5.5"}),
    rpc(method="turn/started", params={"threadId": THREAD, "turn": {"id": "t1"}}),
]


def run(name, **more):
    more = {"end": exit_of("codex", name), **more}
    return fold(PROVIDER, more.pop("assignment", ASSIGNMENT), LINES[name], **more)


def told(*lines, **more):
    """A conversation that has begun, and then these lines."""
    return fold(PROVIDER, more.pop("assignment", ASSIGNMENT), [*OPENED, *lines], **more)


def feed(folded, *lines):
    """Further lines."""
    folded.steps.extend(folded.stream.feed(line, NOW) for line in lines)


def item(stage, thread=THREAD, **fields):
    return rpc(method=f"item/{stage}", params={"threadId": thread, "turnId": "t1", "item": fields})


def completed(status="completed", thread=THREAD, error=None):
    return rpc(
        method="turn/completed", params={"threadId": thread, "turn": {"status": status, "error": error}}
    )


def test_the_handshake_waits_for_each_answer():
    assert list(run("rich").writes) == ["init", "initialized", "thread", "turn-1"]
    assert list(fold(PROVIDER, ASSIGNMENT, []).writes) == ["init"]


def test_a_fresh_thread_gets_freedom_and_contract():
    written = run("rich", assignment=attrs.evolve(ASSIGNMENT, envelope="CONTRACT", model="gpt-5.5")).writes
    assert written["thread"] == {
        "id": "thread",
        "method": "thread/start",
        "params": {
            "cwd": "/home/dev/repo",
            "approvalPolicy": "never",
            "sandbox": "danger-full-access",
            "model": "gpt-5.5",
            "developerInstructions": "CONTRACT",
        },
    }
    assert [part["text"] for part in written["turn-1"]["params"]["input"]] == ["Write hello.txt."]


def test_a_whole_run_is_told_in_order():
    folded = run("rich")
    quiet = (EventType.QUOTA, EventType.USAGE, EventType.SYSTEM)
    assert [event.type for event in folded.events if event.type not in quiet] == [
        EventType.THINKING,
        EventType.TEXT,
        EventType.TOOL_USE,
        EventType.TOOL_RESULT,
        EventType.TEXT,
        EventType.TOOL_USE,
        EventType.TOOL_RESULT,
        EventType.TEXT,
        EventType.RESULT,
    ]
    write, shell = folded.of(EventType.TOOL_USE)
    assert (write.meta["tool"], write.meta["path"]) == ("apply_patch", "/home/dev/repo/hello.txt")
    assert shell.meta["command"] == "cat hello.txt; exit 3"
    assert folded.of(EventType.TOOL_RESULT)[1].meta["exitCode"] == 3
    assert folded.said(EventType.THINKING) == ["First the file."]
    assert folded.said(EventType.TEXT)[-1] == "All done."
    assert folded.outcome.ending is Ending.DONE
    assert folded.outcome.text == "All done."
    assert folded.unknown == 0


def test_the_first_outcome_comes_with_the_turn_and_closes_the_input():
    folded = run("rich", end=None)
    assert [step.close_stdin for step in folded.steps if step.outcome] == [True]


def test_alive_means_that_a_turn_has_started():
    seen = []
    run("rich", after=lambda stream, number: seen.append((stream.alive, bool(stream.native_session))))
    assert seen[0] == (False, False)
    assert seen.index((False, True)) < seen.index((True, True))


def test_usage_is_counted_step_by_step():
    metas = [event.meta for event in run("rich").of(EventType.USAGE)]
    assert [(meta["tokensIn"], meta["tokensOut"], meta["cachedIn"]) for meta in metas] == [(101, 33, 22)] * 3
    assert not any(meta.get("cumulative") for meta in metas)


def test_the_old_total_of_a_resumed_thread_is_not_this_turns_usage():
    usage = {"total": {"totalTokens": 9}, "last": {"inputTokens": 5, "outputTokens": 4}}
    line = rpc(method="thread/tokenUsage/updated", params={"threadId": THREAD, "tokenUsage": usage})
    assert not fold(PROVIDER, ASSIGNMENT, [*OPENED[:2], line, OPENED[2], line]).of(EventType.USAGE)


def test_quota_windows_are_told_when_they_change():
    quota = [(event.meta["window"], event.meta["used"]) for event in run("limit").of(EventType.QUOTA)]
    assert quota == [("five_hour", 930), ("seven_day", 130), ("five_hour", 1000)]
    assert len(run("rich").of(EventType.QUOTA)) == 2


def test_the_limits_reset_is_that_of_the_window_not_of_the_text():
    """The text says "try again at 8:14 AM": no date, no seconds, and the machine's own zone."""
    failure = run("limit").outcome.failure
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert (failure.resets_at, failure.window) == (1_795_248_874.0, "five_hour")
    assert "\u2019" in failure.text


def test_a_window_that_is_not_used_up_says_nothing_about_the_limit():
    limits = {"primary": {"usedPercent": 42, "windowDurationMins": 300, "resetsAt": int(NOW) + 500}}
    error = {"message": "You\u2019ve hit your usage limit.", "codexErrorInfo": "usageLimitExceeded"}
    folded = told(
        rpc(method="account/rateLimits/updated", params={"rateLimits": limits}),
        completed("failed", error=error),
    )
    assert folded.outcome.failure.kind is FailureClass.USAGE_LIMIT
    assert folded.outcome.failure.resets_at is None


def test_of_two_used_up_windows_the_later_reset_counts():
    limits = {
        "primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": int(NOW) + 500},
        "secondary": {"usedPercent": 100, "windowDurationMins": 10_080, "resetsAt": int(NOW) + 90_000},
    }
    error = {"message": "limit", "codexErrorInfo": "usageLimitExceeded"}
    folded = told(
        rpc(method="account/rateLimits/updated", params={"rateLimits": limits}),
        completed("failed", error=error),
    )
    assert (folded.outcome.failure.resets_at, folded.outcome.failure.window) == (NOW + 90_000, "seven_day")


def test_a_used_up_window_of_another_limit_is_not_waited_for():
    """A model with a limit of its own may be out for a week: who runs into the usual one waits for that."""
    mine = {
        "limitId": "codex",
        "primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": int(NOW) + 500},
    }
    other = {"limitId": "codex_other", "primary": {**mine["primary"], "resetsAt": int(NOW) + 90_000}}
    error = {"message": "limit", "codexErrorInfo": "usageLimitExceeded"}
    folded = told(
        *(
            rpc(method="account/rateLimits/updated", params={"rateLimits": limits})
            for limits in (other, mine)
        ),
        completed("failed", error=error),
    )
    assert (folded.outcome.failure.resets_at, folded.outcome.failure.window) == (NOW + 500, "five_hour")


@pytest.mark.parametrize(
    "later",
    [
        {"limitId": "codex", "primary": None, "secondary": None},
        {},
        {"credits": {"hasCredits": False, "unlimited": False, "balance": "0"}},
        {"limitId": "codex_other", "primary": {"usedPercent": 3, "windowDurationMins": 300, "resetsAt": 1}},
    ],
)
def test_an_update_that_names_no_full_window_hides_none(later):
    """Credits are told alone, and other limits in between: the exact reset was lost."""
    full = {
        "limitId": "codex",
        "primary": {"usedPercent": 100, "windowDurationMins": 300, "resetsAt": int(NOW) + 5000},
    }
    folded = told(
        *(
            rpc(method="account/rateLimits/updated", params={"rateLimits": limits})
            for limits in (full, later)
        ),
        completed("failed", error={"message": "limit", "codexErrorInfo": "usageLimitExceeded"}),
    )
    assert (folded.outcome.failure.resets_at, folded.outcome.failure.window) == (NOW + 5000, "five_hour")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("limit", FailureClass.USAGE_LIMIT),
        ("refusal", FailureClass.REFUSAL),
        ("bio_policy", FailureClass.REFUSAL),
        ("auth", FailureClass.AUTH),
        ("no_key", FailureClass.AUTH),
        ("context", FailureClass.CONTEXT_OVERFLOW),
        ("overload", FailureClass.OVERLOAD),
    ],
)
def test_failures_are_told_apart_and_told_once(name, kind):
    folded = run(name)
    assert folded.outcome.ending is Ending.FAILED
    assert folded.outcome.failure.kind is kind
    [error] = folded.of(EventType.ERROR)
    assert error.meta["failure"] == kind.value
    assert exit_of("codex", name).code == 0  # the exit code knows nothing of it


def test_an_error_that_will_be_retried_is_not_fatal():
    folded = run("limit_minute")
    assert folded.outcome.ending is Ending.DONE
    assert [event.meta["failure"] for event in folded.of(EventType.RETRY)] == ["usage_limit"] * 2
    assert not folded.of(EventType.ERROR)


def test_text_streamed_before_a_retry_is_not_told_twice():
    folded = run("cut")
    assert any(b"chunk0" in line for line in LINES["cut"])
    assert folded.said(EventType.TEXT) == ["All done."]


def test_deltas_are_told_on_request_only():
    assert not [event for event in run("steer").of(EventType.TEXT) if event.meta.get("delta")]
    deltas = run("steer", assignment=attrs.evolve(ASSIGNMENT, options={"partial": True})).of(EventType.TEXT)
    assert "".join(event.content for event in deltas if event.meta.get("delta")).startswith("chunk0 chunk1")


def test_an_interrupted_text_is_kept_as_partial():
    folded = run("interrupt_text")
    assert folded.outcome.ending is Ending.INTERRUPTED
    [partial] = folded.of(EventType.TEXT)
    assert partial.meta == {"partial": True}


def test_an_interrupted_command_never_completes():
    in_flight = []
    folded = run("interrupt_tool", after=lambda stream, _: in_flight.append(stream.tools_in_flight))
    assert max(in_flight) == 1
    assert in_flight[-1] == 0
    assert not folded.of(EventType.TOOL_RESULT)
    assert folded.outcome.ending is Ending.INTERRUPTED


def test_a_reply_steers_the_turn_that_runs():
    stream = told().stream
    [write] = stream.reply("Also say hi", "reply-1")
    assert write.key == "reply-1"
    assert json.loads(write.data)["params"] == {
        "threadId": THREAD,
        "expectedTurnId": "t1",
        "input": [{"type": "text", "text": "Also say hi"}],
    }


def test_no_reply_and_no_interrupt_without_a_turn():
    assert list(fold(PROVIDER, ASSIGNMENT, OPENED[:2]).stream.reply("x", "k")) == []
    assert list(fold(PROVIDER, ASSIGNMENT, OPENED[:2]).stream.interrupt()) == []
    assert list(told(completed()).stream.reply("x", "k")) == []
    assert list(told(completed()).stream.interrupt()) == []


def test_a_reply_that_came_too_late_is_told():
    error = {"code": -32600, "message": "no active turn to steer"}
    [event] = [e for e in told(rpc(id="reply-1", error=error)).events if e.meta.get("notTaken")]
    assert "no active turn" in event.content


def test_the_interrupts_key_is_the_turn():
    [first], [again] = told().stream.interrupt(), told().stream.interrupt()
    assert first == again
    assert first.key == "interrupt-t1"


def test_a_resumed_thread_gets_the_contract_in_its_input():
    """It keeps its recorded developer instructions and ignores new ones."""
    assignment = attrs.evolve(ASSIGNMENT, resume_id=THREAD, envelope="CONTRACT")
    written = run("resume", assignment=assignment).writes
    assert written["thread"]["method"] == "thread/resume"
    assert written["thread"]["params"]["threadId"] == THREAD
    assert "developerInstructions" not in written["thread"]["params"]
    assert [part["text"] for part in written["turn-1"]["params"]["input"]] == ["CONTRACT", "Write hello.txt."]


def test_a_thread_that_is_gone_gives_way_to_a_fresh_one():
    assignment = attrs.evolve(ASSIGNMENT, resume_id=THREAD, envelope="CONTRACT")
    folded = run("resume_gone", assignment=assignment)
    written = folded.writes
    assert list(written) == ["init", "initialized", "thread", "thread-fresh", "turn-1"]
    assert written["thread-fresh"]["params"]["developerInstructions"] == "CONTRACT"
    assert [part["text"] for part in written["turn-1"]["params"]["input"]] == ["Write hello.txt."]
    assert folded.outcome.ending is Ending.DONE


@pytest.mark.parametrize("step", ["init", "thread", "turn-1"])
def test_a_refused_handshake_ends_the_run(step):
    lines = [line for line in OPENED[:2] if json.loads(line)["id"] != step][
        : ["init", "thread", "turn-1"].index(step)
    ]
    error = rpc(id=step, error={"code": -32600, "message": "unexpected status 401 Unauthorized"})
    outcome = fold(PROVIDER, ASSIGNMENT, [*lines, error]).outcome
    assert outcome.failure.kind is FailureClass.AUTH


def test_the_end_of_a_subagents_turn_is_not_the_end():
    other = "01a1fc8b-0000-7000-8000-000000000000"
    folded = told(
        item("started", other, type="commandExecution", id="c1", command="ls"),
        rpc(method="turn/started", params={"threadId": other, "turn": {"id": "t9"}}),
        completed(thread=other),
    )
    assert not folded.ended
    assert folded.stream.tools_in_flight == 0
    assert json.loads(folded.stream.reply("x", "k")[0].data)["params"]["expectedTurnId"] == "t1"


def test_a_run_is_over_with_the_last_of_its_subagents():
    """Hub closed the input when the first turn was over, and the program left in the middle of a subagent's work."""
    folded = run("subagent_outlives")
    [ended] = [number for number, step in enumerate(folded.steps[:-1]) if step.outcome]
    told = [event.content for step in folded.steps[: ended + 1] for event in step.events]
    assert told.index("Mine is done.") < told.index("exec_command sleep 1; touch late.txt")
    assert (folded.steps[ended].close_stdin, told[-1]) == (True, "Mine is done.")
    assert folded.outcome.ending is Ending.DONE
    assert "Subagent /root/look started" in told
    assert len(folded.of(EventType.USAGE)) == 4
    assert folded.unknown == 0


OTHER = "01a1fc8b-0000-7000-8000-000000000000"
OUTLIVES = (
    item("completed", type="subAgentActivity", id="s1", kind="started", agentThreadId=OTHER),
    rpc(method="turn/started", params={"threadId": OTHER, "turn": {"id": "t9"}}),
    item("started", OTHER, type="commandExecution", id="c1", command="ls"),
    completed(),
)


def test_the_older_kind_of_subagents_is_waited_for_too():
    spawned = item("completed", type="collabAgentToolCall", id="s1", receiverThreadIds=[OTHER])
    assert told(spawned, *OUTLIVES[1:]).ended == []


def test_subagents_that_outlive_the_turn_are_interrupted():
    folded = told(*OUTLIVES)
    assert (folded.ended, folded.stream.tools_in_flight) == ([], 1)
    [write] = folded.stream.interrupt()
    assert json.loads(write.data)["params"] == {"threadId": OTHER, "turnId": "t9"}
    assert told(*OUTLIVES, completed("interrupted", OTHER)).outcome.ending is Ending.INTERRUPTED


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_how_a_subagent_ends_is_not_how_the_run_does(status):
    assert told(*OUTLIVES, completed(status, OTHER)).outcome.ending is Ending.DONE


THIRD = "01a1fc8b-0000-7000-8000-000000000001"
TWO_OUTLIVE = (
    item("completed", type="collabAgentToolCall", id="s2", receiverThreadIds=[THIRD]),
    rpc(method="turn/started", params={"threadId": THIRD, "turn": {"id": "t10"}}),
    *OUTLIVES,
)
LIMIT = {"message": "You've hit your usage limit.", "codexErrorInfo": "usageLimitExceeded"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("usageLimitExceeded", FailureClass.USAGE_LIMIT),
        ("serverOverloaded", FailureClass.OVERLOAD),
        ("unauthorized", FailureClass.AUTH),
    ],
)
def test_the_wall_that_a_subagent_meets_after_the_turn_is_the_runs(code, kind):
    """Nobody was left to hear of it: the run was done, and the work was not handed on."""
    wall = {"message": "It went wrong.", "codexErrorInfo": code}
    met = [rpc(method="error", params={"threadId": OTHER, "error": wall}), completed("failed", OTHER, wall)]
    folded = told(*OUTLIVES, *met)
    assert (folded.outcome.ending, folded.outcome.failure.kind) == (Ending.FAILED, kind)
    assert folded.said(EventType.ERROR) == ["It went wrong."]
    two = told(*TWO_OUTLIVE, *met, completed(thread=THIRD))
    assert [outcome.failure.kind for outcome in two.ended] == [kind]


def test_a_wall_before_the_end_of_the_turn_is_the_turns_to_judge():
    folded = told(*OUTLIVES[:3], completed("failed", OTHER, LIMIT), completed())
    assert folded.outcome.ending is Ending.DONE


@pytest.mark.parametrize("other", ["completed", "failed"])
@pytest.mark.parametrize("first", [True, False])
def test_one_interrupted_subagent_makes_the_run_interrupted(first, other):
    ends = [completed("interrupted", OTHER), completed(other, THIRD, LIMIT if other == "failed" else None)]
    folded = told(*TWO_OUTLIVE, *(ends if first else reversed(ends)))
    assert [outcome.ending for outcome in folded.ended] == [Ending.INTERRUPTED]


@pytest.mark.parametrize(
    "gone",
    [
        rpc(method="thread/closed", params={"threadId": OTHER}),
        rpc(method="thread/status/changed", params={"threadId": OTHER, "status": {"type": "notLoaded"}}),
    ],
)
def test_a_subagent_whose_thread_is_gone_is_not_waited_for(gone):
    """The end of its turn is not told then: the run waited for ever."""
    folded = told(*OUTLIVES, gone)
    assert (folded.outcome.ending, folded.stream.tools_in_flight) == (Ending.DONE, 0)
    assert not told(*OUTLIVES[:3], gone).ended


def test_a_thread_that_is_idle_may_yet_end_its_turn():
    idle = rpc(method="thread/status/changed", params={"threadId": OTHER, "status": {"type": "idle"}})
    assert not told(*OUTLIVES, idle).ended


def test_what_is_told_after_the_end_makes_no_second_one():
    assert len(told(*OUTLIVES[1:], completed(thread=OTHER)).of(EventType.RESULT)) == 1


def test_a_reply_while_subagents_outlive_the_turn_makes_a_further_one():
    """It was said to be taken, and went to nobody."""
    folded = told(*OUTLIVES)
    [write] = folded.stream.reply("Also say hi", "r-1")
    said = {"threadId": THREAD, "input": [{"type": "text", "text": "Also say hi"}]}
    assert json.loads(write.data) | {"id": "r-1"} == json.loads(
        rpc(id="r-1", method="turn/start", params=said)
    )
    assert list(folded.stream.reply("And bye", "r-2")) == [], "it waits for the turn"
    feed(folded, completed(thread=OTHER), rpc(id="r-1", result={"turn": {"id": "t2"}}))
    assert folded.ended == []
    feed(folded, rpc(method="turn/started", params={"threadId": THREAD, "turn": {"id": "t2"}}))
    [write] = folded.stream.reply("And bye", "r-2")
    assert json.loads(write.data)["params"]["expectedTurnId"] == "t2"
    feed(folded, completed())
    assert folded.outcome.ending is Ending.DONE


def test_a_further_turn_that_is_refused_is_told_and_not_waited_for():
    folded = told(*OUTLIVES)
    folded.stream.reply("Also say hi", "r-1")
    feed(folded, completed(thread=OTHER), rpc(id="r-1", error={"code": -32600, "message": "no"}))
    assert folded.outcome.ending is Ending.DONE
    assert folded.events[-2].meta == {"notTaken": "r-1"}


def test_a_turn_that_fails_waits_for_no_subagent():
    assert told(*OUTLIVES[:3], completed("failed", error={"message": "no"})).outcome.ending is Ending.FAILED


def test_a_thread_that_the_program_has_for_itself_is_not_waited_for():
    assert told(*OUTLIVES[1:]).outcome.ending is Ending.DONE


def test_a_question_for_which_it_does_not_stop_is_one():
    """It was told as any other text, and nobody was called."""
    folded = run("async_question")
    [waiting] = folded.of(EventType.WAITING)
    assert (waiting.content, waiting.meta["needsInput"]) == ("Which colour?\n- red\n- blue\n\nAnd why?", True)
    assert folded.said(EventType.TEXT)[-2:] == ["Look at **this**.", "All done."]


def test_a_permission_nobody_is_asked_for_is_declined_at_once():
    """With `never` none comes; one that does must not leave the agent waiting for ever."""
    folded = run("approval")
    [answer] = [write for key, write in folded.writes.items() if key.startswith("answer-")]
    assert answer["result"] == {"decision": "decline"}
    assert not folded.of(EventType.WAITING)


def test_a_permission_waits_for_a_person_under_another_policy():
    assignment = attrs.evolve(ASSIGNMENT, options={"approval_policy": "untrusted"})
    folded = run("approval", assignment=assignment, end=None)
    [waiting] = folded.of(EventType.WAITING)
    assert waiting.meta["approvalId"]
    assert "needsInput" not in waiting.meta
    assert not [key for key in folded.writes if key.startswith("answer-")]


def test_a_permission_for_a_file_change_names_tool_and_files():
    """The request names an item only: without its files no rule on a path would hold for Codex."""
    changes = [
        {"path": path, "kind": {"type": "update"}, "diff": ""} for path in ("/w/a", "/w/.github/ci.yml")
    ]
    item = {"type": "fileChange", "id": "c", "changes": changes, "status": "inProgress"}
    begun = rpc(method="item/started", params={"item": item, "threadId": "t", "turnId": "u"})
    ask = rpc(id=4, method="item/fileChange/requestApproval", params={"itemId": "c", "reason": None})
    old = {"fileChanges": {"/w/b": {"add": {"content": ""}}}, "callId": "d"}
    assignment = attrs.evolve(ASSIGNMENT, options={"approval_policy": "untrusted"})
    folded = told(begun, ask, rpc(id=5, method="applyPatchApproval", params=old), assignment=assignment)
    first, second = folded.of(EventType.WAITING)
    assert (first.meta["tool"], first.meta["paths"]) == ("apply_patch", ["/w/a", "/w/.github/ci.yml"])
    assert first.meta["path"] == "/w/a"
    assert second.meta["paths"] == ["/w/b"]


@pytest.mark.parametrize(("approved", "decision"), [(True, "accept"), (False, "decline")])
def test_the_answer_to_a_permission(approved, decision):
    assignment = attrs.evolve(ASSIGNMENT, options={"approval_policy": "on-request"})
    ask = rpc(id=4, method="item/commandExecution/requestApproval", params={"command": "rm x", "itemId": "c"})
    stream = told(ask, assignment=assignment).stream
    [write] = stream.answer("4", approved, "")
    assert json.loads(write.data) == {"id": 4, "result": {"decision": decision}}
    assert list(stream.answer("4", approved, "")) == []


@pytest.mark.parametrize(
    "command", ["/bin/bash -lc 'rm x'", ["bash", "-lc", "rm x"], "rm x", ["rm", "x"]], ids=str
)
def test_a_permission_tells_the_command_as_the_model_wrote_it(command):
    """Rules are written for commands, not for the shell that Codex wraps around them."""
    assignment = attrs.evolve(ASSIGNMENT, asks=True)
    ask = rpc(id=4, method="execCommandApproval", params={"command": command})
    [waiting] = told(ask, assignment=assignment).of(EventType.WAITING)
    assert waiting.meta["command"] == "rm x"


def test_a_note_steers_the_turn_before_the_answer():
    """The answer of the protocol has no room for words; behind it the turn was over before them, now and then."""
    assignment = attrs.evolve(ASSIGNMENT, asks=True)
    ask = rpc(id=4, method="execCommandApproval", params={"command": ["rm", "x"]})
    begun = rpc(method="turn/started", params={"threadId": THREAD, "turn": {"id": "t"}})
    note, answer = told(begun, ask, assignment=assignment).stream.answer("4", False, "not that one")
    assert (answer.key, note.key) == ("answer-4", "note-4")
    steer = json.loads(note.data)
    assert steer["method"] == "turn/steer"
    assert steer["params"]["input"] == [{"type": "text", "text": "not that one"}]
    assert len(told(begun, ask, assignment=assignment).stream.answer("4", False, "")) == 1


def test_a_permission_that_was_resolved_elsewhere_waits_no_more():
    assignment = attrs.evolve(ASSIGNMENT, options={"approval_policy": "on-request"})
    ask = rpc(id=4, method="execCommandApproval", params={"command": ["rm", "x"]})
    resolved = rpc(method="serverRequest/resolved", params={"requestId": 4, "threadId": THREAD})
    assert list(told(ask, resolved, assignment=assignment).stream.answer("4", True, "")) == []


def test_a_question_is_answered_by_the_reply():
    question = {"id": "q1", "question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}]}
    ask = rpc(id=5, method="item/tool/requestUserInput", params={"questions": [question], "itemId": "i"})
    folded = told(ask)
    [waiting] = folded.of(EventType.WAITING)
    assert waiting.content == "Which colour? [red / blue]"
    [write] = folded.stream.reply("blue", "reply-1")
    assert write.key == "reply-1"
    assert json.loads(write.data) == {"id": 5, "result": {"answers": {"q1": {"answers": ["blue"]}}}}


def test_a_request_of_an_unknown_method_is_refused():
    assert told(rpc(id=6, method="no/such")).writes["answer-6"]["error"]["code"] == -32601


def test_the_plan_is_told_with_what_remains():
    plan = [{"step": "a", "status": "completed"}, {"step": "b", "status": "inProgress"}]
    [event] = [
        e
        for e in told(rpc(method="turn/plan/updated", params={"plan": plan, "explanation": None})).events
        if "plan" in e.meta
    ]
    assert (event.meta["plan"], event.meta["tasksRemaining"]) == (["a", "b"], ["b"])


def test_a_plan_in_words_is_a_thought_and_an_item_nobody_knows_is_kept():
    folded = told(
        item("completed", type="plan", id="p", text="So."), item("completed", type="brandNew", id="n")
    )
    assert folded.said(EventType.THINKING) == ["So."]
    assert folded.events[-1].meta == {"item": {"type": "brandNew", "id": "n"}}


def test_a_patch_of_many_files_is_one_call_with_a_use_for_each():
    changes = [{"path": "/r/a", "kind": {"type": "add"}}, {"path": "/r/b", "kind": {"type": "update"}}]
    folded = told(item("started", type="fileChange", id="f", changes=changes))
    assert [event.meta["path"] for event in folded.of(EventType.TOOL_USE)] == ["/r/a", "/r/b"]
    assert folded.stream.tools_in_flight == 1


def test_a_process_that_dies_in_its_turn_has_crashed():
    folded = told(end=ProcessExit(None, 9))
    assert folded.outcome.failure.kind is FailureClass.CRASH
    assert "signal 9" in folded.outcome.failure.text


def test_an_error_before_the_death_is_its_cause():
    error = {"message": "Selected model is at capacity.", "codexErrorInfo": "serverOverloaded"}
    line = rpc(method="error", params={"error": error, "willRetry": False, "threadId": THREAD})
    assert told(line, end=ProcessExit(1)).outcome.failure.kind is FailureClass.OVERLOAD
    assert told(line, completed("failed")).outcome.failure.kind is FailureClass.OVERLOAD


@pytest.mark.parametrize("line", [b"panic!", b"{}", b'{"method":"brand/new"}', b"[1]"])
def test_a_line_nobody_can_read_is_kept_and_counted(line):
    folded = told(line)
    assert folded.unknown == 1
    assert folded.events[-1].meta["unknown"] is True


@pytest.mark.parametrize("name", RUNS)
def test_what_ends_ends_once_before_the_process_does(name):
    assert len(run(name).ended) == 2
