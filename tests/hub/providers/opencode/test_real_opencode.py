"""The real OpenCode behind the bridge, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import json
import time
from typing import ClassVar

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from tests.drive import Run, drive
from tests.hub.providers.stores import kept
from tests.hub.providers.suite import CONTRACT, AgentSuite
from tests.model_server import Turn

pytestmark = pytest.mark.agents


class TestOpenCode(AgentSuite):
    """A full context would be compacted for ever: 500 events and 200 requests in 40 s were seen."""

    own_prompt = "You are an interactive CLI tool"
    asks: ClassVar = {"permission": "ask"}
    no_login: ClassVar = {}
    most = 2
    gone = "ses_e02ca7732ffee4o0jqOgDN2nKW"
    stopped = (True,)

    @pytest.mark.usefixtures("nothing_left_at_home")
    def test_a_task_is_done_and_the_process_leaves(self, provider, models, repo, assign, env):
        """A project may ask for permissions: hub's settings are laid over its file, and no question comes back."""
        (repo / "opencode.json").write_text(json.dumps({"permission": "ask"}))
        models.script(
            "key",
            Turn.plan(("write", "completed"), ("check", "pending")),
            Turn.write("a/hello.txt", "hi\n"),
            Turn.shell("cat a/hello.txt; exit 3"),
            Turn.text("All done."),
        )
        run = drive(provider, assign(envelope=CONTRACT, prompt="/help me @home"), env)
        assert run.outcome.ending is Ending.DONE
        assert run.outcome.text == "All done."
        assert (repo / "a" / "hello.txt").read_text() == "hi\n"
        assert run.exit.code == 0
        assert run.unknown == 0
        assert run.stream.tools_in_flight == 0
        todo, write, shell = run.of(EventType.TOOL_USE)
        assert todo.meta["tool"] == "todowrite"
        assert (write.meta["tool"], write.meta["path"]) == ("write", str(repo / "a" / "hello.txt"))
        assert shell.meta["command"] == "cat a/hello.txt; exit 3"
        ended = run.of(EventType.TOOL_RESULT)
        assert [event.meta["toolId"] for event in ended] == [e.meta["toolId"] for e in (todo, write, shell)]
        assert (ended[2].meta["exitCode"], ended[2].meta["isError"]) == (3, True)
        assert [event.meta["tasksRemaining"] for event in run.events if "plan" in event.meta] == [["check"]]
        usage = run.of(EventType.USAGE)
        assert [event.meta["tokensIn"] for event in usage] == [134] * 4
        intel = kept(run, "opencode")
        assert (intel.session_id, intel.cwd) == (run.stream.native_session, str(repo))
        assert (intel.plan, intel.tasks_remaining) == (("write", "check"), ("check",))
        assert (intel.files_touched, intel.tokens_in) == (("a/hello.txt",), 4 * 134)
        assert intel.recent_turns[-1].text == "All done."
        request = models.mains("key")[0].text
        assert all(mark in request for mark in (self.own_prompt, "HUBMARK", "/help me @home"))

    def test_a_limit_is_told(self, provider, models, assign, env):
        """`opencode run` is silent for 76 s here; the server tells its first retry, and that it is 2 h away."""
        models.script("key", Turn.write("hello.txt", "hi\n"), Turn.limit(resets_in=7200))
        began = time.time()
        run = drive(provider, assign(), env)
        failure = run.outcome.failure
        assert failure.kind is FailureClass.USAGE_LIMIT
        assert began - 1 <= failure.resets_at - 7200 <= time.time() + 1
        assert len(run.of(EventType.RETRY)) == 1
        assert len(run.of(EventType.ERROR)) == 1
        assert len(models.mains("key")) == 2
        assert run.exit.code == 0

    def test_what_passes_is_waited_out(self, provider, models, assign, env):
        models.script("key", Turn.minute(1), Turn.overload(1), Turn.text("Done."))
        run = drive(provider, assign(), env)
        assert run.outcome.ending is Ending.DONE
        assert [event.meta["failure"] for event in run.of(EventType.RETRY)] == ["usage_limit", "overload"]

    def test_a_model_that_does_not_exist_ends_the_run(self, provider, models, assign, env):
        """It comes as an error of the session without any message, and no idle follows."""
        run = drive(provider, assign(base_url="", model="nobody/nothing"), env)
        assert run.outcome.ending is Ending.FAILED
        assert not models.mains("key")

    def test_a_session_is_resumed_and_nothing_old_is_told_again(self, provider, models, assign, env):
        models.script("key", Turn.shell("echo started; sleep 300"), Turn.text("Two."))

        def kill(event: Event, run: Run) -> None:
            if event.type is EventType.TOOL_USE:
                run.process.kill()

        first = drive(provider, assign(prompt="FIRSTTASK"), env, on_event=kill)
        assert first.outcome.failure.kind is FailureClass.CRASH
        session = first.stream.native_session
        run = drive(
            provider, assign(dispatch="d-2", prompt="Go on.", resume_id=session, envelope=CONTRACT), env
        )
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "Two.")
        assert run.stream.native_session == session
        assert all(mark in models.mains("key")[-1].text for mark in ("FIRSTTASK", "HUBMARK", "Go on."))
        assert [event.content for event in run.of(EventType.TEXT)] == ["Two."]
        assert not run.of(EventType.TOOL_USE)

    def test_a_question_is_answered_by_a_reply(self, provider, models, assign, env):
        question = {
            "question": "Which?",
            "header": "Colour",
            "options": [{"label": "Red", "description": "r"}],
        }
        models.script("key", Turn.tool("native", "question", {"questions": [question]}), Turn.text("Done."))

        def act(event: Event, run: Run) -> None:
            if event.meta.get("needsInput"):
                run.write(*run.stream.reply("Blue indeed", "reply-1"))

        run = drive(provider, assign(), env, on_event=act)
        assert run.outcome.ending is Ending.DONE
        assert "Which? [Red]" in [event.content for event in run.of(EventType.WAITING)]
        assert "Blue indeed" in models.mains("key")[-1].text

    def test_a_subagents_work_is_seen_and_its_words_are_not_the_answer(self, provider, models, assign, env):
        given = {"description": "sub", "prompt": "Do SUBTASK.", "subagent_type": "general"}
        models.script(
            "key",
            Turn.tool("native", "task", given),
            Turn.write("s.txt", "s\n"),
            Turn.text("Sub done."),
            Turn.text("All done."),
        )
        run = drive(provider, assign(), env)
        assert run.outcome.text == "All done."
        assert [(e.meta["tool"], e.meta.get("subagent", False)) for e in run.of(EventType.TOOL_USE)] == [
            ("task", False),
            ("write", True),
        ]
        assert "Sub done." not in [event.content for event in run.of(EventType.TEXT)]
        assert len(run.of(EventType.USAGE)) == 4

    def test_a_limit_of_a_subagent_is_the_runs_limit(self, provider, models, assign, env):
        given = {"description": "sub", "prompt": "Do SUBTASK.", "subagent_type": "general"}
        models.script("key", Turn.tool("native", "task", given), Turn.limit(resets_in=7200))
        run = drive(provider, assign(), env)
        assert run.outcome.failure.kind is FailureClass.USAGE_LIMIT

    def test_a_used_up_quota_of_another_vendor_ends_the_run_without_a_guessed_reset(
        self, provider, models, assign, env
    ):
        """OpenAI's error has no `retry-after`, so OpenCode would try six times in 76 s; its words say enough."""
        models.script("key", Turn.limit())
        given = assign(model="openai/gpt-5.5", base_url=models.openai_url, key_name="OPENAI_API_KEY")
        run = drive(provider, given, env)
        failure = run.outcome.failure
        assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, None)
        assert len(models.mains("key")) == 1
