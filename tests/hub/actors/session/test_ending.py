"""The end of a session: judged by commands, stopped, or failed in words; and every byte is kept."""

from pathlib import Path

import attrs
import pytest

from hub.domain.failure import ErrorNote
from hub.domain.handoff import State, Trigger
from hub.domain.result.gate import correction
from hub.domain.session import SessionState
from hub.errors import Code, HubError
from tests.faults.harness import git
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses


def work_in(record, text="made\n"):
    """What an agent left in the worktree."""
    (Path(record.worktree) / "made.txt").write_text(text)


def kept(two, record):
    """The file as the session's last snapshot has it."""
    return git(two.root, "show", f"{record.snapshot_sha}:made.txt")


async def test_what_the_commands_accept_is_completed_and_verified(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("test -f made.txt",))
        work_in(record)
        await parts.driver.ending.judge(record)
        ended = parts.store.now
        assert (ended.session_state, ended.verified, bool(ended.ended_at)) == (
            SessionState.COMPLETED,
            True,
            True,
        )
        assert kept(two, ended) == "made"
        [end] = parts.audited("session_ended")
        assert end["data"]["snapshot"] == ended.snapshot_sha


async def test_without_commands_nobodys_word_makes_it_verified(two, monkeypatch):
    """An agent may say what it likes."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.driver.ending.judge(await parts.begin())
        assert (parts.store.now.session_state, parts.store.now.verified) == (SessionState.COMPLETED, False)


async def test_what_they_refuse_is_given_back_to_the_same_agent_with_the_output(two, monkeypatch):
    """A failing verify ended everything, or cost a handoff, where the agent could have mended it."""
    secret = "sk-ant-api03-" + "aB3dE5fG7h" * 8
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=(f"echo broken {secret}; false", "true"), native_id="n")
        await parts.driver.ending.judge(record)
        now = parts.store.now
        assert (now.state, now.session_state, now.dispatch_id) == (State.RUNNING, SessionState.RUNNING, "")
        assert (now.repairs, now.provider, now.native_id) == (1, record.provider, "n")
        assert "(exit 1)\nbroken " in now.refused
        assert secret not in now.refused
        assert "$ true" not in now.refused
        assert [entry["data"]["attempt"] for entry in parts.audited("repair")] == [1]
        assert "the acceptance commands failed; back to demo-first (try 1 of 2)" in await parts.told()
        given = parts.fresh(attrs.evolve(now, attempt=2, dispatch_id="d-2"))
        assert given.prompt.startswith(correction(now.refused))
        assert given.resume_id == "n"
        alone = parts.fresh(attrs.evolve(now, attempt=2, dispatch_id="d-2", native_id=""))
        assert "The task was:\n\n" in alone.prompt, "who does not remember it is told the task again"


async def test_what_they_refuse_goes_to_another_with_the_reason_on_record(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.driver.ending.judge(await parts.begin(verify=("echo broken; false",), repairs=2))
        record = parts.store.now
        assert (record.state, record.session_state) == (State.PAUSING, SessionState.HANDING_OFF)
        assert [(a.provider, a.failure) for a in record.tried] == [("demo-first", "verify_failed")]
        assert "verify failed (exit 1): echo broken; false" in await parts.told()


@pytest.mark.parametrize(
    "fields", [{"max_handoffs": 0}, {"chain": ("demo-first",)}], ids=["no more", "nobody"]
)
async def test_where_nobody_is_left_the_failure_is_told_with_the_output(two, monkeypatch, fields):
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(verify=("echo broken; false",), repairs=2, **fields)
        with refuses(Code.VERIFY_FAILED, "broken"):
            await parts.driver.ending.judge(record)
        assert (parts.store.now.state, parts.store.now.verified) == (State.RUNNING, False)


async def test_a_stop_keeps_what_was_done(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(dispatch_id="")
        work_in(record)
        await parts.driver.ending.stopped(record, "the user")
        assert parts.store.now.session_state is SessionState.STOPPED
        assert kept(two, parts.store.now) == "made"


async def test_a_failure_has_its_code_its_hint_and_every_byte(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(dispatch_id="")
        work_in(record)
        await parts.driver.ending.failed(record, HubError(Code.AGENT_EXITED, "It is gone."))
        ended = parts.store.now
        assert ended.session_state is SessionState.FAILED
        step = f"Go on with its work in a new session: hub run --continue {ended.session_id}"
        assert ended.error == ErrorNote(Code.AGENT_EXITED, "It is gone.", step)
        assert kept(two, ended) == "made"
        [told] = [event for event in await parts.live.events() if event.tag == "error"]
        assert (told.msg, told.meta["hint"]) == ("It is gone.", step), "a next step that can be typed"


async def test_an_end_within_a_handoff_goes_back_to_running(two, monkeypatch):
    """I5: no session stays in between."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.begin(dispatch_id="")
        record = await parts.store.advance(Trigger.MANUAL_HANDOFF, handoff_id="h-1")
        await parts.driver.ending.stopped(record, "the user")
        assert (parts.store.now.state, parts.store.now.session_state) == (
            State.RUNNING,
            SessionState.STOPPED,
        )
        assert len(parts.audited("session_ended")) == 1


async def test_a_full_disk_at_the_end_is_waited_out(two, monkeypatch, arm):
    """F6: the end is no end before it is on record; it may be tried again, and is told once."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(dispatch_id="")
        arm("audit.append=enospc")
        with refuses(Code.NO_SPACE):
            await parts.driver.ending.stopped(record, "the user")
        arm("")
        await parts.driver.ending.stopped(parts.store.now, "the user")
        assert parts.store.now.session_state is SessionState.STOPPED
        assert len(parts.audited("session_ended")) == 1


async def test_a_worktree_that_is_gone_does_not_keep_the_session_from_ending(two, monkeypatch):
    """X5: said in words; what the branch has stays."""
    import shutil

    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(dispatch_id="")
        shutil.rmtree(record.worktree)
        await parts.driver.ending.stopped(record, "the user")
        assert parts.store.now.session_state is SessionState.STOPPED
        codes = [r.meta.get("code") for r in await parts.live.events()]
        assert "worktree_missing" in codes
