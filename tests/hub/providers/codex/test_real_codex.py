"""The real Codex, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import time

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from hub.providers.codex.agent import PROVIDER
from tests.drive import Run, at_line, drive
from tests.hub.providers.stores import kept
from tests.model_server import Turn

pytestmark = pytest.mark.agents

CONTRACT = "# Contract\nYou are HUBMARK; do not redo what is done."
ONE_RETRY = [
    part
    for name in ("request_max_retries", "stream_max_retries")
    for part in ("-c", f"model_providers.hub.{name}=1")
]
"""Instead of five of up to three seconds."""


@pytest.mark.usefixtures("nothing_left_at_home")
def test_a_task_is_done_and_the_process_leaves(models, repo, assign, env):
    models.script(
        "key",
        Turn.write("a/hello.txt", "hi\n", think="First the file."),
        Turn.shell("cat a/hello.txt; exit 3"),
        Turn.text("All done."),
    )
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert run.outcome.text == "All done."
    assert (repo / "a" / "hello.txt").read_text() == "hi\n"
    assert run.exit.code == 0
    assert run.stream.native_session
    assert run.unknown == 0
    assert run.stream.tools_in_flight == 0
    write, shell = run.of(EventType.TOOL_USE)
    assert write.meta["path"] == str(repo / "a" / "hello.txt")
    assert shell.meta["command"] == "cat a/hello.txt; exit 3"
    wrote, shelled = run.of(EventType.TOOL_RESULT)
    assert (wrote.meta["isError"], shelled.meta["isError"]) == (False, True)
    assert shelled.meta["exitCode"] == 3
    assert "hi" in shelled.content
    assert [event.content for event in run.of(EventType.THINKING)] == ["First the file."]
    totals = [event.meta["tokensIn"] for event in run.of(EventType.USAGE)]
    assert totals == [101, 101, 101]
    intel = kept(run, "codex")
    assert (intel.session_id, intel.cwd) == (run.stream.native_session, str(repo))
    assert (intel.files_touched, intel.tokens_in, intel.tokens_out) == (("a/hello.txt",), 303, 99)
    assert (intel.recent_turns[-1].text, intel.message_count) == ("All done.", 4)


def test_contract_and_a_large_prompt_reach_the_model_and_no_argument(models, assign, env):
    """A 10,000-file manifest as an argument never started: the argument size limit."""
    manifest = "\n".join(f"- src/module_{number:05d}/file.py" for number in range(10_000))
    run = drive(PROVIDER, assign(envelope=CONTRACT, prompt=f"Go on.\n{manifest}"), env)
    assert run.outcome.ending is Ending.DONE
    assert sum(map(len, run.launch.argv)) < 2_000
    [request] = models.mains("key")
    assert "HUBMARK" in request.text
    assert "module_09999" in request.text
    texts = [
        (item["role"], part["text"])
        for item in request.body["input"]
        for part in item.get("content") or []
        if "text" in part
    ]
    role = next(role for role, text in texts if "HUBMARK" in text)
    assert role == "developer"
    # Codex's own instructions are still there: the contract stands beside them.
    assert "You are Codex" in request.text


def test_the_limit_has_the_exact_reset_of_the_quota_window(models, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n", used=0.93), Turn.limit(resets_in=5 * 86_400))
    run = drive(PROVIDER, assign(), env)
    failure = run.outcome.failure
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert failure.window == "five_hour"
    assert failure.resets_at == pytest.approx(time.time() + 5 * 86_400, abs=30)
    used = [event.meta["used"] for event in run.of(EventType.QUOTA) if event.meta["window"] == "five_hour"]
    assert used == [930, 1000]
    assert len(run.of(EventType.ERROR)) == 1


@pytest.mark.parametrize(
    "case",
    [
        (Turn.refusal(), FailureClass.REFUSAL),
        (Turn.auth(), FailureClass.AUTH),
        (Turn.context(), FailureClass.CONTEXT_OVERFLOW),
        (Turn.overload(), FailureClass.OVERLOAD),
    ],
    ids=["refusal", "auth", "context", "overload"],
)
def test_failures_are_told_apart(case, models, assign, env):
    turn, kind = case
    models.script("key", turn)
    run = drive(PROVIDER, assign(options={"args": ONE_RETRY}), env)
    assert run.outcome.ending is Ending.FAILED
    assert run.outcome.failure.kind is kind
    assert len(run.of(EventType.ERROR)) == 1


def test_a_short_rate_limit_is_a_retry_and_no_failure(models, assign, env):
    models.script("key", Turn.minute(2), Turn.text("Done."))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert {event.meta["failure"] for event in run.of(EventType.RETRY)} == {"usage_limit"}
    assert not run.of(EventType.ERROR)


def test_a_stream_that_breaks_is_told_once_whole(models, assign, env):
    """The piece streamed before the break comes again: it must not appear twice."""
    models.script("key", Turn.cut(words=8), Turn.text("Whole."))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert [event.content for event in run.of(EventType.TEXT)] == ["Whole."]
    assert run.of(EventType.RETRY)


def test_an_interrupt_keeps_the_partial_text(models, assign, env):
    models.script("key", Turn.hold())
    act = at_line(b"chunk3", lambda run: run.write(*run.stream.interrupt()))
    run = drive(PROVIDER, assign(), env, on_line=act)
    assert run.outcome.ending is Ending.INTERRUPTED
    [partial] = run.of(EventType.TEXT)
    assert partial.meta == {"partial": True}
    assert partial.content.startswith("chunk0 chunk1")
    assert run.exit.code == 0


def test_an_interrupted_command_never_completes_and_is_not_in_flight(models, assign, env):
    models.script("key", Turn.shell("echo started; sleep 300"))
    seen: list[int] = []

    def act(event: Event, run: Run) -> None:
        if event.type is EventType.TOOL_USE:
            seen.append(run.stream.tools_in_flight)
            run.write(*run.stream.interrupt())

    run = drive(PROVIDER, assign(), env, on_event=act)
    assert run.outcome.ending is Ending.INTERRUPTED
    assert seen == [1]
    assert run.stream.tools_in_flight == 0
    assert not run.of(EventType.TOOL_RESULT)


def test_a_reply_steers_the_running_turn(models, assign, env):
    models.script("key", Turn.slow(words=20, delay=0.02), Turn.text("And hi."))
    act = at_line(b"chunk1", lambda run: run.write(*run.stream.reply("Also say REPLYMARK", "reply-1")))
    run = drive(PROVIDER, assign(), env, on_line=act)
    assert run.outcome.ending is Ending.DONE
    assert len(run.outcomes) == 2  # the end of the turn, and the same again at the end of the process
    assert run.outcome.text == "And hi."
    first, second = models.mains("key")
    assert "REPLYMARK" not in first.text
    assert "REPLYMARK" in second.text
    assert list(run.stream.reply("Too late", "reply-2")) == []


def test_a_thread_is_resumed_with_its_history_and_a_new_contract(models, assign, env):
    """A resumed thread ignores new developer instructions: the contract must come another way."""
    models.script("key", Turn.text("One."), Turn.text("Two."))
    first = drive(PROVIDER, assign(prompt="FIRSTTASK", envelope="OLDMARK"), env)
    thread = first.stream.native_session
    again = assign(dispatch="d-2", prompt="Go on.", resume_id=thread, envelope=CONTRACT)
    run = drive(PROVIDER, again, env)
    assert run.outcome.ending is Ending.DONE
    assert run.stream.native_session == thread
    assert all(mark in models.mains("key")[1].text for mark in ("FIRSTTASK", "HUBMARK", "Go on."))
    assert [event.content for event in run.of(EventType.TEXT)] == ["Two."]


def test_a_thread_that_is_gone_gives_way_to_a_fresh_one_with_the_contract(models, assign, env):
    gone = "01a1fc8b-1a20-7ba3-850a-28c801d9cc1f"
    run = drive(PROVIDER, assign(resume_id=gone, envelope=CONTRACT), env)
    assert run.outcome.ending is Ending.DONE
    assert run.stream.native_session not in ("", gone)
    assert "HUBMARK" in models.mains("key")[0].text
    assert any(event.meta.get("resumed") is False for event in run.of(EventType.SYSTEM))


def test_the_accounts_key_reaches_the_model(models, assign, env):
    """The app-server ignores CODEX_API_KEY for its built-in provider and sends requests without any key."""
    run = drive(PROVIDER, assign(key="other-key", key_name="OPENAI_API_KEY"), env)
    assert run.outcome.ending is Ending.DONE
    assert models.mains()[0].headers["authorization"] == "Bearer other-key"


def test_no_key_is_a_login_failure(assign, env):
    run = drive(PROVIDER, assign(key=""), env)
    assert run.outcome.failure.kind is FailureClass.AUTH


def test_a_permission_is_asked_of_a_person_when_the_policy_says_so(models, repo, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("Done."))
    answers = iter([True])

    def act(event: Event, run: Run) -> None:
        if event.type is EventType.WAITING:
            run.write(*run.stream.answer(event.meta["approvalId"], next(answers), ""))

    options = {"approval_policy": "untrusted", "sandbox": "read-only"}
    run = drive(PROVIDER, assign(options=options), env, on_event=act)
    assert run.outcome.ending is Ending.DONE
    assert len(run.of(EventType.WAITING)) == 1
    assert (repo / "hello.txt").read_text() == "hi\n"
