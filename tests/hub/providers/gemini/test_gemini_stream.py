"""The fold over Gemini's ACP, on captured runs: each trap by its name."""

import json

import attrs
import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending, ProcessExit
from hub.providers.gemini.agent import PROVIDER
from tests.hub.providers.acp.lines import ended, texts_of, update, words
from tests.hub.providers.captured import ASSIGNMENT, NOW, exit_of, fold, lines_of, rpc, runs, stderr_of

RUNS = runs("gemini")
LINES = {run: lines_of("gemini", run) for run in RUNS}
SESSION = "5bdc61aa-4141-482c-af31-887617e15a0a"
RESUMED = attrs.evolve(ASSIGNMENT, resume_id=SESSION)
OPENED = [
    rpc(id="init", result={"agentCapabilities": {"loadSession": True}}),
    rpc(id="new", result={"sessionId": SESSION, "modes": {"currentModeId": "yolo"}}),
]
NOTHING = {"code": -32601, "message": "no", "data": {"method": "_hub/nothing"}}


def run(name, **more):
    return fold(
        PROVIDER, more.pop("assignment", ASSIGNMENT), LINES[name], **{"end": exit_of("gemini", name), **more}
    )


def told(*lines, **more):
    """A conversation that has begun, and then these lines."""
    return fold(PROVIDER, more.pop("assignment", ASSIGNMENT), [*OPENED, *lines], **more)


def test_the_handshake_waits_for_each_answer():
    assert list(run("rich").writes) == ["init", "new", "turn-1"]
    assert run("rich").writes["init"]["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    }


def test_a_whole_run_is_told_in_order():
    folded = run("rich")
    quiet = (EventType.USAGE, EventType.SYSTEM, EventType.THINKING, EventType.TEXT)
    assert [event.type for event in folded.events if event.type not in quiet] == [
        *([EventType.TOOL_USE, EventType.TOOL_RESULT] * 3),
        EventType.RESULT,
    ]
    todos, write, shell = folded.of(EventType.TOOL_USE)
    assert todos.meta["tool"] == "write_todos"
    assert (write.meta["tool"], write.meta["path"]) == ("write_file", "/home/dev/repo/hello.txt")
    assert shell.meta["command"] == "cat hello.txt; exit 3"
    assert folded.said(EventType.THINKING) == ["**Plan**\nFirst the file."]
    assert folded.outcome.ending is Ending.DONE
    assert folded.outcome.text == "All done."
    [usage] = folded.of(EventType.USAGE)
    assert (usage.meta["tokensIn"], usage.meta["tokensOut"]) == (404, 132)


def test_the_pieces_of_a_text_are_told_as_one():
    assert run("reply").said(EventType.TEXT)[1] == " ".join(f"chunk{number}" for number in range(20))


def test_a_very_long_text_is_told_in_parts_so_that_it_is_not_taken_for_silence():
    folded = told(*[words("x" * 1000)] * 20)
    assert [len(event.content) for event in folded.of(EventType.TEXT)] == [9000, 9000]


def test_deltas_are_told_on_request_only():
    partial = attrs.evolve(ASSIGNMENT, options={"partial": True})
    deltas = [event.content for event in told(words("a "), words("b"), assignment=partial).of(EventType.TEXT)]
    assert deltas == ["a ", "b"]
    assert not told(words("a "), words("b")).of(EventType.TEXT)


def test_alive_means_that_the_prompts_turn_has_shown_itself():
    seen = []
    run("rich", after=lambda stream, number: seen.append((stream.alive, bool(stream.native_session))))
    assert seen[0] == (False, False)
    assert seen.index((False, True)) < seen.index((True, True))


def test_the_contract_is_the_head_of_the_first_prompt():
    prompt = run("rich", assignment=attrs.evolve(ASSIGNMENT, envelope="CONTRACT")).writes["turn-1"]
    assert texts_of(prompt) == ["CONTRACT\n\n", "Write hello.txt."]


@pytest.mark.parametrize("text", ["/memory show", "  $x", "/"])
def test_a_prompt_that_looks_like_a_command_gets_a_head(text):
    prompt = told(assignment=attrs.evolve(ASSIGNMENT, prompt=text)).writes["turn-1"]
    assert texts_of(prompt) == ["Task:\n", text]


def test_words_before_the_last_tool_are_no_answer():
    call = {"toolCallId": "ls__1", "kind": "execute", "title": "ls"}
    tool = [
        update("tool_call", status="in_progress", **call),
        update("tool_call_update", status="completed", **call),
    ]
    assert told(words("I will look."), *tool, ended()).outcome.failure.kind is FailureClass.REFUSAL
    assert told(*tool, words("Done."), ended()).outcome.ending is Ending.DONE


def test_the_limits_reset_is_told_on_standard_error_before_the_error():
    folded = run("limit", stderr=stderr_of("gemini", "limit"))
    assert (folded.outcome.failure.resets_at, folded.outcome.failure.window) == (NOW + 7200, "day")


def test_the_limits_reset_is_waited_for_until_the_process_has_ended():
    """The error alone has no reset, and standard error may come later."""
    running = run("limit", end=None)
    assert not running.ended
    assert running.steps[-1].close_stdin
    failure = run("limit").outcome.failure
    assert failure.resets_at == NOW + 7200


def test_a_limit_without_any_reset_is_still_a_limit():
    failure = run("limit", end=ProcessExit(0)).outcome.failure
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, None)


def test_a_reset_that_is_past_says_nothing_about_a_new_limit():
    """ "Please retry in 2s." of a retry an hour ago must not date the daily quota of now."""
    stream = PROVIDER.stream(ASSIGNMENT)
    stream.open()
    stream.feed_stderr(b"Please retry in 2s.", NOW)
    for line in OPENED:
        stream.feed(line, NOW)
    error = rpc(
        id="turn-1", error={"code": 429, "message": "You have exhausted your daily quota on this model."}
    )
    assert stream.feed(error, NOW + 3600).outcome is None
    [outcome] = [stream.finish(ProcessExit(0), NOW + 3600).outcome]
    assert outcome.failure.resets_at is None


def test_retries_are_told_on_standard_error_only():
    folded = run("limit_minute", stderr=stderr_of("gemini", "limit_minute"))
    retries = folded.of(EventType.RETRY)
    assert [event.meta["attempt"] for event in retries] == [1, 2]
    assert {event.meta["failure"] for event in retries} == {"usage_limit"}
    assert all(5 <= event.meta["resetsAt"] - NOW <= 20 for event in retries)
    assert folded.outcome.ending is Ending.DONE


def test_an_overload_is_retried_without_a_delay_told():
    retries = run("overload2", stderr=stderr_of("gemini", "overload2")).of(EventType.RETRY)
    assert [(event.meta["attempt"], event.meta["status"]) for event in retries] == [(1, 503), (2, 503)]
    assert {event.meta["failure"] for event in retries} == {"overload"}


def test_an_interrupted_tool_has_failed_though_it_says_completed():
    folded = run("interrupt_tool")
    assert b"Command cancelled by user" in b"".join(LINES["interrupt_tool"])
    [result] = folded.of(EventType.TOOL_RESULT)
    assert result.meta["isError"] is True
    assert folded.stream.tools_in_flight == 0


def test_the_interrupts_key_is_the_turns():
    assert told().stream.interrupt() == told().stream.interrupt()
    [write] = told().stream.interrupt()
    assert json.loads(write.data)["method"] == "session/cancel"
    assert list(fold(PROVIDER, ASSIGNMENT, OPENED[:1]).stream.interrupt()) == []
    assert list(told(words("x"), ended()).stream.interrupt()) == []


def test_what_a_reply_writes_is_echoed_by_the_program():
    [write] = told().stream.reply("Also say hi", "reply-1")
    sent = json.loads(write.data)
    assert (write.key, sent["id"], sent["method"]) == ("reply-1", "reply-1\nAlso say hi", "_hub/nothing")
    assert any(b'"id":"reply-1\\nAlso say hi"' in line for line in LINES["reply"])


def test_an_interrupt_drops_what_waits():
    folded = told(rpc(id="reply-1\nx", error=NOTHING), words("a"), ended("cancelled"))
    assert folded.outcome.ending is Ending.INTERRUPTED
    assert "turn-2" not in folded.writes


def test_a_reply_that_came_too_late_is_told():
    folded = told(words("a"), ended(), rpc(id="reply-1\nx", error=NOTHING))
    assert folded.events[-1].meta == {"notTaken": "reply-1"}
    assert list(folded.stream.reply("x", "reply-2")) == []


def test_the_prompt_waits_until_no_history_comes():
    """History comes before the answer to `session/load` and after it."""
    writes = run("resume", assignment=RESUMED).writes
    assert list(writes) == ["init", "load", "settle-1", "settle-2", "turn-1"]
    lines = [OPENED[0], rpc(id="load", result={}), rpc(id="settle-1", error=NOTHING)]
    assert list(fold(PROVIDER, RESUMED, lines).writes)[-1] == "turn-1"
    lines.insert(2, words("old"))
    assert list(fold(PROVIDER, RESUMED, lines).writes)[-1] == "settle-2"


def test_a_program_that_cannot_load_starts_afresh():
    lines = [rpc(id="init", result={"agentCapabilities": {}})]
    assert list(fold(PROVIDER, RESUMED, lines).writes) == ["init", "new"]


PEOPLE = attrs.evolve(ASSIGNMENT, options={"approval_mode": "default"})


def test_a_note_is_the_next_prompt():
    """The protocol's answer has no room for words; a prompt in the running turn would cancel it (trap 5)."""
    ask = next(number for number, line in enumerate(LINES["denied"]) if b"request_permission" in line)
    stream = fold(PROVIDER, PEOPLE, LINES["denied"][: ask + 1])
    [waiting] = stream.of(EventType.WAITING)
    answer, note = stream.stream.answer(waiting.meta["approvalId"], False, "not that one")
    assert (answer.key, note.key) == (
        f"answer-{waiting.meta['approvalId']}",
        f"note-{waiting.meta['approvalId']}",
    )
    assert json.loads(note.data)["id"].endswith("not that one")


def test_a_denied_tool_has_no_end_and_is_not_in_flight_for_ever():
    folded = run("denied", assignment=PEOPLE, end=None)
    assert folded.stream.tools_in_flight == 0
    assert not folded.of(EventType.TOOL_RESULT)
    assert folded.outcome.ending is Ending.DONE


def test_an_allowed_tool_is_told_once():
    folded = run("allowed", assignment=PEOPLE)
    assert (len(folded.of(EventType.TOOL_USE)), len(folded.of(EventType.TOOL_RESULT))) == (1, 1)


def test_a_permission_without_a_fitting_option_is_cancelled():
    ask = rpc(
        id=1, method="session/request_permission", params={"options": [], "toolCall": {"toolCallId": "a"}}
    )
    assert told(ask).writes["answer-1"]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_change_of_mode_is_not_the_models_word():
    folded = told(words("[MODE_UPDATE] autoEdit"), ended())
    assert not folded.of(EventType.TEXT)
    assert folded.outcome.failure.kind is FailureClass.REFUSAL


def test_a_login_dialogue_is_recognised_amid_terminal_codes():
    [line] = LINES["login_dialogue"]
    assert line.startswith(b"\x1b")
    folded = fold(PROVIDER, ASSIGNMENT, [line, b"Enter the authorization code: {}"])
    assert folded.outcome.failure.kind is FailureClass.AUTH
    assert len(folded.ended) == 1


@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "max_turn_requests", "brand_new", ""])
def test_other_stops_are_failures(stop):
    assert told(words("x"), ended(stop)).outcome.ending is Ending.FAILED


def test_a_plan_is_told_with_what_remains():
    entries = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
    [event] = [e for e in told(update("plan", entries=entries)).events if "plan" in e.meta]
    assert (event.meta["plan"], event.meta["tasksRemaining"]) == (["a", "b"], ["b"])
    assert not [e for e in told(update("plan", entries=[])).events if "plan" in e.meta]
