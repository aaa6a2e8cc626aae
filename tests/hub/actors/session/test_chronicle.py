"""The chronicle is kept up with the log while the session works, and made anew after a restart."""

import trio
import trio.testing

from hub.actors.session import chronicle
from hub.domain.event import Tag
from hub.domain.session import SessionState
from hub.errors import Code, HubError
from tests.hub.actors.session.parts import parts_of
from tests.waiting import PATIENCE, answered


async def test_every_event_of_the_session_is_in_it_and_no_other(two, monkeypatch):
    """Also beyond one page of the log."""
    monkeypatch.setattr(chronicle, "_PAGE", 2)
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task="")
        for number in range(5):
            await parts.store.say(Tag.TEXT, f"order {number}", role="user")
        whole = await parts.chronicler.whole(record)
        assert [item.text for item in whole.words()] == [f"the user said: order {n}" for n in range(1, 5)]
        again = await parts.chronicler.whole(record)
        assert again is whole
        other = await parts.chronicler.whole(parts.record(session_id="s-2"))
        assert (other.words(), other.intent().initial_prompt) == ((), "write the files")


async def test_it_keeps_up_behind_everybodys_back_and_is_let_go_with_the_session(two, monkeypatch):
    """A handoff finds it read; between sessions it takes no memory."""
    monkeypatch.setattr(chronicle, "_LINGER", 0.01)
    async with parts_of(two, monkeypatch) as parts:
        await parts.begin()
        reader = parts.chronicler
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.run)
            for number in range(3):
                at = await parts.store.say(Tag.TEXT, f"Decision: {number}", type="text")
                parts.context.shared.notify_all()
                await seen(lambda at=at: reader._chronicle is not None and reader._chronicle.last_id >= at)
            await trio.testing.wait_all_tasks_blocked(0.1)
            await parts.store.update(session_state=SessionState.STOPPED)
            parts.context.shared.notify_all()
            await seen(lambda: reader._chronicle is None)
            nursery.cancel_scope.cancel()


async def seen(condition):
    async def look():
        return condition()

    await answered(look, bool)


async def test_a_log_that_cannot_be_read_is_tried_again(two, monkeypatch):
    """The session works on; whoever needs the chronicle meets the same error, and says so."""
    monkeypatch.setattr(chronicle, "_AGAIN", 0.01)
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin()
        await parts.store.publish()
        found, reader = [], parts.chronicler
        whole = type(reader).whole

        async def failing(self, record):
            found.append(record)
            if len(found) < 3:
                raise HubError(Code.UNAVAILABLE)
            return await whole(self, record)

        monkeypatch.setattr(type(reader), "whole", failing)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.run)
            await seen(lambda: len(found) >= 3)
            assert (await reader.whole(record)).last_id > 0
            nursery.cancel_scope.cancel()


async def test_a_mistake_in_reading_ends_no_daemon(two, monkeypatch, caplog):
    """The handoff that needs the chronicle meets it, where a session can be ended for it."""
    async with parts_of(two, monkeypatch) as parts:
        await parts.begin()
        reader = parts.chronicler

        async def broken(self, record):
            raise ZeroDivisionError

        monkeypatch.setattr(type(reader), "whole", broken)
        with trio.fail_after(PATIENCE):
            await reader.run()
        assert "cannot be read" in caplog.text
