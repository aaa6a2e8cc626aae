"""What every real agent that is driven over ACP must do, against the model server on loopback.

Owns: the tests; each agent's `test_real_<agent>.py` has a class that inherits them.
Must not: know any one agent.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers import registry
from hub.providers.base import Ending, Provider
from tests.agents import Program
from tests.drive import Run, drive
from tests.hub.providers.stores import kept
from tests.model_server import Turn
from tests.waiting import until

CONTRACT = "# Contract\nYou are HUBMARK; do not redo what is done."
PATIENCE = 240.0
"""A refusal and a limit are retried by the agents themselves, for a minute and more."""
ASK = {"approval_mode": "default"}


def on_line(part: bytes, act: Callable[[Run], None]) -> Callable[[bytes, Run], None]:
    """Acts once, on the first line that holds `part`."""
    done: list[bool] = []

    def seen(line: bytes, run: Run) -> None:
        if part in line and not done:
            done.append(True)
            act(run)

    return seen


class AcpSuite:
    """The tests; `own_prompt` is a piece of the agent's own system prompt, which the contract must not replace."""

    own_prompt: str
    own_folder: str

    @pytest.fixture
    def provider(self, agent: Program) -> Provider:
        return registry.load(agent.name)

    def test_a_task_is_done_and_the_process_leaves(self, provider, *, models, repo, assign, env, tmp_path):
        models.script(
            "key",
            Turn.write("a/hello.txt", "hi\n", think="First the file."),
            Turn.shell("cat a/hello.txt; exit 3"),
            Turn.text("All done."),
        )
        run = drive(provider, assign(), env, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "All done.")
        assert (repo / "a" / "hello.txt").read_text() == "hi\n"
        assert run.exit is not None
        assert run.exit.code == 0
        assert (run.stream.unknown_lines, run.stream.tools_in_flight) == (0, 0)
        assert [event.meta.get("exitCode") for event in run.of(EventType.TOOL_RESULT)] == [None, 3]
        assert sum(event.meta["tokensIn"] for event in run.of(EventType.USAGE)) == 303
        assert len(models.requests("key")) == 3, "no request beside the task is paid for"
        assert models.foreign_hosts == []
        assert not (tmp_path / "home" / self.own_folder).exists(), "the account's directory is the only one"
        intel = kept(run, provider.name)
        assert (intel.session_id, intel.cwd) == (run.stream.native_session, str(repo))
        assert (intel.files_touched, intel.tokens_in) == (("a/hello.txt",), 303)
        assert intel.recent_turns[-1].text == "All done."

    def test_the_contract_heads_the_first_prompt_and_replaces_nothing(self, provider, models, assign, env):
        manifest = "\n".join(f"- src/module_{number:05d}/file.py" for number in range(10_000))
        run = drive(provider, assign(envelope=CONTRACT, prompt=f"Go on.\n{manifest}"), env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert sum(map(len, run.launch.argv)) < 2_000
        said = models.mains("key")[0].text
        assert self.own_prompt in said
        assert said.index("HUBMARK") < said.index("Go on.") < said.index("module_09999")

    def test_a_prompt_that_looks_like_a_command_reaches_the_model(self, provider, models, assign, env):
        run = drive(provider, assign(prompt="/help me"), env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert "/help me" in models.mains("key")[0].text

    @pytest.mark.parametrize(
        ("turn", "kind"),
        [
            (Turn.limit(), FailureClass.USAGE_LIMIT),
            (Turn.refusal(), FailureClass.REFUSAL),
            (Turn.auth(), FailureClass.AUTH),
            (Turn.context(), FailureClass.CONTEXT_OVERFLOW),
        ],
        ids=["limit", "refusal", "auth", "context"],
    )
    @pytest.mark.parametrize("worked", [False, True], ids=["at once", "after work"])
    def test_failures_are_told_apart(self, provider, *, worked, turn, kind, models, assign, env):
        models.script("key", *([Turn.write("hello.txt", "hi\n")] if worked else []), turn)
        run = drive(provider, assign(), env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.FAILED
        assert run.outcome.failure is not None
        assert run.outcome.failure.kind is kind

    def test_no_login_is_told_before_any_prompt(self, provider, models, assign, env):
        run = drive(provider, assign(key="", base_url="", options={"env": {}}), env, timeout=PATIENCE)
        assert run.outcome.failure is not None
        assert run.outcome.failure.kind is FailureClass.AUTH
        assert not models.mains()

    def test_an_overload_is_waited_out(self, provider, models, assign, env):
        models.script("key", Turn.overload(2), Turn.text("Done."))
        assert drive(provider, assign(), env, timeout=PATIENCE).outcome.ending is Ending.DONE

    def test_an_interrupt_keeps_the_partial_text(self, provider, models, assign, env):
        models.script("key", Turn.hold())
        act = on_line(b"chunk3", lambda run: run.write(*run.stream.interrupt()))
        run = drive(provider, assign(), env, on_line=act, timeout=PATIENCE)
        assert run.outcome.ending is Ending.INTERRUPTED
        assert run.of(EventType.TEXT)[0].content.startswith("chunk0 chunk1")

    def test_an_interrupted_tool_leaves_nothing_running(self, provider, models, repo, assign, env):
        models.script("key", Turn.shell("touch started; sleep 300.125"))

        def act(event: Event, run: Run) -> None:
            if event.type is EventType.TOOL_USE:
                until((repo / "started").exists, "the tool runs")
                run.write(*run.stream.interrupt())

        run = drive(provider, assign(), env, on_event=act, timeout=PATIENCE)
        assert run.outcome.ending is Ending.INTERRUPTED
        assert run.stream.tools_in_flight == 0
        assert subprocess.run(["pgrep", "-f", "sleep 300[.]125"], check=False).returncode == 1

    def test_a_reply_waits_for_the_turn_to_end_and_nothing_is_forgotten(self, provider, models, assign, env):
        models.script(
            "key", Turn.write("hello.txt", "hi\n"), Turn.slow(words=20, delay=0.05), Turn.text("And hi.")
        )
        text = 'Also say "REPLYMARK" ✓\nand no more'
        act = on_line(b"chunk3", lambda run: run.write(*run.stream.reply(text, "reply-1")))
        assignment = assign(prompt="FIRSTTASK")
        run = drive(provider, assignment, env, on_line=act, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "And hi.")
        last = models.mains("key")[-1].text
        assert all(mark in last for mark in (text, "FIRSTTASK", "chunk19"))
        # A new daemon has only the lines; it finds the reply in them.
        replayed = provider.stream(assignment)
        steps = [replayed.open(), *(replayed.feed(line, time.time()) for line in run.lines)]
        assert [step.outcome for step in steps if step.outcome] == [run.outcomes[0]]
        assert {write.key for step in steps for write in step.writes} == run.written - {"reply-1"}

    def test_a_session_is_resumed_and_nothing_old_is_told_again(self, provider, models, assign, env):
        models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("One."), Turn.text("Two."))
        first = drive(provider, assign(prompt="FIRSTTASK"), env, timeout=PATIENCE)
        session = first.stream.native_session
        again = assign(dispatch="d-2", prompt="Go on.", resume_id=session, envelope=CONTRACT)
        run = drive(provider, again, env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert run.stream.native_session == session
        assert all(mark in models.mains("key")[-1].text for mark in ("FIRSTTASK", "HUBMARK", "Go on."))
        assert [event.content for event in run.of(EventType.TEXT)] == ["Two."]
        assert not run.of(EventType.TOOL_USE)

    def test_a_session_that_is_gone_gives_way_to_a_fresh_one(self, provider, models, assign, env):
        gone = "0b3c7f0e-3c1e-4c3a-9f0e-000000000000"
        run = drive(provider, assign(resume_id=gone, envelope=CONTRACT), env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert run.stream.native_session not in ("", gone)
        assert "HUBMARK" in models.mains("key")[0].text

    @pytest.mark.parametrize("approved", [True, False], ids=["allowed", "denied"])
    def test_a_permission_is_asked_of_a_person_when_the_mode_says_so(
        self, provider, *, approved, models, repo, assign, env
    ):
        """A denied tool ends the turn; the agent is told to go on without it."""
        models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("Done."))
        in_flight: list[int] = []

        def act(event: Event, run: Run) -> None:
            if event.type is EventType.WAITING:
                in_flight.append(run.stream.tools_in_flight)
                run.write(*run.stream.answer(event.meta["approvalId"], approved, ""))

        run = drive(provider, assign(options=ASK), env, on_event=act, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "Done.")
        assert in_flight == [1]
        assert run.stream.tools_in_flight == 0
        assert (repo / "hello.txt").exists() is approved
        [result] = run.of(EventType.TOOL_RESULT)
        assert result.meta["isError"] is not approved
