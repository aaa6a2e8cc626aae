"""A pipe where git reads a file: git waits for whoever writes into it, for ever, and the session must not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hub.errors import Code, HubError
from tests.faults import harness
from tests.faults.harness import Project, until, write
from tests.faults.test_agent_faults import errors

IMPATIENT = "from hub.cli.main import main; from hub.io.git import progress; progress.STILL = 2; main()"
PIPE = {"run": "mkdir -p folder && touch folder/file && mkfifo folder/.gitignore"}
RUN = {"task": "write"}


def works(made: Project, oracle, monkeypatch) -> None:
    """An agent that leaves a pipe and meets its limit, in a daemon whose git may stand still for two seconds."""
    made.script("demo-first", write(oracle, "a.txt", "one"), PIPE, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", write(oracle, "b.txt", "two"), {"done": ""})
    made.configure()

    def impatient(words, *, cwd, env, out):
        return subprocess.Popen(
            [sys.executable, "-c", IMPATIENT, *words], cwd=cwd, env=env, stdout=out, stderr=out
        )

    monkeypatch.setattr(harness, "fork", impatient)


def test_a_handoff_that_git_cannot_be_asked_for_fails_in_words_and_loses_nothing(made, oracle, monkeypatch):
    """`git ls-files` waited in `open` for a writer: the session handed off until it was stopped, without a word."""
    works(made, oracle, monkeypatch)
    api = made.start()
    api.post("/api/run", RUN)
    record = until(made.ended, "the session ends by itself")
    assert (record["sessionState"], record["error"]["code"]) == ("failed", "git_failed")
    assert "did nothing for 2 seconds" in record["error"]["detail"]
    assert "find . -type p" in record["error"]["hint"]
    assert "git_failed" in errors(made)
    (pipe,) = made.hub.glob("worktrees/*/folder/.gitignore")
    pipe.unlink()
    api.post("/api/run", RUN)
    until(lambda: made.ended().get("sessionId") != record["sessionId"], "another session works")
    assert made.stop() == 0
    assert (pipe.parent.parent / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("how", ["session", "daemon"])
def test_a_session_whose_git_waits_can_be_stopped(made, oracle, monkeypatch, how):
    """It waited for a git that nobody ended: the request was never answered, and the daemon was ended by force."""
    works(made, oracle, monkeypatch)
    api = made.start()
    api.post("/api/run", RUN)
    # Git is given up after two seconds, and then there is nothing to stop: a late look finds the session's end.
    until(lambda: made.fsm().get("state") == "PAUSING" or made.ended(), "it hands off")
    if how == "session":
        try:
            api.post("/api/session/stop", {})
        except HubError as error:
            if error.code is not Code.NO_ACTIVE_SESSION:
                raise
        record = until(made.ended, "the session ends")
        assert record["sessionState"] in ("stopped", "failed")
    assert made.stop() == 0
