"""The real Aider, driven through the adapter against the model server on loopback."""

from __future__ import annotations

import contextlib
import signal
import subprocess

import pytest

from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers.aider.agent import CHAT_FILE, PROVIDER
from hub.providers.base import Ending
from tests.drive import Run, at_line, drive
from tests.hub.providers.stores import kept
from tests.model_server import Turn
from tests.waiting import until

pytestmark = pytest.mark.agents

CONTRACT = "# Contract\nYou are HUBMARK; do not redo what is done."


@pytest.mark.usefixtures("nothing_left_at_home")
def test_a_task_is_done_and_nothing_else(models, repo, assign, env, tmp_path):
    """By itself Aider commits, appends to .gitignore and writes two histories into the project."""
    models.script("key", Turn.write("a/hello.txt", "hi\n"))
    run = drive(PROVIDER, assign(envelope=CONTRACT), env)
    assert run.outcome.ending is Ending.DONE
    assert (repo / "a" / "hello.txt").read_text() == "hi\n"
    [edit] = run.of(EventType.TOOL_USE)
    assert edit.meta["path"] == "a/hello.txt"
    [usage] = run.of(EventType.USAGE)
    assert usage.meta["tokensIn"] > 0
    intel = kept(run, "aider", AIDER_CHAT_HISTORY_FILE=str(tmp_path / "d-1" / CHAT_FILE))
    assert (intel.files_touched, intel.tokens_in) == (("a/hello.txt",), usage.meta["tokensIn"])
    assert "Write hello.txt." in intel.initial_prompt
    [request] = models.mains("key")
    assert request.text.index("HUBMARK") < request.text.index("Write hello.txt.")
    assert not list((repo / ".git" / "refs" / "heads").iterdir())
    left = {path.name for path in repo.iterdir()} - {".git", "a"}
    # The map of the repository has no other place; hub keeps it out of git (`hub.io.project.places`).
    assert {name for name in left if not name.startswith(".aider.tags.cache.")} == set()


def test_neither_project_nor_prompt_is_a_command(models, repo, assign, env, account_dir):
    """Aider reads the project's own `.env` over its environment, but the account's after it; "/run" it would run."""
    (repo / ".env").write_text("OPENAI_API_KEY=theirs\nOPENAI_API_BASE=http://127.0.0.1:9/v1\n")
    (account_dir / ".env").write_text("OPENAI_API_KEY=key\n")
    models.script("key", Turn.text("Nothing to do."))
    run = drive(PROVIDER, assign(prompt="/run touch made.txt"), env)
    assert run.outcome.text == "Nothing to do."
    [request] = models.mains("key")
    assert "/run touch made.txt" in request.text
    assert not (repo / "made.txt").exists()


def test_a_used_up_quota_ends_the_run_at_its_first_refusal(models, assign, env):
    """Aider would try for another minute."""
    models.script("key", Turn.limit())
    run = drive(PROVIDER, assign(), env, stop_on_outcome=True)
    failure = run.outcome.failure
    assert (failure.kind, failure.resets_at) == (FailureClass.USAGE_LIMIT, None)
    assert len(run.of(EventType.RETRY)) == 1


def test_an_overload_is_waited_out(models, repo, assign, env):
    models.script("key", Turn.overload(4), Turn.write("hello.txt", "hi\n"))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert (repo / "hello.txt").exists()
    assert {event.meta["failure"] for event in run.of(EventType.RETRY)} == {"overload"}


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (Turn.refusal(), FailureClass.REFUSAL),
        (Turn.auth(), FailureClass.AUTH),
        (Turn.context(), FailureClass.CONTEXT_OVERFLOW),
    ],
    ids=["refusal", "auth", "context"],
)
def test_failures_are_told_apart_although_it_leaves_with_0(turn, kind, models, assign, env):
    models.script("key", turn)
    run = drive(PROVIDER, assign(), env)
    assert run.exit.code == 0
    assert run.outcome.failure.kind is kind


def test_no_model_and_no_key_ends_the_run_before_a_login_opens(models, assign, env):
    """Its yes to its own question would start a login in a browser and wait for it."""
    run = drive(PROVIDER, assign(model="", base_url="", key=""), env, stop_on_outcome=True)
    assert run.outcome.failure.kind is FailureClass.AUTH


def test_a_model_that_quotes_an_error_is_in_none(models, repo, assign, env):
    quote = (
        "The log says:\nlitellm.RateLimitError: RateLimitError: You exceeded your current quota\n"
        "The API provider has rate limited you. Try again later or check your quotas.\nRetrying in 0.2 seconds..."
    )
    models.script("key", Turn.text(quote))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert not run.of(EventType.RETRY)


def test_a_second_request_of_its_own_is_part_of_the_run(models, repo, assign, env):
    """An answer that does not hold to the format is sent back by Aider itself."""
    models.script("key", Turn.shell("echo hi > made.txt"), Turn.write("hello.txt", "hi\n"))
    run = drive(PROVIDER, assign(), env)
    assert run.outcome.ending is Ending.DONE
    assert (repo / "hello.txt").exists()
    assert not (repo / "made.txt").exists()
    assert len(run.of(EventType.USAGE)) == 2


def ends_by(process: subprocess.Popen[bytes], number: int) -> bool:
    """Whether a signal ends it."""
    process.send_signal(number)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    return process.returncode is not None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_amid_an_answer(number, models, assign, env):
    """It has no interrupt of its own. One may meet a library of its that swallows it: hub's ladder has further rungs."""
    models.script("key", Turn.hold())

    def stop(run: Run) -> None:
        models.wait_for(lambda seen: seen.main)
        until(lambda: ends_by(run.process, number), "it ends")

    run = drive(PROVIDER, assign(), env, on_line=at_line(b"Repo-map", stop))
    assert run.outcome.ending is not Ending.DONE
