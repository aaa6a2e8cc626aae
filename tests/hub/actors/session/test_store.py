"""The session's durable memory: record, then audit log, then event; told once however often it is retold."""

import pytest

from hub.actors.session.store import SessionStore
from hub.domain.event import Tag
from hub.domain.handoff import IllegalTransition, State, Trigger
from hub.domain.retry import Wait
from hub.domain.session import Handoff, SessionState
from hub.errors import Code
from hub.io.records.sessions import session_store
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses


def on_disk(parts):
    return session_store(parts.context.places).look()


def next_life(parts):
    """The ledger of a daemon that comes after this one's death."""
    old = parts.store
    found = SessionStore(old.places, old.outbox, old.events)
    assert found.load() is None
    return found


def moves(parts):
    return [(e["data"]["from"], e["data"]["to"]) for e in parts.audited("handoff")]


async def test_a_question_goes_with_the_agent_that_asked_it(two, monkeypatch):
    """Bug: the next one was shown as waiting for an answer before it had begun, and who gave one was refused."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.begin(dispatch_id="d-1", needs_input=True)
        assert (await parts.store.update(native_id="n-1")).needs_input
        assert not (await parts.store.update(dispatch_id="")).needs_input
        await parts.store.update(dispatch_id="d-2")
        await parts.store.update(needs_input=True)
        assert not (await parts.store.advance(Trigger.MANUAL_HANDOFF, dispatch_id="d-3")).needs_input


async def test_a_move_is_on_disk_audited_and_told(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        assert parts.audited("session_started") == [], "the driver tells, once secrets can be found"
        await parts.store.publish()
        assert on_disk(parts) == parts.store.now
        moved = await parts.store.advance(
            Trigger.MANUAL_HANDOFF,
            handoff_id="h-1",
            handoff=Handoff(trigger="manual_handoff", reason="asked for"),
        )
        assert on_disk(parts) == moved == parts.store.now
        assert (moved.state, moved.previous, moved.moved_by) == (
            State.PAUSING,
            State.RUNNING,
            "manual_handoff",
        )
        assert len(parts.audited("session_started")) == 1
        assert moves(parts) == [("RUNNING", "PAUSING")]
        assert (await parts.told())[-2:] == [
            "session started: write the files",
            "RUNNING -> PAUSING (asked for)",
        ]
        assert not parts.store.pending


async def test_every_write_counts_one_up_and_only_a_move_is_news(two, monkeypatch):
    """What is told of a move is told under the number of its write: an update in between changes no number."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        await parts.store.publish()
        first = parts.store.now
        updated = await parts.store.update(native_id="n-1")
        assert (updated.seq, updated.moved_seq) == (first.seq + 1, first.moved_seq)
        assert not parts.store.pending
        moved = await parts.store.advance(Trigger.FAILURE, handoff_id="h-1")
        assert moved.seq == moved.moved_seq == updated.seq + 1


async def test_what_was_told_is_not_told_again_in_the_next_life(two, monkeypatch):
    """Nobody knows after a crash what was told: so all is told again, under keys the logs know."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        await parts.store.advance(Trigger.MANUAL_HANDOFF, handoff_id="h-1")
        audited, told = parts.audited(), await parts.told()
        again = next_life(parts)
        assert again.now == parts.store.now
        assert again.pending
        await again.publish()
        assert not again.pending
        assert (parts.audited(), await parts.told()) == (audited, told)


async def test_the_end_is_told_once(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        await parts.store.update(session_state=SessionState.COMPLETED, verified=True, snapshot_sha="f" * 40)
        assert parts.store.pending
        for store in (parts.store, next_life(parts)):
            await store.publish()
        [end] = parts.audited("session_ended")
        assert (end["data"]["state"], end["data"]["verified"]) == ("completed", True)
        assert (await parts.told()).count("session completed, verified") == 1


@pytest.mark.parametrize(("fault", "code"), [("enospc", Code.NO_SPACE), ("eio", Code.READ_ONLY)])
async def test_a_record_that_cannot_be_written_changes_nothing(two, monkeypatch, arm, fault, code):
    """F6: intent before effect. No record, no move: not in memory, not on disk, not in a log."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        before, file, told = parts.store.now, parts.context.places.fsm.read_bytes(), await parts.told()
        arm(f"fsm.PAUSING.pre_write={fault}@1")
        with refuses(code):
            await parts.store.advance(Trigger.MANUAL_HANDOFF, handoff_id="h-1")
        assert (parts.store.now, parts.context.places.fsm.read_bytes()) == (before, file)
        assert (moves(parts), await parts.told()) == ([], told)
        assert (await parts.store.advance(Trigger.MANUAL_HANDOFF, handoff_id="h-1")).seq == before.seq + 1


@pytest.mark.parametrize("log", ["audit", "events"])
async def test_a_move_whose_telling_fails_is_owed(two, monkeypatch, arm, log):
    """The record stands, so its effect must wait until both logs have it; then each has it once."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        arm(f"{log}.append=enospc")
        moved = await parts.store.advance(Trigger.MANUAL_HANDOFF, handoff_id="h-1")
        assert on_disk(parts) == moved
        assert parts.store.pending
        arm("")
        assert "RUNNING -> PAUSING" not in await parts.told()
        await parts.store.publish()
        assert not parts.store.pending
        assert moves(parts) == [("RUNNING", "PAUSING")]
        assert (await parts.told()).count("RUNNING -> PAUSING") == 1


WAIT = Wait(1e10 + 0.5, "the usage limit is reached.")


async def waits_told(parts):
    return [msg.partition("; waiting ")[0] for msg in await parts.told() if msg.startswith("the usage limit")]


@pytest.mark.parametrize("session_state", [SessionState.WAITING, SessionState.STARTING])
async def test_a_wait_is_told_once_however_often_it_is_retold(two, monkeypatch, session_state):
    """Also the one that a session begins with. The same instant waited for again is another wait, and told again."""
    async with parts_of(two, monkeypatch) as parts:
        begins = session_state is SessionState.WAITING
        await parts.store.begin(parts.record(session_state=session_state, wait=WAIT if begins else None))
        await parts.store.publish()
        if not begins:
            await parts.store.wait(WAIT)
        await parts.store.update(paused=True)
        assert not parts.store.pending
        await next_life(parts).publish()
        assert await waits_told(parts) == ["the usage limit is reached"]
        [until] = [event.meta["until"] for event in await parts.live.events() if "until" in event.meta]
        assert until == parts.store.now.wait_until, "one instant, on record and in the log"
        await parts.store.update(wait=None)
        await parts.store.wait(WAIT)
        assert len(await waits_told(parts)) == 2


async def test_a_wait_whose_line_was_lost_is_told_in_the_next_life(two, monkeypatch, arm):
    """The record said until when it waits, and the log never did: a crash, or a full disk, had come in between."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        await parts.store.publish()
        arm("events.append=enospc")
        await parts.store.wait(WAIT)
        assert parts.store.pending
        arm("")
        assert await waits_told(parts) == []
        for store in (next_life(parts), parts.store):
            await store.publish()
        assert len(await waits_told(parts)) == 1


async def test_an_illegal_move_is_refused_before_anything_is_written(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        file = parts.context.places.fsm.read_bytes()
        with pytest.raises(IllegalTransition):
            await parts.store.advance(Trigger.RECEIVER_HEARTBEAT)
        assert parts.context.places.fsm.read_bytes() == file
        assert moves(parts) == []


async def test_where_there_is_no_record_there_is_no_session(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        assert parts.store.load() is None
        assert not parts.store.pending
        with refuses(Code.NO_ACTIVE_SESSION):
            _ = parts.store.now


async def test_an_event_with_a_source_is_logged_once_and_one_without_each_time(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        say = parts.store.say
        assert await say(Tag.SYSTEM, "once", source="k-1") == await say(Tag.SYSTEM, "once", source="k-1")
        assert await say(Tag.SYSTEM, "each time") != await say(Tag.SYSTEM, "each time")
        told = await parts.told()
        assert (told.count("once"), told.count("each time")) == (1, 2)


async def test_a_note_is_audited_once_under_its_key(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        await parts.store.begin(parts.record())
        for _ in range(2):
            await parts.store.note("snapshot", "key-1", sha="f" * 40)
        [entry] = parts.audited("snapshot")
        assert (entry["data"]["sessionId"], entry["data"]["sha"]) == ("s-1", "f" * 40)
