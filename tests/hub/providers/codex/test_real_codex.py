"""The real Codex, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import time
from typing import ClassVar

import pytest

from hub.domain.event import Event, EventType
from hub.domain.failure import FailureClass
from hub.providers.base import Ending
from tests.drive import Run, at_line, drive
from tests.hub.providers.stores import kept
from tests.hub.providers.suite import CONTRACT, AgentSuite
from tests.model_server import Seen, Turn

pytestmark = pytest.mark.agents

ONE_RETRY = [
    part
    for name in ("request_max_retries", "stream_max_retries")
    for part in ("-c", f"model_providers.hub.{name}=1")
]
"""Instead of five of up to three seconds."""


class TestCodex(AgentSuite):
    """An interrupted command never completes: nothing more is told of it. A resumed thread ignores new developer
    instructions: the contract must come another way.
    """

    own_prompt = "You are Codex"
    asks: ClassVar = {"approval_policy": "untrusted", "sandbox": "read-only"}
    no_login: ClassVar = {}
    once: ClassVar = {"args": ONE_RETRY}
    gone = "01a1fc8b-1a20-7ba3-850a-28c801d9cc1f"
    most = 4
    hosts = ("chatgpt.com:443", "github.com:443", "api.github.com:443")
    stopped = ()
    test_a_reply_waits_for_the_turn_to_end_and_nothing_is_forgotten = None
    """It steers the turn under way."""

    def done(self, run):
        wrote, shelled = run.of(EventType.TOOL_RESULT)
        assert (wrote.meta["isError"], shelled.meta["isError"]) == (False, True)
        assert "hi" in shelled.content
        assert [event.content for event in run.of(EventType.THINKING)] == ["First the file."]
        assert [event.meta["tokensIn"] for event in run.of(EventType.USAGE)] == [101, 101, 101]
        intel = kept(run, "codex")
        assert (intel.tokens_out, intel.message_count) == (99, 4)

    def test_the_contract_is_the_developers_word(self, provider, models, assign, env):
        drive(provider, assign(envelope=CONTRACT), env)
        [request] = models.mains("key")
        roles = [
            item["role"]
            for item in request.body["input"]
            if any("HUBMARK" in part.get("text", "") for part in item.get("content") or [])
        ]
        assert roles == ["developer"]

    def test_a_limit_is_told(self, provider, models, assign, env):
        models.script("key", Turn.write("hello.txt", "hi\n", used=0.93), Turn.limit(resets_in=5 * 86_400))
        began = time.time()
        run = drive(provider, assign(), env)
        failure = run.outcome.failure
        assert failure.kind is FailureClass.USAGE_LIMIT
        assert failure.window == "five_hour"
        assert began - 1 <= failure.resets_at - 5 * 86_400 <= time.time() + 1
        used = [
            event.meta["used"] for event in run.of(EventType.QUOTA) if event.meta["window"] == "five_hour"
        ]
        assert used == [930, 1000]
        assert len(run.of(EventType.ERROR)) == 1

    def test_an_overload_that_lasts_is_told_once(self, provider, models, assign, env):
        models.script("key", Turn.overload())
        run = drive(provider, assign(options=self.once), env)
        assert run.outcome.failure.kind is FailureClass.OVERLOAD
        assert len(run.of(EventType.ERROR)) == 1

    def test_what_passes_is_waited_out(self, provider, models, assign, env):
        models.script("key", Turn.minute(2), Turn.text("Done."))
        run = drive(provider, assign(), env)
        assert run.outcome.ending is Ending.DONE
        assert {event.meta["failure"] for event in run.of(EventType.RETRY)} == {"usage_limit"}
        assert not run.of(EventType.ERROR)

    def test_a_stream_that_breaks_is_told_once_whole(self, provider, models, assign, env):
        """The piece streamed before the break comes again: it must not appear twice."""
        models.script("key", Turn.cut(words=8), Turn.text("Whole."))
        run = drive(provider, assign(), env)
        assert run.outcome.ending is Ending.DONE
        assert [event.content for event in run.of(EventType.TEXT)] == ["Whole."]
        assert run.of(EventType.RETRY)

    def test_a_reply_steers_the_running_turn(self, provider, models, assign, env):
        models.script("key", Turn.slow(words=20, delay=0.02), Turn.text("And hi."))
        act = at_line(b"chunk1", lambda run: run.write(*run.stream.reply("Also say REPLYMARK", "reply-1")))
        run = drive(provider, assign(), env, on_line=act)
        assert run.outcome.ending is Ending.DONE
        assert len(run.outcomes) == 2  # the end of the turn, and the same again at the end of the process
        assert run.outcome.text == "And hi."
        first, second = models.mains("key")
        assert "REPLYMARK" not in first.text
        assert "REPLYMARK" in second.text
        assert list(run.stream.reply("Too late", "reply-2")) == []

    def test_the_accounts_key_reaches_the_model(self, provider, models, assign, env):
        """The app-server ignores CODEX_API_KEY for its built-in provider and sends requests without any key."""
        run = drive(provider, assign(key="other-key", key_name="OPENAI_API_KEY"), env)
        assert run.outcome.ending is Ending.DONE
        assert models.mains()[0].headers["authorization"] == "Bearer other-key"

    def test_the_model_it_chooses_itself_has_its_tools_in_other_forms(
        self, provider, models, repo, assign, env
    ):
        """All of them in one that runs code, and a question for which it does not stop."""
        question = {"questions": [{"title": "Which colour?", "options": ["red", "blue"]}]}
        models.script(
            "key",
            Turn.write("hello.txt", "hi\n"),
            Turn.shell("cat hello.txt; exit 3"),
            Turn.tool("native", "request_user_input_async", question),
            Turn.text("All done."),
        )
        run = drive(provider, assign(model=""), env)
        assert (run.outcome.ending, run.outcome.text, run.unknown) == (Ending.DONE, "All done.", 0)
        assert (repo / "hello.txt").read_text() == "hi\n"
        write, shell = run.of(EventType.TOOL_USE)
        assert write.meta["path"] == str(repo / "hello.txt")
        assert shell.meta["command"] == "cat hello.txt; exit 3"
        assert [event.meta.get("exitCode") for event in run.of(EventType.TOOL_RESULT)] == [None, 3]
        [waiting] = run.of(EventType.WAITING)
        assert (waiting.content, waiting.meta["needsInput"]) == ("Which colour?\n- red\n- blue", True)

    def test_a_subagent_works_on_after_the_turn_that_started_it(self, provider, models, repo, assign, env):
        """Its work was lost: hub closed the input, and the program left in the middle of it. It asks as any agent does.

        A reply meanwhile makes a further turn of the session's own.
        """
        spawn = Turn.tool("native", "spawn_agent", {"task_name": "look", "message": "look"})

        def told(_: Event, run: Run) -> None:
            asked = [event.meta["approvalId"] for event in run.of(EventType.WAITING)]
            if asked and "And hi." in [event.content for event in run.events]:
                run.write(*run.stream.answer(*asked, True, ""))

        def model(seen: Seen) -> Turn:
            match seen.body["input"][-1]["type"]:
                case "message":
                    return Turn.text("And hi.") if "REPLYMARK" in seen.text else spawn
                case "function_call_output":
                    return Turn.text("Mine is done.")
                case "agent_message":
                    return Turn.shell("touch late.txt")
            return Turn.text("And so is this.")

        models.script("key", *[model] * 5)
        reply = at_line(b"turn/completed", lambda run: run.write(*run.stream.reply("REPLYMARK", "r-1")))
        run = drive(provider, assign(model="", asks=True), env, on_event=told, on_line=reply)
        assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "And hi.")
        assert "Mine is done." in [event.content for event in run.events]
        assert [event.meta["command"] for event in run.of(EventType.WAITING)] == ["touch late.txt"]
        assert (repo / "late.txt").exists()
        assert len(run.of(EventType.RESULT)) == 1
