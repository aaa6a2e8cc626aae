"""The fold over Claude Code's stream, on captured runs: each trap by its name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending, ProcessExit
from hub.providers.claude.agent import PROVIDER
from hub.providers.claude.stream import ClaudeStream
from tests.hub.providers import captured
from tests.hub.providers.captured import ASSIGNMENT, CAPTURES, NOW, Folded

RUNS = sorted(str(path.parent.relative_to(CAPTURES)) for path in CAPTURES.glob("claude*/*/stdout.jsonl"))


def lines_of(run: str) -> list[bytes]:
    return captured.lines_of(*run.split("/"))


def fold(lines: Sequence[bytes], end: ProcessExit | None = None, **more: Any) -> Folded:
    return captured.fold(PROVIDER, ASSIGNMENT, lines, end=end, **more)


def fold_run(run: str) -> Folded:
    return fold(lines_of(run), captured.exit_of(*run.split("/")))


def line(**members: Any) -> bytes:
    return json.dumps(members).encode()


def assistant(*blocks: dict[str, Any], **more: Any) -> bytes:
    message = {
        "id": "msg_1",
        "model": "claude-opus-5-5",
        "role": "assistant",
        "content": list(blocks),
        "usage": {},
    }
    return line(type="assistant", message=message, **more)


def tool_use(call: str = "toolu_1", name: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def ended(call: str = "toolu_1", *, is_error: bool = False, **told: Any) -> bytes:
    """The result of a tool; `told` is what the program says of it beside the model's words."""
    block = {"type": "tool_result", "tool_use_id": call, "content": "so", "is_error": is_error}
    return line(type="user", message={"role": "user", "content": [block]}, tool_use_result=told)


def background(*kinds: str) -> bytes:
    """What runs in the background now."""
    tasks = [{"task_id": f"b-{number}", "task_type": kind} for number, kind in enumerate(kinds)]
    return line(type="system", subtype="background_tasks_changed", tasks=tasks)


def asked(tool: str = "Bash", **given: Any) -> tuple[ClaudeStream, Event]:
    """A run that waits for the answer to request `q`."""
    stream = ClaudeStream(ASSIGNMENT)
    request = {"subtype": "can_use_tool", "tool_name": tool, "input": given, "tool_use_id": "t"}
    [event] = stream.feed(line(type="control_request", request_id="q", request=request), NOW).events
    return stream, event


RESULT = {
    "type": "result",
    "subtype": "success",
    "is_error": False,
    "terminal_reason": "completed",
    "result": "Done.",
}

EXPECTED: dict[str, tuple[Ending, FailureClass | None]] = {
    "claude/auth": (Ending.FAILED, FailureClass.AUTH),
    "claude/limit_now": (Ending.FAILED, FailureClass.USAGE_LIMIT),
    "claude/ok": (Ending.DONE, None),
    "claude/todo_tools": (Ending.DONE, None),
    "claude-oauth/limit": (Ending.FAILED, FailureClass.USAGE_LIMIT),
    "claude-oauth/limit_minute": (Ending.DONE, None),
    "claude-oauth/overload2": (Ending.DONE, None),
    "claude-oauth/refusal": (Ending.FAILED, FailureClass.REFUSAL),
    "claude-oauth/rich": (Ending.DONE, None),
    "claude-oauth/slow_int": (Ending.INTERRUPTED, None),
    "claude-oauth/warn": (Ending.DONE, None),
    "claude-stdin/approved": (Ending.DONE, None),
    "claude-stdin/auth_token": (Ending.FAILED, FailureClass.AUTH),
    "claude-stdin/bad_resume": (Ending.FAILED, FailureClass.UNKNOWN),
    "claude-stdin/context": (Ending.FAILED, FailureClass.CONTEXT_OVERFLOW),
    "claude-stdin/control_interrupt": (Ending.INTERRUPTED, None),
    "claude-stdin/cut": (Ending.DONE, None),
    "claude-stdin/denied": (Ending.DONE, None),
    "claude-stdin/failing_shell": (Ending.DONE, None),
    "claude-stdin/interrupt_tool": (Ending.INTERRUPTED, None),
    "claude-stdin/no_login": (Ending.FAILED, FailureClass.AUTH),
    "claude-stdin/partial_killed": (Ending.FAILED, FailureClass.CRASH),
    "claude-stdin/question": (Ending.DONE, None),
    "claude-stdin/reply_in_text": (Ending.DONE, None),
    "claude-stdin/reply_in_tool": (Ending.DONE, None),
    "claude-stdin/root": (Ending.FAILED, FailureClass.CRASH),
    "claude-stdin/subagent": (Ending.DONE, None),
    "claude-stdin/tasks": (Ending.DONE, None),
    "claude-stdin/two_messages": (Ending.DONE, None),
}


ONLY_THE_EXIT_TELLS = {"claude-stdin/partial_killed", "claude-stdin/root"}


class TestCaptures:
    def test_every_capture_has_an_expectation(self):
        assert set(EXPECTED) == set(RUNS)

    @pytest.mark.parametrize("run", RUNS)
    def test_a_run_ends_as_it_did(self, run):
        outcome = fold_run(run).outcome
        assert (outcome.ending, outcome.failure.kind if outcome.failure else None) == EXPECTED[run]

    @pytest.mark.parametrize("run", [run for run in RUNS if run not in ONLY_THE_EXIT_TELLS])
    def test_exit_codes_decide_nothing(self, run):
        """0 comes after an interrupt, 1 after a limit and after a wrong flag, 143 after every SIGTERM."""
        outcomes = {
            fold(lines_of(run), ProcessExit(code, signal)).outcome
            for code, signal in [(0, None), (1, None), (None, 9)]
        }
        assert len(outcomes) == 1


class TestTraps:
    def test_subtype_success_is_no_success(self):
        lines = lines_of("claude-oauth/limit")
        assert json.loads(lines[-1])["subtype"] == "success"
        assert fold(lines).outcome.ending is Ending.FAILED

    def test_synthetic_texts_are_not_the_models_words(self):
        folded = fold_run("claude-oauth/refusal")
        assert folded.of(EventType.TEXT) == []
        assert "safeguards" in folded.of(EventType.ERROR)[0].content

    def test_a_synthetic_remark_without_an_error_is_no_failure(self):
        message = {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}
        folded = fold([line(type="assistant", message=message), line(**RESULT)])
        assert folded.outcome.ending is Ending.DONE
        assert folded.of(EventType.SYSTEM)[0].content == "No response requested."

    @pytest.mark.parametrize("before", ["server_error", "authentication_failed", "overloaded"])
    def test_an_error_before_hides_not_the_one_that_a_message_names(self, before):
        """A subagent's overload, from which it recovered, was taken for the cause of a limit in words nobody knows."""
        message = {"model": "<synthetic>", "content": [{"type": "text", "text": "Words of next year"}]}
        failed = {"subtype": "error_during_execution", "is_error": True, "api_error_status": 429}
        lines = [
            line(type="assistant", message=message, error=before, parent_tool_use_id="toolu_1"),
            line(type="assistant", message=message, error="rate_limit"),
            line(**{**RESULT, **failed, "result": "Words of next year"}),
        ]
        assert fold(lines).outcome.failure.kind is FailureClass.USAGE_LIMIT
        other = {**message, "content": [{"type": "text", "text": "Other words"}]}
        unknown = line(type="assistant", message=other, error="a_name_of_next_year")
        told = fold([lines[0], unknown]).of(EventType.ERROR)
        assert [event.meta["failure"] for event in told][1:] == ["unknown"]

    def test_a_bad_api_key_ends_the_run_at_the_second_401(self):
        steps = fold(lines_of("claude/auth")).steps
        seen = [
            event.meta["attempt"] for step in steps for event in step.events if event.type is EventType.RETRY
        ]
        [place] = [number for number, step in enumerate(steps) if step.outcome is not None]
        assert steps[place].events[0].meta["attempt"] == 2
        assert seen == list(range(1, len(seen) + 1))

    def test_one_401_is_forgiven_because_tokens_are_refreshed(self):
        retry = {
            "type": "system",
            "subtype": "api_retry",
            "attempt": 1,
            "error_status": 401,
            "retry_delay_ms": 5,
        }
        folded = fold([line(**retry), assistant({"type": "text", "text": "hi"}), line(**RESULT)])
        assert folded.outcome.ending is Ending.DONE

    @pytest.mark.parametrize(
        ("about", "why"),
        [
            ({"error_status": None, "error": "unknown"}, "no answer"),
            ({"error_status": 529, "error": "overloaded"}, "529 overloaded"),
            ({"error_status": 500, "error": ""}, "500"),
        ],
    )
    def test_why_an_attempt_failed_is_told_in_words(self, about, why):
        """Without a network it was "no answer unknown"."""
        retry = {"type": "system", "subtype": "api_retry", "attempt": 1, "retry_delay_ms": 500, **about}
        [event] = fold([line(**retry)]).of(EventType.RETRY)
        assert event.content == f"Attempt 1 failed ({why}), next in 0.5 s"

    def test_a_subscriptions_limit_has_window_and_reset(self):
        failure = fold_run("claude-oauth/limit").outcome.failure
        assert (failure.window, failure.resets_at) == ("five_hour", 1795236877)

    def test_a_rejection_is_believed_when_the_process_dies_before_its_result(self):
        lines = [
            raw
            for raw in lines_of("claude-oauth/limit")
            if b'"type": "result"' not in raw and b"synthetic" not in raw
        ]
        failure = fold(lines, ProcessExit(None, 9)).outcome.failure
        assert failure.kind is FailureClass.USAGE_LIMIT
        assert failure.resets_at == 1795236877

    def test_a_rejection_that_overage_pays_for_is_none(self):
        info = {"status": "rejected", "resetsAt": 5, "rateLimitType": "five_hour", "isUsingOverage": True}
        folded = fold([line(type="rate_limit_event", rate_limit_info=info)], ProcessExit(1))
        assert folded.outcome.failure.kind is FailureClass.CRASH

    def test_an_api_keys_limit_is_known_by_status_and_text_and_has_no_reset(self):
        failure = fold_run("claude/limit_now").outcome.failure
        assert failure.resets_at is None

    def test_quota_windows_are_per_mille(self):
        found = [
            (e.meta["window"], e.meta["used"]) for e in fold_run("claude-oauth/warn").of(EventType.QUOTA)
        ]
        assert found == [("five_hour", 930), ("seven_day", 130)]
        unsaid = line(type="rate_limit_event", rate_limit_info={"status": "allowed", "rateLimitType": "day"})
        assert fold([unsaid]).of(EventType.QUOTA) == []

    def test_usage_comes_from_the_result_and_not_from_the_start_values_of_messages(self):
        *before, usage = fold_run("claude-oauth/rich").of(EventType.USAGE)
        assert all(event.meta["lowerBound"] for event in before)
        assert len(before) > 1, "it is told while the turn goes on"
        names = ("tokensIn", "tokensOut", "cachedIn")
        assert [sum(event.meta[name] for event in (*before, usage)) for name in names] == [402, 99, 66]
        assert usage.meta["costUsdMicros"] == 1685

    def test_two_turns_of_one_process_are_counted_once_each(self):
        """`modelUsage` and `total_cost_usd` add up over the process and over resumed sessions."""
        usage = fold(lines_of("claude-stdin/reply_in_text")).of(EventType.USAGE)
        assert [event.meta["tokensOut"] for event in usage] == [1, 32, 1, 32]
        assert [event.meta.get("costUsdMicros") for event in usage] == [None, 1123, None, 1123]

    def test_an_interrupted_turn_costs_what_it_cost_though_its_usage_is_zero(self):
        usage = fold(lines_of("claude-stdin/control_interrupt")).of(EventType.USAGE)
        assert sum(event.meta["tokensOut"] for event in usage) == 45

    def test_a_killed_run_tells_a_lower_bound_of_its_usage(self):
        lines = [raw for raw in lines_of("claude-oauth/rich") if b'"type": "result"' not in raw]
        usage = fold(lines, ProcessExit(None, 15)).of(EventType.USAGE)
        assert all(event.meta["lowerBound"] is True for event in usage)
        assert sum(event.meta["tokensIn"] for event in usage) == 402

    def test_an_older_programs_result_is_counted_by_its_usage(self):
        usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 2}
        [event] = fold([line(**RESULT, usage=usage)]).of(EventType.USAGE)
        assert (event.meta["tokensIn"], event.meta["tokensOut"], event.meta["cachedIn"]) == (7, 7, 2)

    def test_init_comes_with_every_turn_and_is_told_once(self):
        folded = fold(lines_of("claude-stdin/two_messages"))
        assert len([event for event in folded.events if "nativeSession" in event.meta]) == 1

    def test_init_tells_session_model_tools_skills_and_servers(self):
        init = {
            "type": "system",
            "subtype": "init",
            "session_id": "u-1",
            "model": "m",
            "tools": ["Bash"],
            "skills": ["x"],
        }
        folded = fold([line(**init, mcp_servers=[{"name": "hub", "status": "connected"}])])
        meta = folded.events[0].meta
        assert (meta["nativeSession"], meta["model"], meta["tools"]) == ("u-1", "m", ["Bash"])
        assert (meta["skills"], meta["mcps"]) == (["x"], ["hub"])
        assert folded.stream.native_session == "u-1"
        assert folded.stream.alive

    def test_the_outcome_is_told_once(self):
        steps = fold([line(**RESULT), line(**RESULT)]).steps
        assert len([step for step in steps if step.outcome is not None]) == 1

    def test_the_process_outlives_its_result_so_its_input_is_closed(self):
        assert fold([line(**RESULT)]).steps[-1].close_stdin

    def test_a_cut_line_ends_its_tool_call(self):
        """An edit of a large file carries the file twice; the framer keeps the head of such a line."""
        whole = line(
            type="user",
            message={
                "role": "user",
                "content": [{"tool_use_id": "toolu_1", "type": "tool_result", "content": "x"}],
            },
            tool_use_result={"originalFile": "y" * 5000},
        )
        folded = fold([assistant(tool_use(command="true")), whole[:2000]])
        assert folded.stream.tools_in_flight == 0
        assert folded.unknown == 1
        assert folded.events[-1].type is EventType.TOOL_RESULT

    def test_partial_text_is_kept_when_the_process_is_killed(self):
        [text] = fold_run("claude-stdin/partial_killed").of(EventType.TEXT)
        assert text.content == "chunk0 chunk1 chunk2 chunk3 chunk4 chunk5"
        assert text.meta["partial"] is True

    def test_partial_text_is_not_told_twice_when_its_whole_comes(self):
        deltas = [
            line(
                type="stream_event",
                event={"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}},
            )
            for word in ("a ", "b")
        ]
        folded = fold([*deltas, assistant({"type": "text", "text": "a b"}), line(**RESULT)])
        assert [event.content for event in folded.of(EventType.TEXT)] == ["a b"]

    def test_an_interrupted_turn_keeps_its_text_and_is_no_failure(self):
        folded = fold_run("claude-oauth/slow_int")
        [text] = folded.of(EventType.TEXT)
        assert text.content.startswith("chunk0 ")
        assert text.meta["partial"] is True
        assert folded.of(EventType.ERROR) == []

    def test_an_unknown_type_is_kept_and_counted(self):
        folded = fold([line(type="martian", x=1), line(type="system", subtype="martian", content="hi")])
        assert folded.unknown == 2
        assert [event.meta["unknown"] for event in folded.events] == [True, True]

    def test_an_echo_of_our_own_words_is_no_event(self):
        folded = fold([raw for raw in lines_of("claude-stdin/two_messages") if b"isReplay" in raw])
        assert folded.events == []

    def test_a_failure_no_text_told_of_is_told_by_the_result(self):
        [error] = fold_run("claude-stdin/bad_resume").of(EventType.ERROR)
        assert "No conversation found" in error.content


class TestTools:
    def test_calls_are_paired_with_results(self):
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "ok"}
        stream = ClaudeStream(ASSIGNMENT)
        stream.feed(
            assistant(tool_use("toolu_1", command="ls"), tool_use("toolu_2", "Read", file_path="/a")), NOW
        )
        assert stream.tools_in_flight == 2
        [event] = stream.feed(line(type="user", message={"role": "user", "content": [result]}), NOW).events
        assert stream.tools_in_flight == 1
        assert event.meta == {
            "tool": "Bash",
            "toolId": "toolu_1",
            "command": "ls",
            "isError": False,
            "exitCode": 0,
        }

    @pytest.mark.parametrize(
        ("field", "tool"), [("file_path", "Edit"), ("notebook_path", "NotebookEdit"), ("path", "Grep")]
    )
    def test_the_path_a_tool_touches(self, field, tool):
        [event] = fold([assistant(tool_use(name=tool, **{field: "/a/b"}))]).events
        assert event.meta["path"] == "/a/b"

    def test_a_failing_command_has_its_exit_code(self):
        [result] = fold_run("claude-stdin/failing_shell").of(EventType.TOOL_RESULT)
        assert (result.meta["exitCode"], result.meta["isError"]) == (3, True)

    def test_an_interrupted_command_has_none(self):
        [result] = fold_run("claude-stdin/interrupt_tool").of(EventType.TOOL_RESULT)
        assert "exitCode" not in result.meta

    def test_a_long_input_is_an_excerpt(self):
        [event] = fold([assistant(tool_use(name="Write", file_path="/a", content="x" * 100_000))]).events
        assert len(event.meta["input"]["content"]) < 500

    def test_the_task_tools_make_the_plan(self):
        plans = [event.meta for event in fold_run("claude-stdin/tasks").events if "plan" in event.meta]
        assert plans[-1]["plan"] == ["First", "Second"]
        assert plans[-1]["tasksRemaining"] == ["Second"]

    def test_the_older_todo_tool_makes_the_plan_too(self):
        todos = [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]
        events = fold([assistant(tool_use(name="TodoWrite", todos=todos)), ended()]).events
        assert [event.meta.get("plan") for event in events] == [None, ["a", "b"]]
        assert events[-1].meta["tasksRemaining"] == ["b"]

    @pytest.mark.parametrize(
        ("name", "given"),
        [
            ("TodoWrite", {"todos": [{"content": "b", "status": "pending"}]}),
            ("TaskCreate", {"subject": "b"}),
            ("TaskUpdate", {"taskId": "1", "status": "completed"}),
        ],
    )
    def test_a_call_that_fails_changes_no_plan(self, name, given):
        """`TaskCreate` may be "disabled for this session": what the model wanted to note down is noted nowhere."""
        made = [assistant(tool_use(name="TaskCreate", subject="a")), ended(task={"id": "1"})]
        events = fold([*made, assistant(tool_use(name=name, **given)), ended(is_error=True)]).events
        assert [event.meta.get("plan") for event in events] == [None, ["a"], None, None]

    def test_a_task_has_the_number_that_its_result_tells(self):
        """A call before it failed, or the list is an older session's."""
        made = [assistant(tool_use(name="TaskCreate", subject="a")), ended(task={"id": "7"})]
        done = assistant(tool_use(name="TaskUpdate", taskId="7", status="completed"))
        assert fold([*made, done, ended(success=True)]).events[-1].meta["tasksRemaining"] == []
        assert "plan" not in fold([*made, done, ended(success=False)]).events[-1].meta
        other = assistant(tool_use(name="TaskUpdate", taskId="1", status="completed"))
        assert "plan" not in fold([*made, other, ended(success=True)]).events[-1].meta

    def test_a_skill_in_use_is_named(self):
        [event] = fold([assistant(tool_use(name="Skill", skill="verify"))]).events
        assert event.meta["skills"] == ["verify"]

    def test_a_subagents_calls_carry_their_parent(self):
        folded = fold_run("claude-stdin/subagent")
        inner = [event for event in folded.of(EventType.TOOL_USE) if event.meta["tool"] == "Bash"]
        outer = [event for event in folded.of(EventType.TOOL_USE) if event.meta["tool"] == "Task"]
        assert inner[0].meta["parent"] == outer[0].meta["toolId"]


LISTED = [{"name": "greet"}, {"name": "clear", "builtin": True}]


class TestConversation:
    def test_the_prompt_is_the_first_write(self):
        [write] = ClaudeStream(ASSIGNMENT).open().writes
        body = json.loads(write.data)
        assert write.key == "prompt"
        assert body["message"]["content"] == [{"type": "text", "text": "Write hello.txt."}]

    @pytest.mark.parametrize(
        ("text", "listed", "asks", "head"),
        [
            ("/status must answer in JSON", LISTED, False, "Task:\n"),
            (" /clear the cache", LISTED, False, "Task:\n"),
            (" /greet Bob", LISTED, False, ""),
            ("/greet Bob", LISTED, True, "Task:\n"),
            ("/", LISTED, False, "Task:\n"),
            ("/greet Bob", [{"name": "greet"}, {"name": "clear"}], False, "Task:\n"),
            ("/greet Bob", None, False, "Task:\n"),
        ],
        ids=["not listed", "its own", "the user's", "held", "none", "of an old program", "refused"],
    )
    def test_a_message_that_looks_like_a_command_gets_a_head(self, text, listed, asks, head):
        """The program did its own command, asked no model, and hub said that the task was done. One of the user's own is
        what the user wants, unless rules hold the program: such a command's file may run and read unasked."""
        stream = ClaudeStream(attrs.evolve(ASSIGNMENT, prompt=text, asks=asks))
        [write] = stream.open().writes
        request = json.loads(write.data)
        assert ("hooks" in request["request"]) is asks
        told = {"subtype": "error"} if listed is None else {"response": {"commands": listed}}
        answer = {"type": "control_response", "response": {"request_id": request["request_id"], **told}}
        [prompt] = stream.feed(json.dumps(answer).encode(), NOW).writes
        assert prompt.key == "prompt"
        [reply] = stream.reply(text, "r-1")
        said = [json.loads(write.data)["message"]["content"][0]["text"] for write in (prompt, reply)]
        assert said == [head + text, "Task:\n" + text]

    def test_writes_are_the_same_after_a_restart(self):
        """The runner takes a key once, and Claude Code a uuid once: both must be stable."""
        assert ClaudeStream(ASSIGNMENT).open() == ClaudeStream(ASSIGNMENT).open()
        assert ClaudeStream(ASSIGNMENT).reply("a", "r-1") == ClaudeStream(ASSIGNMENT).reply("a", "r-1")
        other = attrs.evolve(ASSIGNMENT, dispatch_id="d-2")
        assert ClaudeStream(ASSIGNMENT).open() != ClaudeStream(other).open()

    def test_a_run_with_an_untaken_message_is_not_over(self):
        """`queued_turn_count` is 0 in this capture although a message waits."""
        folded = fold(lines_of("claude-stdin/reply_in_text"))
        results = [
            n for n, step in enumerate(folded.steps) if any(e.type is EventType.RESULT for e in step.events)
        ]
        assert [folded.steps[n].outcome is not None for n in results] == [False, True]
        assert [folded.steps[n].close_stdin for n in results] == [False, True]

    def test_a_message_that_joined_the_turn_makes_no_further_one(self):
        folded = fold(lines_of("claude-stdin/reply_in_tool"))
        assert len(folded.of(EventType.RESULT)) == 1
        assert folded.outcome.ending is Ending.DONE

    def test_a_reply_on_its_way_when_the_result_comes_keeps_the_run_open(self):
        prompt = json.loads(ClaudeStream(ASSIGNMENT).open().writes[0].data)["uuid"]
        taken = line(type="command_lifecycle", command_uuid=prompt, state="started")
        folded = fold([taken, line(**RESULT)], before=lambda stream: stream.reply("more", "r-1"))
        assert all(step.outcome is None for step in folded.steps)

    def test_an_older_program_that_reports_no_taking_does_not_keep_the_run_open_for_ever(self):
        folded = fold([line(**RESULT)], before=lambda stream: stream.reply("more", "r-1"))
        assert folded.outcome.ending is Ending.DONE

    def test_a_turn_that_ends_while_a_subagent_works_is_not_the_end(self):
        """What the subagent did afterwards was lost: hub stopped the program, and took its last snapshot without it."""
        begun = [background("local_agent"), assistant(tool_use("t-9")), line(**RESULT)]
        folded = fold(begun)
        assert all(step.outcome is None and not step.close_stdin for step in folded.steps)
        assert folded.stream.tools_in_flight == 1
        folded = fold([*begun, ended("t-9"), background(), line(**RESULT)])
        assert [step.outcome is not None for step in folded.steps][-2:] == [False, True]
        assert folded.outcome.ending is Ending.DONE
        assert folded.stream.tools_in_flight == 0

    def test_a_command_in_the_background_keeps_no_run_open(self):
        """A server that was left running never ends."""
        assert fold([background("local_bash"), line(**RESULT)]).outcome.ending is Ending.DONE

    def test_a_limit_is_the_end_even_with_a_subagent_at_work(self):
        folded = fold([background("local_agent"), *lines_of("claude/limit_now")])
        assert folded.outcome.ending is Ending.FAILED

    def test_a_failed_turn_is_the_end_even_with_a_message_waiting(self):
        queued = line(type="command_lifecycle", command_uuid="x", state="queued")
        folded = fold([queued, *lines_of("claude/limit_now")])
        assert folded.outcome.ending is Ending.FAILED

    def test_nothing_is_written_after_the_end(self):
        stream = fold([line(**RESULT)]).stream
        assert stream.reply("more", "r-1") == ()
        assert stream.interrupt() == ()

    def test_each_turns_interrupt_has_its_own_key(self):
        queued = line(type="command_lifecycle", command_uuid="x", state="queued")
        stream = ClaudeStream(ASSIGNMENT)
        first = stream.interrupt()[0].key
        assert stream.interrupt()[0].key == first
        stream.feed(queued, NOW)
        stream.feed(line(**RESULT), NOW)
        assert stream.interrupt()[0].key != first

    def test_an_interrupt_cancels_what_is_queued(self):
        [write] = ClaudeStream(ASSIGNMENT).interrupt()
        assert json.loads(write.data)["request"] == {"subtype": "interrupt", "cancel_queued": True}

    def test_a_permission_request_waits_and_its_answer_returns_the_input(self):
        stream, event = asked(command="rm x")
        assert event.type is EventType.WAITING
        assert (event.meta["approvalId"], event.meta["command"]) == ("q", "rm x")
        [write] = stream.answer("q", True, "")
        assert write.key == "answer-q"
        answer = json.loads(write.data)["response"]["response"]
        assert answer == {"behavior": "allow", "updatedInput": {"command": "rm x"}}
        assert stream.answer("q", True, "") == []

    def test_a_yes_with_words_is_followed_by_them(self):
        """The protocol's yes has no room for a note: it joins the running turn."""
        stream, event = asked("Write", file_path="/w/a")
        assert event.meta["path"] == "/w/a"
        answer, note = stream.answer("q", True, "only once")
        assert (answer.key, note.key) == ("answer-q", "note-q")
        assert json.loads(note.data)["message"]["content"] == [{"type": "text", "text": "only once"}]

    @pytest.mark.parametrize(
        ("tool", "given", "texts"),
        [
            ("TaskCreate", {"subject": "drop it", "description": "d", "activeForm": "dropping it"}, None),
            ("TaskUpdate", {"taskId": "1", "subject": "drop it"}, None),
            ("TodoWrite", {"todos": [{"content": "drop it", "activeForm": "dropping it"}]}, None),
            ("mcp__own__TaskCreate", {"subject": "drop it"}, ["drop it"]),
            ("Agent", {"prompt": "drop it"}, ["drop it"]),
        ],
    )
    def test_what_a_task_is_called_names_nothing_that_a_rule_is_about(self, tool, given, texts):
        """`command = "*drop*"` stopped the agent from writing down what it was to look at."""
        _, event = asked(tool, **given)
        assert event.meta.get("texts") == texts
        assert event.meta["input"] == given

    def test_a_request_that_is_taken_back_says_which_and_takes_no_answer(self):
        """Whoever was asked about it need not answer."""
        stream, _ = asked()
        taken_back = line(type="control_cancel_request", request_id="q")
        [event] = stream.feed(taken_back, NOW).events
        assert (event.meta["approvalId"], event.meta["withdrawn"]) == ("q", True)
        assert not stream.feed(taken_back, NOW).events
        assert stream.answer("q", True, "") == []

    def test_a_denial_tells_why(self):
        stream, _ = asked()
        [write] = stream.answer("q", False, "too risky")
        assert json.loads(write.data)["response"]["response"] == {"behavior": "deny", "message": "too risky"}

    def test_a_request_hub_does_not_serve_is_refused_so_that_nobody_waits(self):
        request = {"subtype": "mcp_message", "server_name": "x"}
        step = ClaudeStream(ASSIGNMENT).feed(
            line(type="control_request", request_id="q", request=request), NOW
        )
        [write] = step.writes
        assert write.key == "answer-q"
        assert json.loads(write.data)["response"]["subtype"] == "error"

    def test_a_reply_answers_the_open_question(self):
        stream = fold([raw for raw in lines_of("claude-stdin/question") if b"control_request" in raw]).stream
        [write] = stream.reply("green", "r-1")
        answer = json.loads(write.data)["response"]["response"]
        assert answer["updatedInput"]["answers"] == {"Which colour?": "green"}
        assert json.loads(stream.reply("again", "r-2")[0].data)["type"] == "user"


@pytest.mark.parametrize(
    ("told", "read"),
    [
        (1_795_247_000_000, 1_795_247_000.0),
        ("2026-11-21T08:00:00Z", 1_795_248_000.0),
        (-1, None),
        (10**16, None),
    ],
)
def test_a_reset_in_another_form_is_read_or_unknown(told, read):
    """An instant in milliseconds lay beyond every calendar: whoever wrote it down failed."""
    info = {"status": "rejected", "rateLimitType": "five_hour", "utilization": 1, "resetsAt": told}
    limited = fold([line(type="rate_limit_event", rate_limit_info=info)], ProcessExit(1))
    assert limited.outcome.failure.resets_at == read
    assert limited.of(EventType.QUOTA)[0].meta.get("resetsAt") == read
