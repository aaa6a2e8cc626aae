"""The demo agents as real child processes, driven through their adapter."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from hub.domain.accounts.account import Account
from hub.domain.brief import render_envelope
from hub.domain.contract import Contract
from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Assignment, Ending
from hub.providers.demo import story
from hub.providers.demo.agent import FIRST, SECOND, Demo
from tests.drive import OnEvent, Run, drive
from tests.waiting import until

Steps = list[dict[str, Any]]


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    path = tmp_path / "worktree"
    path.mkdir()
    return path


@pytest.fixture
def play(tmp_path: Path, worktree: Path) -> Callable[..., Run]:
    """Runs steps on `demo-first`; more keywords go into the assignment."""

    def run(
        steps: Steps | None = None,
        *,
        provider: Demo = FIRST,
        dispatch: str = "d-1",
        environ: dict[str, str] | None = None,
        on_event: OnEvent | None = None,
        **more: Any,
    ) -> Run:
        options = {"script": {"steps": steps}} if steps is not None else {}
        if "envelope" in more:
            more["envelope_path"] = tmp_path / "envelope.md"
            more["envelope_path"].write_text(more["envelope"])
        assignment = Assignment(
            dispatch_id=dispatch,
            session_id="s-1",
            prompt="Do it.",
            worktree=worktree,
            run_dir=tmp_path / "run" / dispatch,
            options=more.pop("options", options),
            **more,
        )
        told = Demo(
            name=provider.name,
            display_name=provider.display_name,
            environ={"HUB_DEMO_PACE": "0", **(environ or {})},
        )
        return drive(told, assignment, {"PATH": os.environ["PATH"]}, on_event=on_event, timeout=30)

    return run


def once(wanted: EventType, act: Callable[[Run], object]) -> OnEvent:
    done: list[bool] = []

    def on_event(event: Event, run: Run) -> None:
        if event.type is wanted and not done:
            done.append(True)
            act(run)

    return on_event


def said(run: Run) -> list[str]:
    return [event.content for event in run.of(EventType.TEXT)]


class TestSteps:
    def test_text_thought_usage_and_quota(self, play):
        steps = [
            {"say": "hello"},
            {"think": "hm"},
            {"usage": {"tokensIn": 10, "tokensOut": 2}},
            {"quota": {"used": 0.955, "resetsIn": 60}},
            {"done": "ready"},
        ]
        began = time.time()
        run = play(steps)
        assert [event.type.value for event in run.events] == [
            "system",
            "text",
            "thinking",
            "usage",
            "quota",
            "result",
        ]
        assert run.of(EventType.USAGE)[0].meta["tokensIn"] == 10
        quota = run.of(EventType.QUOTA)[0].meta
        assert quota["used"] == 955
        assert began - 1 <= quota["resetsAt"] - 60 <= time.time()
        assert run.outcome.ending is Ending.DONE
        assert run.outcome.text == "ready"

    def test_write_makes_folders_and_append_appends(self, play, worktree):
        steps = [
            {"write": {"path": "a/b.txt", "text": "one\n"}},
            {"append": {"path": "a/b.txt", "text": "two\n"}, "times": 2},
        ]
        run = play([*steps, {"append": {"path": "a/b.txt", "text": "3"}}])
        assert (worktree / "a" / "b.txt").read_text() == "one\ntwo\ntwo\n3"
        assert [event.meta["path"] for event in run.of(EventType.TOOL_USE)] == ["a/b.txt"] * 4
        assert [event.content for event in run.of(EventType.TOOL_RESULT)[-2:]] == [
            "4 characters",
            "1 character",
        ]
        assert run.stream.tools_in_flight == 0

    def test_a_file_that_cannot_be_written_is_a_failed_tool_and_not_a_crash(self, play, worktree):
        (worktree / "a").write_text("a file")
        run = play([{"write": {"path": "a/b.txt", "text": ""}}, {"done": "ready"}])
        assert run.of(EventType.TOOL_RESULT)[0].meta["isError"] is True
        assert run.outcome.ending is Ending.DONE

    @pytest.mark.parametrize(("command", "code"), [("echo out; echo err >&2", 0), ("exit 3", 3)])
    def test_run_tells_its_output_and_exit_code(self, play, command, code):
        run = play([{"run": command}])
        [result] = run.of(EventType.TOOL_RESULT)
        assert result.meta["exitCode"] == code
        assert result.meta["command"] == command
        assert code or result.content == "out\nerr\n"

    def test_the_tool_is_in_flight_between_its_two_lines(self, play):
        seen = []
        play(
            [{"run": "true"}],
            on_event=lambda event, run: seen.append((event.type, run.stream.tools_in_flight)),
        )
        assert (EventType.TOOL_USE, 1) in seen
        assert (EventType.TOOL_RESULT, 0) in seen

    def test_raw_lines_are_kept_counted_and_harmless(self, play):
        run = play(
            [{"raw": "not json"}, {"raw": '{"type": "martian"}'}, {"raw": "x" * 100_000}, {"done": "ready"}]
        )
        assert run.unknown == 3
        assert run.outcome.ending is Ending.DONE

    def test_times_repeats_a_step(self, play):
        assert said(play([{"say": "again", "times": 3}])) == ["again"] * 3

    def test_a_script_without_an_end_is_done_at_its_end(self, play):
        assert play([{"say": "x"}]).outcome.ending is Ending.DONE

    @pytest.mark.parametrize(
        ("step", "kind"),
        [
            ({"limit": {"resetsIn": 90}}, FailureClass.USAGE_LIMIT),
            ({"overload": {}}, FailureClass.OVERLOAD),
            ({"refuse": "no"}, FailureClass.REFUSAL),
            ({"auth": {}}, FailureClass.AUTH),
            ({"context": {}}, FailureClass.CONTEXT_OVERFLOW),
            ({"crash": 7}, FailureClass.CRASH),
            ({"crash": -9}, FailureClass.CRASH),
        ],
    )
    def test_each_failure_has_its_class_and_ends_the_process(self, play, step, kind):
        run = play([{"say": "before"}, step, {"say": "after"}])
        assert run.outcome.failure.kind is kind
        assert said(run) == ["before"]

    def test_a_limit_has_its_reset(self, play):
        began = time.time()
        failure = play([{"limit": {"resetsIn": 90}}]).outcome.failure
        assert began - 1 <= failure.resets_at - 90 <= time.time()

    def test_a_limit_without_a_reset_has_none(self, play):
        assert play([{"limit": {}}]).outcome.failure.resets_at is None

    def test_a_crash_tells_its_code_and_last_words(self, play):
        text = play([{"crash": 7}]).outcome.failure.text
        assert "exit code 7" in text
        assert "demo agent: crash 7" in text

    @pytest.mark.parametrize("steps", [[{"fly": 1}], [{"say": "a", "think": "b"}], [{}]])
    def test_a_step_that_is_none_is_told_and_not_guessed(self, play, steps):
        run = play(steps)
        assert run.outcome.failure.kind is FailureClass.UNKNOWN
        assert "step 0" in run.outcome.failure.text

    def test_a_script_that_cannot_be_read_is_told(self, play, tmp_path):
        run = play(options={"script": str(tmp_path / "missing.json")})
        assert run.outcome.failure.kind is FailureClass.UNKNOWN
        assert "missing.json" in run.outcome.failure.text


class TestConversation:
    def test_a_question_waits_for_its_reply(self, play):
        run = play(
            [{"ask": "Which colour?"}, {"done": "ready"}],
            on_event=once(EventType.WAITING, lambda run: run.write(*run.stream.reply("green", "reply-1"))),
        )
        [waiting] = run.of(EventType.WAITING)
        assert waiting.content == "Which colour?"
        assert waiting.meta["needsInput"] is True
        assert [event.content for event in run.of(EventType.SYSTEM)][1:] == ["green"]
        assert run.outcome.ending is Ending.DONE

    @pytest.mark.parametrize("approved", [True, False])
    def test_an_approval_waits_for_its_answer(self, play, approved):
        def answer(run: Run) -> None:
            approval = run.of(EventType.WAITING)[0].meta["approvalId"]
            assert run.stream.answer("another", approved, "") == ()
            run.write(*run.stream.answer(approval, approved, "because"))

        run = play([{"approve": "rm -rf build"}], on_event=once(EventType.WAITING, answer))
        [told] = [event for event in run.of(EventType.SYSTEM) if "approved" in event.meta]
        assert told.meta["approved"] is approved
        assert told.content.endswith(": because")

    def test_a_message_while_it_works_is_heard(self, play):
        def act(event: Event, run: Run) -> None:
            if event.type is EventType.TEXT:
                run.write(*run.stream.reply("hurry", "reply-1"))
            if event.content == "hurry":
                run.write(*run.stream.interrupt())

        run = play([{"say": "go"}, {"sleep": 30}], on_event=act)
        assert [event.meta.get("role") for event in run.events if event.content == "hurry"] == ["user"]

    @pytest.mark.parametrize(
        "steps",
        [
            pytest.param([{"say": "go"}, {"sleep": 600}], id="sleep"),
            pytest.param([{"say": "go"}, {"ask": "?"}], id="ask"),
            pytest.param([{"say": "go"}, {"run": "exec sleep 600"}], id="run"),
        ],
    )
    @pytest.mark.parametrize("way", ["protocol", "SIGINT"])
    def test_an_interrupt_ends_it_at_once_whatever_it_does(self, play, steps, way):
        def act(run: Run) -> None:
            if way == "SIGINT":
                run.process.send_signal(signal.SIGINT)
            else:
                run.write(*run.stream.interrupt())

        run = play(steps, on_event=once(EventType.TEXT, act))  # which gives up before what it does is over
        assert run.outcome.ending is Ending.INTERRUPTED
        assert run.stream.tools_in_flight == 0

    def test_nothing_is_written_after_the_end(self, play):
        run = play([{"done": "ready"}])
        assert run.stream.reply("more", "reply-1") == ()
        assert run.stream.interrupt() == ()

    def test_a_hang_says_nothing_and_a_stubborn_one_outlives_every_signal_but_the_last(self, play):
        def act(run: Run) -> None:
            line = run.lines[-1]
            assert json.loads(line)["text"] == "go"
            until(lambda: _ignores(run.process.pid, signal.SIGTERM), "the handler is in place", 10)
            run.process.send_signal(signal.SIGINT)
            run.process.send_signal(signal.SIGTERM)
            with pytest.raises(subprocess.TimeoutExpired):
                run.process.wait(0.1)
            run.process.kill()

        run = play([{"say": "go"}, {"hang": {"stubborn": True}}], on_event=once(EventType.TEXT, act))
        assert run.exit.signal == signal.SIGKILL
        assert run.outcome.failure.kind is FailureClass.CRASH


def _ignores(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    mask = int(next(line for line in status.splitlines() if line.startswith("SigIgn:")).split()[1], 16)
    return bool(mask >> (number - 1) & 1)


class TestResume:
    STEPS: ClassVar[Steps] = [
        {"append": {"path": "log", "text": "one\n"}},
        {"append": {"path": "log", "text": "two\n"}, "times": 2},
        {"crash": 1},
        {"append": {"path": "log", "text": "three\n"}},
        {"done": "ready"},
    ]

    def test_a_resumed_session_goes_on_after_its_last_completed_step(self, play, worktree):
        first = play(self.STEPS)
        run = play(self.STEPS, dispatch="d-2", resume_id=first.stream.native_session)
        assert (worktree / "log").read_text() == "one\ntwo\ntwo\nthree\n"
        assert run.events[0].meta["resumed"] is True
        assert run.stream.native_session == first.stream.native_session
        assert run.outcome.ending is Ending.DONE

    def test_a_fresh_session_begins_at_the_beginning(self, play, worktree):
        play(self.STEPS)
        play(self.STEPS, dispatch="d-2")
        assert (worktree / "log").read_text() == "one\ntwo\ntwo\n" * 2

    def test_an_overload_of_two_times_is_met_by_two_dispatches(self, play):
        steps = [{"overload": {}, "times": 2}, {"done": "ready"}]
        run = play(steps)
        session = run.stream.native_session
        assert run.outcome.failure.kind is FailureClass.OVERLOAD
        assert play(steps, dispatch="d-2", resume_id=session).outcome.failure.kind is FailureClass.OVERLOAD
        assert play(steps, dispatch="d-3", resume_id=session).outcome.ending is Ending.DONE

    def test_a_kill_in_the_middle_of_repetitions_repeats_none(self, play, worktree):
        """The store is written after each step with an effect, so at most the step in hand is in doubt."""
        steps = [{"append": {"path": "log", "text": "x\n"}, "times": 20}, {"done": "ready"}]

        def kill(run: Run) -> None:
            if len(run.of(EventType.TOOL_RESULT)) == 5:
                run.process.kill()

        first = play(steps, on_event=lambda event, run: kill(run))
        before = len((worktree / "log").read_text().splitlines())
        run = play(steps, dispatch="d-2", resume_id=first.stream.native_session)
        after = len((worktree / "log").read_text().splitlines())
        assert run.outcome.ending is Ending.DONE
        assert 5 <= before <= 20
        assert after in {20, 21}

    def test_the_store_is_for_its_owner_alone(self, play, tmp_path):
        play(self.STEPS)
        [place] = (tmp_path / "run").glob(".demo-sessions")
        assert place.stat().st_mode & 0o777 == 0o700
        assert [path.stat().st_mode & 0o777 for path in place.iterdir()] == [0o600]

    def test_accounts_keep_their_sessions_apart(self, play, tmp_path):
        account = Account("b", str(tmp_path / "account-b"))
        first = play(self.STEPS, account=account, native_id="same")
        assert (tmp_path / "account-b" / "same.json").exists()
        other = Account("c", str(tmp_path / "account-c"))
        run = play(self.STEPS, dispatch="d-2", account=other, resume_id=first.stream.native_session)
        assert run.events[0].meta["resumed"] is False


class TestEnvironment:
    def test_a_start_is_logged_once_with_its_dispatch_id(self, play, tmp_path):
        log = tmp_path / "starts"
        for dispatch in ("d-1", "d-2"):
            play([{"done": "x"}], dispatch=dispatch, environ={"HUB_DEMO_LOG": str(log)})
        assert log.read_text() == "d-1\nd-2\n"

    def test_the_script_may_come_from_the_environment_and_the_option_wins(self, play, tmp_path):
        path = tmp_path / "script.json"
        path.write_text(json.dumps({"steps": [{"say": "from the environment"}]}))
        environ = {"HUB_DEMO_SCRIPT": str(path)}
        assert said(play(environ=environ)) == ["from the environment"]
        other = tmp_path / "other.json"
        other.write_text(json.dumps({"steps": [{"say": "from the option"}]}))
        assert said(play(environ=environ, options={"script": str(other)})) == ["from the option"]

    def test_an_empty_variable_names_no_script(self, tmp_path):
        """It is not set, as for every other variable: the agent was to read the folder it was started in."""
        demo = Demo(name="demo-first", environ={"HUB_DEMO_SCRIPT": ""})
        launch = demo.launch(Assignment("d-1", "s-1", "p", tmp_path, tmp_path / "run"))
        assert "script" not in json.loads(launch.files["job.json"])

    def test_nothing_else_of_the_environment_reaches_the_child(self, tmp_path):
        demo = Demo(
            name="demo-first", display_name="x", environ={"HUB_DEMO_LOG": "/x", "HUB_SIGNING_KEY": "secret"}
        )
        launch = demo.launch(Assignment("d-1", "s-1", "p", tmp_path, tmp_path / "run"))
        assert launch.env == {"HUB_DEMO_LOG": "/x"}

    def test_it_tells_its_version(self):
        done = subprocess.run(
            [FIRST.program, *FIRST.version_args], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("hub demo agent ")

    def test_it_needs_no_site_packages_and_loads_little(self):
        """A fault test starts hundreds of them; what it imports is what it costs."""
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-X", "importtime", *FIRST.version_args[2:]],
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "hub.providers.demo.script" in loaded
        assert not loaded & {
            "attrs",
            "attr",
            "msgspec",
            "trio",
            "asyncio",
            "typing_extensions",
            "hub.providers.base",
        }


class TestStory:
    """The built-in story, in which the handoff matters."""

    def contract(self, left: list[str]) -> str:
        """The brief as hub renders it."""
        contract = Contract(
            contract_id="c-1",
            session_id="s-1",
            task_id="t-1",
            task_goal=story.TASK,
            snapshot_commit_sha="f" * 40,
            do_not_redo=("Wrote convert.py",),
            plan=tuple(story.PLAN),
            tasks_remaining=tuple(left),
            from_provider="demo-first",
            signature="f" * 64,
        )
        return render_envelope(contract)

    def test_the_first_agent_stops_at_its_limit_with_a_part_done(self, play, worktree):
        run = play()
        assert run.outcome.failure.kind is FailureClass.USAGE_LIMIT
        assert [path.name for path in worktree.iterdir()] == ["convert.py"]
        remaining = [event.meta["tasksRemaining"] for event in run.events if "tasksRemaining" in event.meta]
        assert [len(left) for left in remaining] == [3, 2]

    def test_the_second_agent_does_what_the_contract_says_is_left_and_the_work_verifies(self, play, worktree):
        play()
        before = (worktree / "convert.py").stat().st_mtime_ns
        run = play(provider=SECOND, dispatch="d-2", envelope=self.contract(list(story.PLAN)[1:]))
        assert run.outcome.ending is Ending.DONE
        assert (worktree / "convert.py").stat().st_mtime_ns == before
        assert sorted(path.name for path in worktree.iterdir()) == [
            "README.md",
            "convert.py",
            "test_convert.py",
        ]
        subprocess.run(story.VERIFY, shell=True, cwd=worktree, check=True, capture_output=True)

    def test_a_contract_that_says_less_is_left_leads_to_less_work(self, play, worktree):
        play()
        play(provider=SECOND, dispatch="d-2", envelope=self.contract(list(story.PLAN)[2:]))
        assert sorted(path.name for path in worktree.iterdir()) == ["README.md", "convert.py"]

    def test_a_task_it_does_not_know_is_said_and_not_pretended(self, play):
        run = play(provider=SECOND, envelope=self.contract(["Land on the moon"]))
        assert "I do not know how to: Land on the moon" in said(run)

    @pytest.mark.parametrize("brief", ["# Contract\n\nGo on.\n", None])
    def test_without_a_list_of_tasks_the_worktree_tells(self, play, worktree, brief):
        (worktree / "README.md").write_text("mine")
        play(provider=SECOND, envelope=brief or self.contract([]))
        assert (worktree / "README.md").read_text() == "mine"
        assert (worktree / "test_convert.py").exists()

    def test_the_second_agent_alone_does_it_all(self, play, worktree):
        assert play(provider=SECOND).outcome.ending is Ending.DONE
        assert len(list(worktree.iterdir())) == 3
