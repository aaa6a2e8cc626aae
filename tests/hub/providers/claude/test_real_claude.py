"""The real Claude Code, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import os
import time
from uuid import uuid4

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from hub.providers.claude.agent import PROVIDER
from tests.drive import Run, at_event, drive
from tests.hub.providers.stores import kept
from tests.model_server import Turn

pytestmark = pytest.mark.agents

SLEEP = "python3 -c 'import time; time.sleep({})'"


def spent(run: Run, name: str) -> int:
    """Told in steps, the last with the turn's result."""
    return sum(event.meta.get(name, 0) for event in run.of(EventType.USAGE))


@pytest.mark.usefixtures("nothing_left_at_home")
def test_a_task_is_done_and_the_process_leaves_by_itself(models, repo, assign, env):
    """Also one that looks like a command of the program."""
    models.script(
        "key",
        Turn.write("a/hello.txt", "hi\n"),
        Turn.shell("cat a/hello.txt; exit 3"),
        Turn.text("All done."),
    )
    native = str(uuid4())
    run = drive(PROVIDER, assign(native_id=native, prompt="/help me"), env)
    assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "All done.")
    assert "/help me" in models.mains()[0].text
    assert (repo / "a" / "hello.txt").read_text() == "hi\n"
    assert run.stream.native_session == native
    assert models.mains()[0].body["model"] == "claude-sonnet-5-5"
    write, shell = run.of(EventType.TOOL_USE)
    assert write.meta["path"] == str(repo / "a" / "hello.txt")
    assert shell.meta["command"].startswith("cat")
    assert run.of(EventType.TOOL_RESULT)[1].meta["exitCode"] == 3
    used = {name: spent(run, name) for name in ("tokensIn", "tokensOut", "cachedIn", "costUsdMicros")}
    assert (used["tokensIn"], used["tokensOut"], used["cachedIn"]) == (3 * 134, 99, 66)
    assert used["costUsdMicros"] > 0
    assert run.unknown == 0
    assert run.exit.code == 0
    intel = kept(run, "claude")
    assert (intel.session_id, intel.cwd, intel.files_touched) == (native, str(repo), ("a/hello.txt",))
    assert (intel.tokens_in, intel.tokens_out) == (used["tokensIn"], used["tokensOut"])
    assert intel.recent_turns[-1].text == "All done."


def test_a_command_of_the_users_own_is_one(models, repo, assign, env):
    """Its head made words of it: the model got the name of the command, not what the command says."""
    commands = repo / ".claude" / "commands"
    commands.mkdir(parents=True)
    (commands / "greet.md").write_text("Say a warm hello to $ARGUMENTS\n")
    models.script("key", Turn.text("Hello!"))
    run = drive(PROVIDER, assign(prompt="/greet Bob"), env)
    assert (run.outcome.ending, run.outcome.text, run.unknown) == (Ending.DONE, "Hello!", 0)
    assert "Say a warm hello to Bob" in models.mains()[0].text


def test_the_limit_of_a_subscription_has_its_reset(models, repo, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n", used=0.93), Turn.limit(resets_in=3600))
    began = time.time()
    run = drive(PROVIDER, assign(), env)
    failure = run.outcome.failure
    assert failure.kind is FailureClass.USAGE_LIMIT
    assert failure.window == "five_hour"
    assert began - 1 <= failure.resets_at - 3600 <= time.time() + 1
    assert [
        event.meta["used"] for event in run.of(EventType.QUOTA) if event.meta["window"] == "five_hour"
    ] == [930, 1000]
    assert (repo / "hello.txt").exists()


def test_the_limit_of_an_api_key_is_known_by_its_text_alone(models, assign, env):
    models.script("key", Turn.limit())
    run = drive(PROVIDER, assign(key_name="ANTHROPIC_API_KEY", model=""), env)
    assert run.outcome.failure.kind is FailureClass.USAGE_LIMIT
    assert run.outcome.failure.resets_at is None


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        pytest.param(Turn.refusal(), FailureClass.REFUSAL, id="refusal"),
        pytest.param(Turn.context(), FailureClass.CONTEXT_OVERFLOW, id="context"),
    ],
)
def test_a_failure_has_its_class(models, assign, env, turn, kind):
    models.script("key", turn)
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.FAILED
    assert run.outcome.failure.kind is kind
    assert run.of(EventType.TEXT) == []


def test_a_bad_key_ends_the_run_at_its_second_401_and_not_after_three_minutes(models, assign, env):
    models.script("key", Turn.auth())
    run = drive(PROVIDER, assign(key_name="ANTHROPIC_API_KEY"), env, stop_on_outcome=True)
    assert run.outcome.failure.kind is FailureClass.AUTH
    assert 2 <= len(models.mains()) < 5


def test_nobody_is_logged_in(models, assign, env):
    run = drive(PROVIDER, assign(key=""), env)
    assert run.outcome.failure.kind is FailureClass.AUTH
    assert models.mains() == []


def test_an_overload_is_waited_out_by_the_agent_itself(models, assign, env):
    models.script("key", Turn.overload(2), Turn.text("Done."))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert [event.meta["status"] for event in run.of(EventType.RETRY)] == [529, 529]
    assert {event.meta["failure"] for event in run.of(EventType.RETRY)} == {"overload"}


def test_a_broken_answer_is_asked_for_again(models, assign, env):
    models.script("key", Turn.cut(), Turn.text("Done."))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert run.of(EventType.RETRY)[0].meta["failure"] == "overload"


def test_the_contract_is_in_the_system_prompt(models, assign, env, tmp_path):
    models.script("key", Turn.text("Done."))
    envelope = tmp_path / "envelope.md"
    envelope.write_text("The contract says: DO-NOT-REDO-7.")
    drive(PROVIDER, assign(envelope=envelope.read_text(), envelope_path=envelope), env)
    assert "DO-NOT-REDO-7" in str(models.mains()[0].body["system"])


def test_a_resumed_session_has_its_history_and_the_new_contract(models, assign, env, tmp_path):
    """A resumed session keeps its recorded system prompt unless the snapshot is off; its totals go on."""
    models.script("key", Turn.text("FIRST-ANSWER"), Turn.text("Done."))
    first = drive(PROVIDER, assign(native_id=str(uuid4()), envelope="OLD-CONTRACT"), env)
    native = first.stream.native_session
    run = drive(PROVIDER, assign(dispatch="d-2", resume_id=native, envelope="NEW-CONTRACT"), env)
    assert run.stream.native_session == native
    asked = models.mains()[1]
    assert "FIRST-ANSWER" in str(asked.body["messages"])
    assert "NEW-CONTRACT" in str(asked.body["system"])
    assert "OLD-CONTRACT" not in str(asked.body["system"])
    assert spent(run, "tokensOut") == 33


def test_an_interrupt_ends_the_turn_with_its_partial_text(models, assign, env):
    models.script("key", Turn.hold(words=6), Turn.text("never"))

    def interrupt(line: bytes, run: Run) -> None:
        if b"chunk5" in line:
            run.write(*run.stream.interrupt())

    run = drive(PROVIDER, assign(options={"partial": True}), env, on_line=interrupt)
    assert run.outcome.ending is Ending.INTERRUPTED
    assert [event.content for event in run.of(EventType.TEXT)] == [
        "chunk0 chunk1 chunk2 chunk3 chunk4 chunk5"
    ]
    assert len(models.mains()) == 1


def test_an_interrupt_drops_the_messages_queued_behind_the_turn(models, assign, env):
    """Otherwise the next paid turn would begin at once."""
    models.script("key", Turn.shell(SLEEP.format(30)), Turn.text("never"))

    def act(run: Run) -> None:
        run.write(*run.stream.reply("also this", "reply-1"))
        run.write(*run.stream.interrupt())

    run = drive(PROVIDER, assign(), env, on_event=at_event(EventType.TOOL_USE, act))
    assert run.outcome.ending is Ending.INTERRUPTED
    assert len(models.mains()) == 1
    assert run.of(EventType.TOOL_RESULT)[0].meta["isError"] is True


def test_a_reply_while_a_tool_runs_joins_the_turn(models, assign, env):
    models.script("key", Turn.shell(SLEEP.format(1)), Turn.text("Both done."))
    run = drive(
        PROVIDER,
        assign(),
        env,
        on_event=at_event(
            EventType.TOOL_USE, lambda run: run.write(*run.stream.reply("ALSO-THIS", "reply-1"))
        ),
    )
    assert run.outcome.text == "Both done."
    assert "ALSO-THIS" in models.mains()[1].text
    assert len(run.of(EventType.RESULT)) == 1


def test_a_reply_while_text_streams_makes_a_further_turn_before_the_run_is_over(models, assign, env):
    models.script("key", Turn.slow(20, 0.05), Turn.text("Second."))

    def reply(event: Event, run: Run) -> None:
        if event.meta.get("nativeSession"):
            run.write(*run.stream.reply("ALSO-THIS", "reply-1"))

    run = drive(PROVIDER, assign(), env, on_event=reply)
    assert len(run.outcomes) == 2
    assert run.outcome.text == "Second."
    assert [event.meta["isError"] for event in run.of(EventType.RESULT)] == [False, False]
    assert "ALSO-THIS" in models.mains()[1].text


def test_a_message_that_is_sent_twice_is_taken_once(models, assign, env):
    """After a restart hub sends every write again; the runner drops what it has, and Claude Code what slips by."""
    models.script("key", Turn.shell(SLEEP.format(1)), Turn.text("Done."), Turn.text("never"))

    def twice(run: Run) -> None:
        [write] = run.stream.reply("ALSO-THIS", "reply-1")
        run.write(write)
        run.written.discard(write.key)
        run.write(write)

    run = drive(PROVIDER, assign(), env, on_event=at_event(EventType.TOOL_USE, twice))
    assert run.outcome.ending is Ending.DONE
    assert models.mains()[-1].text.count("ALSO-THIS") == 1
    assert len(models.mains()) == 2


def test_permissions_are_asked_for_and_answered(models, repo, assign, env):
    models.script("key", Turn.write("yes.txt", "hi\n"), Turn.write("no.txt", "hi\n"), Turn.text("Done."))
    answers = iter([(True, ""), (False, "not that file")])

    def answer(event: Event, run: Run) -> None:
        if event.type is EventType.WAITING:
            run.write(*run.stream.answer(event.meta["approvalId"], *next(answers)))

    run = drive(PROVIDER, assign(options={"permission_mode": "default"}), env, on_event=answer)
    assert run.outcome.ending is Ending.DONE
    assert ((repo / "yes.txt").exists(), (repo / "no.txt").exists()) == (True, False)
    assert [event.meta["isError"] for event in run.of(EventType.TOOL_RESULT)] == [False, True]
    assert "not that file" in models.mains()[2].text


def test_a_question_is_answered_by_a_reply(models, assign, env):
    asked = {"question": "Which colour?", "header": "Colour", "multiSelect": False}
    options = [{"label": "red", "description": "r"}, {"label": "blue", "description": "b"}]
    question = {"questions": [{**asked, "options": options}]}
    models.script("key", Turn.tool("native", "AskUserQuestion", question), Turn.text("Done."))
    run = drive(
        PROVIDER,
        assign(options={"permission_mode": "default"}),
        env,
        on_event=at_event(EventType.WAITING, lambda run: run.write(*run.stream.reply("GREEN", "reply-1"))),
    )
    [waiting] = run.of(EventType.WAITING)
    assert waiting.content == "Which colour?"
    assert waiting.meta["needsInput"] is True
    assert "GREEN" in models.mains()[1].text


def test_streamed_text_is_kept_when_the_process_is_killed(models, assign, env):
    """SIGTERM and SIGKILL lose what was being said, unless it is streamed piece by piece."""
    models.script("key", Turn.hold(words=6))

    def kill(line: bytes, run: Run) -> None:
        if b"chunk5" in line:
            run.process.kill()

    run = drive(PROVIDER, assign(options={"partial": True}), env, on_line=kill)
    assert [event.content for event in run.of(EventType.TEXT)] == [
        "chunk0 chunk1 chunk2 chunk3 chunk4 chunk5"
    ]
    assert run.outcome.failure.kind is FailureClass.CRASH


@pytest.mark.skipif(os.geteuid() != 0, reason="only root is refused")
def test_root_without_a_sandbox_is_told_why(models, assign, env):
    run = drive(PROVIDER, assign(options={"env": {"IS_SANDBOX": ""}}), env)
    assert run.outcome.failure.kind is FailureClass.CRASH
    assert "root" in run.outcome.failure.text


def test_a_session_that_is_gone_cannot_be_resumed(models, assign, env):
    run = drive(PROVIDER, assign(resume_id=str(uuid4())), env)
    assert run.outcome.failure.kind is FailureClass.UNKNOWN
    assert "No conversation found" in run.outcome.failure.text
