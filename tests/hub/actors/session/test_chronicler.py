"""The chronicle is kept up with the log while the session works, and made anew after a restart."""

from __future__ import annotations

import pytest
import trio

from hub.actors.session import chronicler
from hub.domain.event import Tag
from hub.errors import Code, HubError
from hub.messages import StartRun
from tests.faults.harness import project
from tests.hub.actors.kit import daemon_of
from tests.hub.actors.session.parts import parts_of
from tests.waiting import answered


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        yield found


async def test_every_event_of_the_session_is_in_it_and_no_other(two, monkeypatch):
    """Also beyond one page of the log."""
    monkeypatch.setattr(chronicler, "_PAGE", 2)
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task="")
        for number in range(5):
            await parts.ledger.say(Tag.TEXT, f"order {number}", role="user")
        whole = await parts.evidence.chronicler.whole(record)
        assert [item.text for item in whole.words()] == [f"the user said: order {n}" for n in range(1, 5)]
        again = await parts.evidence.chronicler.whole(record)
        assert again is whole
        other = await parts.evidence.chronicler.whole(parts.record(session_id="s-2"))
        assert (other.words(), other.intent().initial_prompt) == ((), "write the files")


async def test_it_keeps_up_behind_everybodys_back_and_is_let_go_with_the_session(made, monkeypatch):
    monkeypatch.setattr(chronicler, "_LINGER", 0.01)
    made.script("demo-first", {"say": "Decision: keep it."}, {"ask": "go on?"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("session", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the agent asks")
        actor = live.daemon.app._kit
        driver = live.daemon.app.session._crew if hasattr(live.daemon.app, "session") else None
        del actor, driver
        await live.ask("session", RequestStop())


async def test_a_log_that_cannot_be_read_is_tried_again(two, monkeypatch):
    """The session works on; whoever needs the chronicle meets the same error, and says so."""
    monkeypatch.setattr(chronicler, "_AGAIN", 0.01)
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin()
        found, reader = [], parts.evidence.chronicler
        whole = type(reader).whole

        async def failing(self, record):
            found.append(record)
            if len(found) < 3:
                raise HubError(Code.UNAVAILABLE)
            return await whole(self, record)

        monkeypatch.setattr(type(reader), "whole", failing)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(reader.run)
            await answered(lambda: trio.lowlevel.checkpoint(), lambda _: len(found) >= 3)
            assert (await reader.whole(record)).last_id > 0
            nursery.cancel_scope.cancel()
