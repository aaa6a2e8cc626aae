"""What every real agent that talks both ways must do, against the model server on loopback.

Owns: the tests; each agent's `test_real_<agent>.py` has a class that inherits them and says how it differs: by the attributes, or a test of its own of the
same name.
Must not: know any one agent.

A start of these programs takes seconds, so one run shows several things.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers import registry
from hub.providers.base import Ending
from hub.providers.provider import Provider
from tests.agents import Program
from tests.drive import Run, at_line, drive
from tests.hub.providers.stores import kept
from tests.model_server import Turn
from tests.waiting import until

CONTRACT = "# Contract\nYou are HUBMARK; do not redo what is done."
MANIFEST = "\n".join(f"- src/module_{number:05d}/file.py" for number in range(10_000))
"""As an argument it would be too long for any program to start."""
PATIENCE = 240.0
"""A refusal and a limit are retried by the agents themselves, for a minute and more."""
WORK = Turn.write("hello.txt", "hi\n")


class AgentSuite:
    """The tests, and what an agent does in its own way."""

    own_prompt: ClassVar[str]
    """A piece of the agent's own system prompt, which the contract must not replace."""
    hosts: ClassVar[Collection[str]] = ()
    """The hosts it asks for whatever its settings say."""
    exit_codes: ClassVar[bool] = True
    """Whether the exit code of a command is told."""
    denied_ends: ClassVar[bool] = True
    """Whether the end of a denied tool is told."""
    replays: ClassVar[bool] = False
    """Whether a session that is taken up again tells its history."""
    asks: ClassVar[Mapping[str, Any]] = {"approval_mode": "default"}
    """The options with which it asks a person."""
    no_login: ClassVar[Mapping[str, Any]] = {"base_url": "", "options": {"env": {}}}
    """What its assignment says, beside that there is no key, where nobody has logged in."""
    once: ClassVar[Mapping[str, Any]] = {}
    """The options with which it gives up soon."""
    most: ClassVar[int | None] = None
    """How many requests a failure may cost, where that is sure; it is one event then."""
    gone: ClassVar[str] = "0b3c7f0e-3c1e-4c3a-9f0e-000000000000"
    """A session that never was."""
    stopped: ClassVar[Collection[bool] | None] = None
    """Whether the ends that are told of a tool that is interrupted are errors, where that is sure."""

    def age(self, account_dir: Path) -> None:
        """Make a session that has just been recorded one that can be taken up again."""

    def done(self, run: Run) -> None:
        """What it alone tells of a task that is done."""

    @pytest.fixture
    def provider(self, agent: Program) -> Provider:
        return registry.load(agent.name)

    @pytest.mark.usefixtures("nothing_left_at_home")
    def test_a_task_is_done_and_the_process_leaves(self, provider, models, repo, assign, env):
        """Also one that looks like a command of the program; outside the account's directory nothing is left."""
        models.script(
            "key",
            Turn.write("a/hello.txt", "hi\n", think="First the file."),
            Turn.shell("cat a/hello.txt; exit 3"),
            Turn.text("All done."),
        )
        run = drive(provider, assign(prompt="/help me"), env, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "All done.")
        assert "/help me" in models.mains("key")[0].text
        assert (repo / "a" / "hello.txt").read_text() == "hi\n"
        assert run.exit.code == 0
        assert (run.unknown, run.stream.tools_in_flight) == (0, 0)
        write, shell = run.of(EventType.TOOL_USE)
        assert repo / write.meta["path"] == repo / "a" / "hello.txt"
        assert shell.meta["command"] == "cat a/hello.txt; exit 3"
        ended = run.of(EventType.TOOL_RESULT)
        assert [event.meta["toolId"] for event in ended] == [write.meta["toolId"], shell.meta["toolId"]]
        assert [event.meta.get("exitCode") for event in ended] == [None, 3 if self.exit_codes else None]
        assert sum(event.meta["tokensIn"] for event in run.of(EventType.USAGE)) == 303
        assert len(models.requests("key")) == 3, "no request beside the task is paid for"
        assert set(models.foreign_hosts) <= set(self.hosts), models.foreign_hosts
        intel = kept(run, provider.name)
        assert (intel.session_id, intel.cwd) == (run.stream.native_session, str(repo))
        assert (intel.files_touched, intel.tokens_in) == (("a/hello.txt",), 303)
        assert intel.recent_turns[-1].text == "All done."
        self.done(run)

    def test_a_limit_is_told(self, provider, models, assign, env):
        models.script("key", WORK, Turn.limit())
        run = drive(provider, assign(), env, timeout=PATIENCE)
        assert run.outcome.failure.kind is FailureClass.USAGE_LIMIT

    @pytest.mark.parametrize(
        ("turns", "kind"),
        [
            ((WORK, Turn.refusal()), FailureClass.REFUSAL),
            ((Turn.auth(),), FailureClass.AUTH),
            ((Turn.context(),), FailureClass.CONTEXT_OVERFLOW),
        ],
        ids=["refusal", "auth", "context"],
    )
    def test_failures_are_told_apart(self, provider, *, turns, kind, models, assign, env):
        models.script("key", *turns)
        run = drive(provider, assign(options=self.once), env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.FAILED
        assert run.outcome.failure.kind is kind
        if self.most is not None:
            assert len(run.of(EventType.ERROR)) == 1
            assert len(models.mains("key")) <= self.most

    def test_no_login_is_told_before_any_prompt(self, provider, models, assign, env):
        run = drive(provider, assign(key="", **self.no_login), env, timeout=PATIENCE)
        assert run.outcome.failure.kind is FailureClass.AUTH
        assert not models.mains()

    def test_what_passes_is_waited_out(self, provider, models, assign, env):
        models.script("key", Turn.overload(2), Turn.text("Done."))
        assert drive(provider, assign(), env, timeout=PATIENCE).outcome.ending is Ending.DONE

    def test_an_interrupt_keeps_the_partial_text(self, provider, models, assign, env):
        models.script("key", Turn.hold())
        act = at_line(b"chunk3", lambda run: run.write(*run.stream.interrupt()))
        run = drive(provider, assign(), env, on_line=act, timeout=PATIENCE)
        assert run.outcome.ending is Ending.INTERRUPTED
        assert run.of(EventType.TEXT)[0].content.startswith("chunk0 chunk1")
        assert run.exit.code == 0

    def test_an_interrupted_tool_leaves_nothing_running(self, provider, models, repo, assign, env):
        mine = f"{os.getpid():07}"
        models.script("key", Turn.shell(f"touch started; sleep 300.{mine}"))
        in_flight: list[int] = []

        def act(event: Event, run: Run) -> None:
            if event.type is EventType.TOOL_USE:
                until((repo / "started").exists, "the tool runs")
                in_flight.append(run.stream.tools_in_flight)
                run.write(*run.stream.interrupt())

        run = drive(provider, assign(), env, on_event=act, timeout=PATIENCE)
        assert run.outcome.ending is Ending.INTERRUPTED
        assert (in_flight, run.stream.tools_in_flight) == ([1], 0)
        if self.stopped is not None:
            assert [event.meta["isError"] for event in run.of(EventType.TOOL_RESULT)] == [*self.stopped]
        assert subprocess.run(["pgrep", "-f", f"sleep 300[.]{mine}"], check=False).returncode == 1

    def test_a_reply_waits_for_the_turn_to_end_and_nothing_is_forgotten(self, provider, models, assign, env):
        """A prompt amid a turn would cancel it, and with some wipe it from the agent's memory."""
        models.script("key", WORK, Turn.slow(words=20, delay=0.02), Turn.text("And hi."))
        text = 'Also say "REPLYMARK" ✓\nand no more'
        act = at_line(b"chunk3", lambda run: run.write(*run.stream.reply(text, "reply-1")))
        assignment = assign(prompt="FIRSTTASK")
        run = drive(provider, assignment, env, on_line=act, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "And hi.")
        last = models.mains("key")[-1].text
        assert all(mark in last for mark in (text, "FIRSTTASK", "chunk19"))
        # A new daemon has only the lines; it finds the reply in them.
        replayed = provider.stream(assignment)
        steps = [replayed.open(), *(replayed.feed(line, time.time()) for line in run.lines)]
        assert [step.outcome for step in steps if step.outcome] == [run.outcomes[0]]
        assert [e.content for step in steps for e in step.events] == [e.content for e in run.events]
        assert {write.key for step in steps for write in step.writes} == run.written - {"reply-1"}

    def test_a_session_is_resumed_and_nothing_old_is_told_again(
        self, provider, *, models, assign, env, account_dir
    ):
        models.script("key", WORK, Turn.text("One."), Turn.text("Two."))
        first = drive(provider, assign(prompt="FIRSTTASK", envelope="OLDMARK"), env, timeout=PATIENCE)
        session = first.stream.native_session
        self.age(account_dir)
        again = assign(dispatch="d-2", prompt="Go on.", resume_id=session, envelope=CONTRACT)
        run = drive(provider, again, env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert run.stream.native_session == session
        assert all(mark in models.mains("key")[-1].text for mark in ("FIRSTTASK", "HUBMARK", "Go on."))
        assert any(b"One." in line for line in run.lines) is self.replays
        assert [event.content for event in run.of(EventType.TEXT)] == ["Two."]
        assert not run.of(EventType.TOOL_USE)

    def test_a_session_that_is_gone_gives_way_to_a_fresh_one_with_the_whole_contract(
        self, provider, models, assign, env
    ):
        """The contract heads the first prompt and replaces nothing of the agent's own, however long both are."""
        given = assign(resume_id=self.gone, envelope=CONTRACT, prompt=f"Go on.\n{MANIFEST}")
        run = drive(provider, given, env, timeout=PATIENCE)
        assert run.outcome.ending is Ending.DONE
        assert run.stream.native_session not in ("", self.gone)
        assert sum(map(len, run.launch.argv)) < 2_000
        said = models.mains("key")[0].text
        assert self.own_prompt in said
        assert any(event.meta.get("resumed") is False for event in run.of(EventType.SYSTEM))
        assert said.index("HUBMARK") < said.index("Go on.") < said.index("module_09999")

    def test_a_permission_is_asked_of_a_person_when_the_mode_says_so(
        self, provider, models, repo, assign, env
    ):
        """The first is given, the second denied; a denied tool may end the turn, and the agent goes on without it."""
        models.script("key", Turn.write("yes.txt", "hi\n"), Turn.write("no.txt", "hi\n"), Turn.text("Done."))
        answers = iter([True, False])
        in_flight: list[int] = []

        def act(event: Event, run: Run) -> None:
            if event.type is EventType.WAITING:
                in_flight.append(run.stream.tools_in_flight)
                run.write(*run.stream.answer(event.meta["approvalId"], next(answers), ""))

        run = drive(provider, assign(options=self.asks), env, on_event=act, timeout=PATIENCE)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "Done.")
        assert (in_flight, run.stream.tools_in_flight) == ([1, 1], 0)
        assert ((repo / "yes.txt").exists(), (repo / "no.txt").exists()) == (True, False)
        assert len(run.of(EventType.TOOL_USE)) == 2
        ended = [event.meta["isError"] for event in run.of(EventType.TOOL_RESULT)]
        assert ended == ([False, True] if self.denied_ends else [False])
