"""The fold over OpenCode's events, on captured runs: each trap by its name."""

import json
import re

import attrs
import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending, ProcessExit
from hub.providers.opencode.agent import PROVIDER
from tests.hub.providers import captured
from tests.hub.providers.captured import NOW, exit_of, fold, lines_of, runs

ASSIGNMENT = attrs.evolve(captured.ASSIGNMENT, model="anthropic/claude-sonnet-5-5")
RUNS = runs("opencode")
LINES = {run: lines_of("opencode", run) for run in RUNS}
SESSION = "ses_e02ca7732ffee4o0jqOgDN2nKW"
CHILD = "ses_child"
ASKS = attrs.evolve(ASSIGNMENT, options={"permission": "ask"})


def run(name, **more):
    # Waits are told as instants, so a captured run is folded at its own time.
    began = re.search(rb'"created":(\d{13})', b"".join(LINES[name]))
    more = {"end": exit_of("opencode", name), "now": int(began[1]) / 1000 if began else NOW, **more}
    return fold(PROVIDER, more.pop("assignment", ASSIGNMENT), LINES[name], **more)


def line(**members):
    return json.dumps(members).encode()


def event(kind, session=SESSION, **properties):
    return line(event={"type": kind, "properties": {"sessionID": session, **properties}})


OPENED = [
    line(bridge="ready"),
    line(id="new", status=200, body={"id": SESSION}),
    line(id="turn-1", status=204),
]


def told(*lines, **more):
    """A conversation that has begun, and then these lines."""
    return fold(PROVIDER, more.pop("assignment", ASSIGNMENT), [*OPENED, *lines], **more)


def message(number=1, session=SESSION, **info):
    time = {"created": 1, **({"completed": 2} if info.pop("completed", False) else {})}
    whole = {"id": f"msg_{number}", "role": "assistant", "modelID": "m", "time": time, **info}
    return event("message.updated", session, info=whole)


def part(kind, session=SESSION, number=1, **fields):
    whole = {"id": fields.pop("id", f"prt_{kind}"), "messageID": f"msg_{number}", "type": kind, **fields}
    return event("message.part.updated", session, part=whole)


def delta(text, number="prt_text"):
    return event("message.part.delta", messageID="msg_1", partID=number, field="text", delta=text)


def retry(text, wait, session=SESSION, **more):
    status = {"type": "retry", "attempt": 1, "message": text, "next": int((NOW + wait) * 1000), **more}
    return event("session.status", session, status=status)


IDLE = event("session.idle")


def test_the_handshake_waits_for_each_answer():
    folded = run("rich")
    assert list(folded.writes) == ["new", "turn-1"]
    assert folded.writes["new"]["body"] == {"title": "hub s-1"}
    assert folded.writes["turn-1"]["body"]["model"] == {
        "providerID": "anthropic",
        "modelID": "claude-sonnet-5-5",
    }


def test_a_whole_run_is_told_in_order():
    folded = run("rich")
    quiet = (EventType.USAGE, EventType.SYSTEM, EventType.TEXT, EventType.THINKING)
    assert [e.type for e in folded.events if e.type not in quiet] == [
        *([EventType.TOOL_USE, EventType.TOOL_RESULT] * 3),
        EventType.RESULT,
    ]
    _, write, shell = folded.of(EventType.TOOL_USE)
    assert write.meta["path"] == "/home/dev/repo/a/hello.txt"
    assert shell.meta["command"] == "cat a/hello.txt; exit 3"
    assert folded.of(EventType.TOOL_RESULT)[2].meta["exitCode"] == 3
    assert [e.meta["tasksRemaining"] for e in folded.events if "plan" in e.meta] == [["check"]]
    assert not [e for e in told(event("todo.updated", todos=[])).events if "plan" in e.meta]
    assert (folded.outcome.ending, folded.outcome.text) == (Ending.DONE, "All done.")


def test_tokens_are_told_for_each_step_with_their_cost():
    usage = run("rich").of(EventType.USAGE)
    assert [(e.meta["tokensIn"], e.meta["tokensOut"], e.meta["cachedIn"]) for e in usage] == [
        (134, 33, 22)
    ] * 4
    costed = told(message(), part("step-finish", tokens={"input": 1, "output": 1}, cost=0.0012345))
    assert costed.of(EventType.USAGE)[0].meta["costUsdMicros"] == 1234


@pytest.mark.parametrize(
    ("name", "ending", "kind"),
    [
        ("limit", Ending.FAILED, FailureClass.USAGE_LIMIT),
        ("refusal", Ending.FAILED, FailureClass.REFUSAL),
        ("auth", Ending.FAILED, FailureClass.AUTH),
        ("no_login", Ending.FAILED, FailureClass.AUTH),
        ("context", Ending.FAILED, FailureClass.CONTEXT_OVERFLOW),
        ("killed", Ending.FAILED, FailureClass.CRASH),
        ("no_model", Ending.FAILED, FailureClass.UNKNOWN),
        ("interrupt_text", Ending.INTERRUPTED, None),
        ("interrupt_tool", Ending.INTERRUPTED, None),
        ("waits", Ending.DONE, None),
        ("cut", Ending.DONE, None),
        ("reply", Ending.DONE, None),
        ("denied", Ending.DONE, None),
        ("question", Ending.DONE, None),
        ("subagent", Ending.DONE, None),
        ("resume_gone", Ending.DONE, None),
    ],
)
def test_how_each_captured_run_ended(name, ending, kind):
    folded = run(name, assignment=ASKS)
    assert folded.outcome.ending is ending
    assert (folded.outcome.failure.kind if folded.outcome.failure else None) is kind
    assert len(folded.of(EventType.ERROR)) == (1 if kind else 0)


def test_a_far_retry_is_the_limit_and_is_cut_short():
    """At a limit OpenCode is not in error: it waits for hours. The far instant is the vendor's own reset."""
    folded = told(message(), retry("This request would exceed your account's rate limit.", 7200))
    assert folded.writes["cut-short"]["path"] == f"/session/{SESSION}/abort"
    assert not folded.ended
    ended = told(
        message(),
        retry("This request would exceed your account's rate limit.", 7200),
        event("session.error", error={"name": "MessageAbortedError", "data": {}}),
        IDLE,
        message(completed=True, error={"name": "MessageAbortedError", "data": {}}),
        IDLE,
    )
    failure = ended.outcome.failure
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, pytest.approx(NOW + 7200))
    assert len(ended.ended) == 1


@pytest.mark.parametrize(
    ("text", "wait", "kind", "hopeless"),
    [
        ("You exceeded your current quota, please check your plan.", 2, FailureClass.USAGE_LIMIT, True),
        ("Free usage exceeded, subscribe to Go", 2, FailureClass.USAGE_LIMIT, True),
        ("The usage limit has been reached", 2, FailureClass.USAGE_LIMIT, True),
        ("Rate limit exceeded: 50 requests per minute", 2, FailureClass.USAGE_LIMIT, False),
        ("Too Many Requests", 30, FailureClass.USAGE_LIMIT, False),
        ("Provider is overloaded", 30, FailureClass.OVERLOAD, False),
        ("Provider is overloaded", 3600, FailureClass.OVERLOAD, True),
    ],
)
def test_a_wait_that_is_no_use_is_cut_short_and_any_other_is_left_alone(text, wait, kind, hopeless):
    folded = told(message(), retry(text, wait))
    [waiting] = folded.of(EventType.RETRY)
    assert waiting.meta["failure"] == kind.value
    assert ("cut-short" in folded.writes) is hopeless


def test_a_back_off_tells_no_reset():
    """2 s is the program's own pace: as a reset of a used-up quota it would be a lie."""
    folded = told(message(), retry("You exceeded your current quota.", 2), end=ProcessExit(1))
    assert folded.outcome.failure.resets_at is None


def test_a_limit_of_a_subagent_cuts_the_run_short():
    made = event("session.created", CHILD, info={"id": CHILD, "parentID": SESSION, "title": "sub"})
    folded = told(message(), made, retry("usage limit", 7200, session=CHILD))
    assert folded.writes["cut-short"]["path"] == f"/session/{SESSION}/abort"


def test_a_strangers_session_is_none_of_ours():
    """The server tells of every session it has."""
    made = event("session.created", "ses_x", info={"id": "ses_x", "title": "other"})
    folded = told(made, retry("usage limit", 7200, session="ses_x"), event("session.idle", "ses_x"))
    assert "cut-short" not in folded.writes
    assert not folded.ended


def test_idle_before_the_last_message_is_complete_is_no_end():
    """After an abort the first idle comes before the interrupted tool's end: it would be in flight for ever."""
    folded = run("interrupt_tool")
    [result] = folded.of(EventType.TOOL_RESULT)
    assert result.meta["isError"] is True
    assert result.content.startswith("started")


def test_the_text_that_an_interrupt_cut_off_is_kept():
    assert run("interrupt_text").said(EventType.TEXT) == [" ".join(f"chunk{n}" for n in range(8))]


def test_a_second_overflow_without_work_between_ends_the_run():
    """OpenCode compacts and tries again for ever; one compaction is its good right."""
    full = event("session.error", error={"name": "ContextOverflowError", "data": {"message": "too long"}})
    done = part("tool", tool="bash", callID="c", state={"status": "completed", "input": {}, "output": "x"})
    assert "cut-short" not in told(message(), full).writes
    assert "cut-short" in told(message(), full, full).writes
    assert "cut-short" not in told(message(), full, done, full).writes


def test_the_programs_notes_to_itself_are_not_the_agents_words():
    summary = message(2, summary=True, mode="compaction")
    user = message(3, role="user")
    ended = {"start": 1, "end": 2}
    folded = told(
        summary,
        part("text", number=2, text="A summary", time=ended),
        user,
        part("text", number=3, text="Go on", time=ended),
    )
    assert not folded.of(EventType.TEXT)
    assert not folded.stream.alive


def test_a_long_text_is_told_in_parts_so_that_it_is_not_taken_for_silence():
    ended = part("text", text="x" * 20_000, time={"start": 1, "end": 2})
    folded = told(message(), part("text", text="", time={"start": 1}), *[delta("x" * 1000)] * 20, ended)
    assert [len(e.content) for e in folded.of(EventType.TEXT)] == [9000, 9000, 2000]


def test_thoughts_are_no_text_although_their_pieces_look_alike():
    begun = part("reasoning", text="", time={"start": 1})
    folded = told(message(), begun, delta("Hm.", "prt_reasoning"), end=ProcessExit(1))
    assert folded.said(EventType.THINKING) == ["Hm."]
    assert not folded.of(EventType.TEXT)


def test_deltas_are_told_on_request_only():
    partial = attrs.evolve(ASSIGNMENT, options={"partial": True})
    assert told(message(), delta("a "), delta("b"), assignment=partial).said(EventType.TEXT) == ["a ", "b"]
    assert not told(message(), delta("a "), delta("b")).of(EventType.TEXT)


def test_the_contract_goes_beside_the_programs_own_prompt():
    prompt = run("rich", assignment=attrs.evolve(ASSIGNMENT, envelope="CONTRACT")).writes["turn-1"]["body"]
    assert prompt["system"] == "CONTRACT"
    assert prompt["parts"] == [{"type": "text", "text": "Write hello.txt."}]


def test_an_old_session_is_asked_for_and_a_fresh_one_takes_its_place():
    resumed = attrs.evolve(ASSIGNMENT, resume_id=SESSION)
    assert fold(PROVIDER, resumed, OPENED[:1]).writes["load"]["path"] == f"/session/{SESSION}"
    folded = fold(
        PROVIDER, resumed, [OPENED[0], line(id="load", status=404, body={"data": {"message": "gone"}})]
    )
    assert list(folded.writes) == ["load", "new"]
    assert "gone" in folded.said(EventType.SYSTEM)[0]


@pytest.mark.parametrize("name", ["../config", "ses_1/../../global", "x", "ses_" + "a" * 500])
def test_what_is_no_session_id_is_no_part_of_a_path(name):
    assert list(fold(PROVIDER, attrs.evolve(ASSIGNMENT, resume_id=name), OPENED[:1]).writes) == ["new"]


def test_a_refused_prompt_ends_the_run_and_a_refused_reply_does_not():
    bad = {"data": {"message": "Invalid input"}}
    failed = told(line(id="turn-1", status=400, body=bad))
    assert failed.outcome.text == "Invalid input"
    folded = told(line(id="reply-1", status=400, body=bad))
    assert not folded.ended
    assert folded.of(EventType.SYSTEM)[-1].meta == {"notTaken": "reply-1"}


def test_a_permission_is_allowed_where_nobody_is_to_be_asked():
    """A managed setting may ask all the same; a run that nobody watches must not hang on it."""
    asked = event("permission.asked", id="per_1", permission="edit", patterns=["a.txt"])
    folded = told(asked)
    assert folded.writes["answer-per_1"]["body"] == {"reply": "once"}
    assert not folded.of(EventType.WAITING)
    waits = told(asked, assignment=ASKS)
    [waiting] = waits.of(EventType.WAITING)
    assert (waiting.meta["approvalId"], waiting.meta["path"]) == ("per_1", "a.txt")
    assert "answer-per_1" not in waits.writes


def test_a_denial_has_words():
    """A denial without any would end OpenCode's turn."""
    asked = event("permission.asked", id="per_1", permission="edit", patterns=["a.txt"])
    stream = told(asked, assignment=ASKS).stream
    [write] = stream.answer("per_1", False, "")
    assert json.loads(write.data)["body"] == {"reply": "reject", "message": "The user said no."}
    assert not stream.answer("per_1", True, "")


def test_an_answered_request_waits_no_longer():
    asked = event("permission.asked", id="per_1", permission="edit", patterns=["a.txt"])
    settled = event("permission.replied", requestID="per_1", reply="once")
    assert not told(asked, settled, assignment=ASKS).stream.answer("per_1", True, "")


def test_a_reply_answers_an_open_question_first():
    asked = event("question.asked", id="que_1", questions=[{"question": "A?"}, {"question": "B?"}])
    stream = told(asked).stream
    [write] = stream.reply("yes", "reply-1")
    assert json.loads(write.data)["body"] == {"answers": [["yes"], ["yes"]]}
    [write] = stream.reply("more", "reply-2")
    assert json.loads(write.data)["path"].endswith("/prompt_async")


def test_nothing_is_written_after_the_end():
    stream = run("rich").stream
    assert stream.reply("x", "reply-1") == ()
    assert not stream.interrupt()


def test_a_server_that_did_not_start_is_told_in_its_words():
    folded = fold(
        PROVIDER, ASSIGNMENT, [line(bridge="failed", text="opencode cannot be started: No such file")]
    )
    assert folded.outcome.failure.kind is FailureClass.CRASH
    assert "No such file" in folded.outcome.text
