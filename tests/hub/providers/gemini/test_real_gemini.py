"""The real Gemini CLI, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from hub.providers.gemini.agent import PROVIDER
from tests.drive import Run, at_line, drive
from tests.model_server import Turn

pytestmark = pytest.mark.agents

CONTRACT = "# Contract\nYou are HUBMARK; do not redo what is done."
OWN_PROMPT = "You are an interactive CLI agent"


def test_a_task_is_done_and_the_process_leaves(models, repo, assign, env):
    """The user's settings need not name a login: a key is enough."""
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
    assert run.exit is not None
    assert run.exit.code == 0
    assert run.stream.unknown_lines == 0
    assert run.stream.tools_in_flight == 0
    write, shell = run.of(EventType.TOOL_USE)
    assert (write.meta["tool"], write.meta["path"]) == ("write_file", str(repo / "a" / "hello.txt"))
    assert shell.meta["command"] == "cat a/hello.txt; exit 3"
    assert [event.meta["toolId"] for event in run.of(EventType.TOOL_RESULT)] == [
        write.meta["toolId"],
        shell.meta["toolId"],
    ]
    [usage] = run.of(EventType.USAGE)
    assert usage.meta["tokensIn"] == 303
    assert len(run.of(EventType.THINKING)) == 1


def test_the_contract_heads_the_first_prompt_and_replaces_nothing(models, assign, env):
    manifest = "\n".join(f"- src/module_{number:05d}/file.py" for number in range(10_000))
    run = drive(PROVIDER, assign(envelope=CONTRACT, prompt=f"Go on.\n{manifest}"), env)
    assert run.outcome.ending is Ending.DONE
    assert sum(map(len, run.launch.argv)) < 2_000
    [request] = models.mains("key")
    assert OWN_PROMPT in json.dumps(request.body["systemInstruction"])
    said = "".join(part.get("text", "") for part in request.body["contents"][-1]["parts"])
    assert said.index("HUBMARK") < said.index("Go on.") < said.index("module_09999")


def test_a_prompt_that_looks_like_a_command_reaches_the_model(models, assign, env):
    """A prompt that begins with "/" is a command of the program itself, and no model would ever see it."""
    run = drive(PROVIDER, assign(prompt="/memory show"), env)
    assert run.outcome.ending is Ending.DONE
    assert "/memory show" in models.mains("key")[0].text


def test_the_limit_is_clean_and_its_reset_comes_from_standard_error(models, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.limit(resets_in=7200))
    run = drive(PROVIDER, assign(), env)
    failure = run.outcome.failure
    assert failure is not None
    assert (failure.kind, failure.window) == (FailureClass.USAGE_LIMIT, "day")
    assert failure.resets_at == pytest.approx(time.time() + 7200, abs=30)
    assert len(run.of(EventType.ERROR)) == 1
    assert run.exit is not None
    assert run.exit.code == 0


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (Turn.refusal(), FailureClass.REFUSAL),
        (Turn.auth(), FailureClass.AUTH),
        (Turn.context(), FailureClass.CONTEXT_OVERFLOW),
    ],
    ids=["refusal", "auth", "context"],
)
def test_failures_are_told_apart(turn, kind, models, assign, env):
    """A refusal is an ordinary end of the turn, and the program leaves with 0: only the silence tells it."""
    models.script("key", turn)
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.FAILED
    assert run.outcome.failure is not None
    assert run.outcome.failure.kind is kind


def test_a_refusal_after_work_is_no_success(models, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.refusal())
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.failure is not None
    assert run.outcome.failure.kind is FailureClass.REFUSAL


def test_no_login_is_told_before_any_prompt(models, assign, env):
    run = drive(PROVIDER, assign(base_url="", key=""), env)
    assert run.outcome.failure is not None
    assert run.outcome.failure.kind is FailureClass.AUTH
    assert not models.mains()


def test_a_login_dialogue_on_standard_output_ends_the_run(models, assign, env, account_dir):
    """Without its OAuth credentials the program asks for a code and takes our JSON for one, again and again."""
    (account_dir / ".gemini").mkdir()
    settings = {"security": {"auth": {"selectedType": "oauth-personal"}}}
    (account_dir / ".gemini" / "settings.json").write_text(json.dumps(settings))
    run = drive(PROVIDER, assign(), env, stop_on_outcome=True)
    assert run.outcome.failure is not None
    assert run.outcome.failure.kind is FailureClass.AUTH


def test_an_interrupt_keeps_the_partial_text(models, assign, env):
    models.script("key", Turn.hold())
    act = at_line(b"chunk3", lambda run: run.write(*run.stream.interrupt()))
    run = drive(PROVIDER, assign(), env, on_line=act)
    assert run.outcome.ending is Ending.INTERRUPTED
    assert run.of(EventType.TEXT)[0].content.startswith("chunk0 chunk1")
    assert run.exit is not None
    assert run.exit.code == 0


def test_an_interrupted_tool_is_told_as_failed(models, assign, env):
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


def test_a_reply_waits_for_the_turn_to_end_and_nothing_is_forgotten(models, assign, env):
    """A prompt amid a turn would cancel it, and a cancelled turn is wiped from the agent's memory."""
    models.script(
        "key", Turn.write("hello.txt", "hi\n"), Turn.slow(words=20, delay=0.02), Turn.text("And hi.")
    )
    text = 'Also say "REPLYMARK" ✓\nand no more'
    act = at_line(b"chunk3", lambda run: run.write(*run.stream.reply(text, "reply-1")))
    assignment = assign(prompt="FIRSTTASK")
    run = drive(PROVIDER, assignment, env, on_line=act)
    assert run.outcome.ending is Ending.DONE
    assert run.outcome.text == "And hi."
    last = models.mains("key")[-1].text
    assert all(mark in last for mark in (text, "FIRSTTASK", "chunk19"))
    # A new daemon has only the lines; it finds the reply in them.
    replayed = PROVIDER.stream(assignment)
    steps = [replayed.open(), *(replayed.feed(line, time.time()) for line in run.lines)]
    assert [step.outcome for step in steps if step.outcome] == [run.outcomes[0]]
    assert [event.content for step in steps for event in step.events] == [e.content for e in run.events]
    assert {write.key for step in steps for write in step.writes} == run.written - {"reply-1"}


def _age(account_dir: Path) -> None:
    """Gives the recorded session the name it would have had a minute earlier.

    `session/load` in the UTC minute of the session's beginning overwrites it; waiting for the next minute would
    show the same.
    """
    for chat in (account_dir / ".gemini" / "tmp").glob("*/chats/session-*.jsonl"):
        _, _, short = chat.stem.rpartition("-")
        chat.rename(chat.with_name(f"session-2026-01-01T00-00-{short}.jsonl"))


def test_a_session_is_resumed_and_its_replayed_history_is_not_told_again(models, assign, env, account_dir):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("One."), Turn.text("Two."))
    first = drive(PROVIDER, assign(prompt="FIRSTTASK"), env)
    session = first.stream.native_session
    _age(account_dir)
    again = assign(dispatch="d-2", prompt="Go on.", resume_id=session, envelope=CONTRACT)
    run = drive(PROVIDER, again, env)
    assert run.outcome.ending is Ending.DONE
    assert run.stream.native_session == session
    assert all(mark in models.mains("key")[-1].text for mark in ("FIRSTTASK", "HUBMARK", "Go on."))
    assert any(b"One." in line for line in run.lines)
    assert [event.content for event in run.of(EventType.TEXT)] == ["Two."]
    assert not run.of(EventType.TOOL_USE)


def test_a_session_that_cannot_be_loaded_gives_way_to_a_fresh_one(models, assign, env):
    gone = "0b3c7f0e-3c1e-4c3a-9f0e-000000000000"
    run = drive(PROVIDER, assign(resume_id=gone, envelope=CONTRACT), env)
    assert run.outcome.ending is Ending.DONE
    assert run.stream.native_session not in ("", gone)
    assert "HUBMARK" in models.mains("key")[0].text


@pytest.mark.parametrize("approved", [True, False], ids=["allowed", "denied"])
def test_a_permission_is_asked_of_a_person_when_the_mode_says_so(approved, models, repo, assign, env):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("Done."))
    in_flight: list[int] = []

    def act(event: Event, run: Run) -> None:
        if event.type is EventType.WAITING:
            in_flight.append(run.stream.tools_in_flight)
            run.write(*run.stream.answer(event.meta["approvalId"], approved, ""))

    run = drive(PROVIDER, assign(options={"approval_mode": "default"}), env, on_event=act)
    assert run.outcome.ending is Ending.DONE
    assert in_flight == [1]
    assert run.stream.tools_in_flight == 0
    assert (repo / "hello.txt").exists() is approved
    assert len(run.of(EventType.TOOL_USE)) == 1
    assert len(run.of(EventType.TOOL_RESULT)) == (1 if approved else 0)


def test_a_short_rate_limit_is_waited_out(models, assign, env, tmp_path):
    """Nothing on standard output tells it: the retries are on standard error."""
    models.script("key", Turn.minute(1), Turn.text("Done."))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    stream = PROVIDER.stream(assign(dispatch="d-2"))
    lines = (tmp_path / "d-1" / "stderr").read_bytes().splitlines()
    retries = [event for line in lines for event in stream.feed_stderr(line, 1000.0).events]
    assert [event.type for event in retries] == [EventType.RETRY]
    assert retries[0].meta["failure"] == "usage_limit"
    assert retries[0].meta["resetsAt"] >= 1001
