"""The knowledge actor beside a real event log: nothing missed, nothing twice, nobody waits for it."""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import pytest
import trio

from hub.actors.audit import AuditWriter
from hub.actors.events import EventLog
from hub.actors.knowledge.actor import Knowledge
from hub.domain.event import EventType, Tag
from hub.domain.graph.activity import ActivityFold
from hub.errors import Code, HubError
from hub.io.events.store import NewEvent
from hub.io.graph.store import GraphStore
from hub.io.project.places import Places
from hub.message_map import slot_of
from hub.messages.events import EventAppend, EventsSince
from hub.messages.knowledge import DrawIntent, GetGraph, GetGraphDetail, GetGraphNodes, IndexCode, Retrieve
from supervisors import Slot, SupervisorSpec, actor_spec
from tests.hub.actors.knowledge.test_indexer import hiding
from tests.refusals import refuses
from tests.trees import restarted, running
from tests.waiting import PATIENCE, answered

CALL = 60.0


@attrs.define
class Bench:
    """The actor and the log it follows."""

    places: Places
    knowledge: Slot
    events: Slot
    count: int = 0
    now: int = 1000
    """Milliseconds; the actor was started at 1000."""

    async def log(self, tag, msg="", session="s-1", **meta):
        self.count += 1
        body, at = {"sessionId": session, **meta}, self.now + self.count
        event = NewEvent(str(tag), msg, body, at, f"x-{os.getpid()}", self.count)
        (number,) = await self.events.ref.call(EventAppend([event]), timeout=CALL)
        return number

    async def began(self, session="s-1"):
        return await self.log(
            Tag.SYSTEM, "session started", session, taskId="t-1", task="Do it. Never touch b."
        )

    async def says(self, text):
        return await self.log(Tag.TEXT, text, type=str(EventType.TEXT), dispatchId="d-1")

    async def ask(self, message):
        return await self.knowledge.ref.call(message, timeout=CALL)

    async def until_read(self, number):
        return await answered(lambda: self.ask(GetGraph()), lambda found: found.event_id >= number)

    async def until_scanned(self):
        return await answered(lambda: self.ask(GetGraph()), lambda found: found.state in {"ready", "failed"})

    async def texts(self, kind="decision"):
        found = await self.ask(GetGraphDetail(1000, kind))
        return sorted(node.payload.get("text", "") for node in found.nodes)

    async def told(self):
        return [r.msg for r in await self.events.ref.call(EventsSince(0, 10_000), timeout=CALL)]


def repository(root: Path) -> None:
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", root], check=True)
    (root / "a.py").write_text("def retry_delay(): ...\n")
    (root / "ignored.py").write_text("def never(): ...\n")
    (root / ".gitignore").write_text("ignored.py\n")


def overwrite(file: Path) -> None:
    """Damage in place, as a disk does: nobody's mapping of the file is cut off."""
    with file.open("r+b") as stream:
        stream.write(b"\xff" * file.stat().st_size)


@asynccontextmanager
async def bench(tmp_path, *rules):
    places = Places(tmp_path / "repo", tmp_path / "state")
    if not places.root.exists():
        repository(places.root)
    places.hub_dir.mkdir(exist_ok=True, mode=0o700)
    audit, events, knowledge = slot_of("audit"), slot_of("events"), slot_of("knowledge")
    children = [
        actor_spec("audit", lambda: AuditWriter(places, b"k" * 32, print), audit),
        actor_spec("events", lambda: EventLog(places, audit.ref, lambda: 1.0), events),
        actor_spec(
            "knowledge",
            lambda: Knowledge(places, events.ref, lambda: 1.0, hiding(*rules)),
            knowledge,
        ),
    ]
    async with running(SupervisorSpec(children=children)):
        yield Bench(places, knowledge, events)


async def test_a_new_graph_is_empty_and_says_so(tmp_path):
    async with bench(tmp_path) as it:
        found = await it.ask(GetGraph())
        assert (found.nodes, found.files, found.state, found.scanned_at) == (0, 0, "empty", None)
        assert await it.ask(Retrieve("anything", 5)) == []
        assert await it.ask(GetGraphNodes()) == 0


async def test_what_agents_do_is_in_the_graph(tmp_path):
    async with bench(tmp_path) as it:
        await it.began()
        number = await it.says("Decision: keep the cache.")
        await it.until_read(number)
        assert await it.texts() == ["keep the cache."]
        assert await it.texts("constraint") == ["Never touch b."]
        await it.until_scanned()
        assert await it.ask(GetGraphNodes()) == 5, "the task, two facts, a module and its symbol"


async def test_a_session_that_begins_has_the_code_indexed(tmp_path):
    """Specification: a code scan at session start. What git ignores is no part of it."""
    async with bench(tmp_path) as it:
        await it.until_read(await it.began())
        found = await it.until_scanned()
        assert (found.state, found.files, found.scanned_at) == (
            "ready",
            1,
            "1970-01-01T00:00:01.000Z",
        )
        (chunk,) = await it.ask(Retrieve("retryDelay", 5))
        assert (chunk.path, chunk.stale) == ("a.py", False)
        assert await it.ask(Retrieve("never", 5)) == []
        (it.places.root / "a.py").write_text("def other(): ...  # longer\n")
        (chunk,) = await it.ask(Retrieve("retryDelay", 5))
        assert chunk.stale is True


async def test_a_session_of_the_past_has_nothing_indexed(tmp_path):
    """A daemon that starts reads the log, not the code."""
    async with bench(tmp_path) as it:
        it.now = 0
        found = await it.until_read(await it.began())
        assert found.state == "empty"


async def test_a_scan_that_is_asked_for_is_told_of(tmp_path):
    async with bench(tmp_path) as it:
        assert (await it.ask(IndexCode())).state == "scanning"
        assert (await it.until_scanned()).state == "ready"
        told = await answered(it.told, lambda lines: any("indexed the code" in line for line in lines))
        assert [line for line in told if "index" in line] == [
            "indexed the code: 1 files, 0.0 MB new or changed"
        ]
        (it.places.root / "b.py").write_text("def added(): ...\n")
        await it.ask(IndexCode())
        assert (await it.until_scanned()).files == 2
        assert [c.path for c in await it.ask(Retrieve("added", 5))] == ["b.py"]


@pytest.mark.parametrize("ask", ["a scan", "a session"])
async def test_who_asks_while_the_code_is_read_finds_it_as_it_was_then(tmp_path, ask):
    """A file that the run had passed already was once found as it was before."""
    seen = []

    def scrub(text):
        if "last" in text and not seen:
            seen.append(text)
            (it.places.root / "a.py").write_text("def late(): ...  # longer\n")
            trio.from_thread.run(asks[ask])
        return text

    async def scan():
        await it.ask(IndexCode())

    async def session():
        await it.until_read(await it.began("s-2"))
        await it.until_read(await it.says("What is read is heard before more is read."))

    asks = {"a scan": scan, "a session": session}
    async with bench(tmp_path, scrub) as it:
        (it.places.root / "b.py").write_text("def last(): ...\n")
        await it.ask(IndexCode())
        assert (await it.until_scanned()).scan.error == ""
        assert [c.path for c in await it.ask(Retrieve("late", 5))] == ["a.py"]


async def test_a_scan_that_fails_says_why_and_the_next_one_works(tmp_path):
    async with bench(tmp_path) as it:
        git = it.places.root / ".git"
        git.rename(tmp_path / "git")
        await it.ask(IndexCode())
        found = await it.until_scanned()
        assert found.state == "failed"
        assert found.scan.error
        (tmp_path / "git").rename(git)
        await it.ask(IndexCode())
        assert (await it.until_scanned()).state == "ready"


async def test_a_death_misses_nothing_and_doubles_nothing(tmp_path):
    """Killed with a call under way: its result still finds it, and no touch counts twice."""
    async with bench(tmp_path) as it:
        await it.began()
        call = {
            "type": "tool_use",
            "tool": "Edit",
            "toolId": "c",
            "dispatchId": "d-1",
            "path": "a.py",
            "command": "x",
        }
        await it.until_read(await it.log(Tag.TOOL_USE, "Edit", **call))
        await restarted(it.knowledge.ref, lambda: it.knowledge.ref.try_cast("no message of its own"))
        result = {"type": "tool_result", "toolId": "c", "dispatchId": "d-1", "exitCode": 3}
        await it.until_read(await it.log(Tag.TOOL_RESULT, "boom", **result))
        assert await it.texts("failure") == ["x ended with exit status 3: boom"]
        (file,) = (await it.ask(GetGraphDetail(10, "file"))).nodes
        assert (file.payload["path"], file.weight) == ("a.py", 1)
    async with bench(tmp_path) as it:
        found = await it.until_read(3)
        (file,) = (await it.ask(GetGraphDetail(10, "file"))).nodes
        assert (file.weight, found.event_id) == (1, 3), await it.told()


async def test_an_intent_is_drawn_as_of_an_event_without_the_readers_linger(tmp_path, monkeypatch):
    """A handoff asks as soon as the last word is on the log: what came by then is in, in one go or several."""
    monkeypatch.setattr("hub.actors.knowledge.follower._BREATH", 3600)
    monkeypatch.setattr("hub.actors.common.follower._PAGE", 3)
    async with bench(tmp_path) as it:
        assert await it.ask(DrawIntent("s-1", 0)) is None
        await it.began()
        for number in range(1, 9):
            last = await it.says(f"Decision: take {number}.")
            if number % 4 == 0:
                found = await it.ask(DrawIntent("s-1", last))
                assert [item.text for item in found.decisions] == [f"take {n}." for n in range(1, number + 1)]
        assert found.constraints[0].text == "Never touch b."
        assert await it.ask(DrawIntent("s-2", last)) is None, "nobody knows it"


async def test_a_long_list_of_events_gives_everybody_else_a_turn_and_is_read_whole(tmp_path, monkeypatch):
    """What several agents say at once comes in lists of hundreds: in one turn that took 20 ms of everybody's time.

    Somebody who asks ends the reader's breath.
    """
    monkeypatch.setattr("hub.actors.knowledge.follower._BREATH", 3600)
    fed, real = [0], ActivityFold.feed

    def counted(self, record):
        fed[0] += 1
        return real(self, record)

    monkeypatch.setattr(ActivityFold, "feed", counted)
    async with bench(tmp_path) as it, trio.open_nursery() as nursery:
        nursery.cancel_scope.deadline = trio.current_time() + PATIENCE
        await it.began()
        meta = {"sessionId": "s-1", "type": "text", "dispatchId": "d-1"}
        many = [NewEvent("text", f"Decision: take {n % 9}.", meta, 1, "y", n) for n in range(400)]
        last = (await it.events.ref.call(EventAppend(many), timeout=CALL))[-1]
        nursery.start_soon(it.ask, DrawIntent("s-1", last))
        most, seen = 0, fed[0]
        while fed[0] < 401:
            await trio.lowlevel.checkpoint()
            most, seen = max(most, fed[0] - seen), fed[0]
        found = await it.ask(DrawIntent("s-1", last))
    assert most <= 64
    assert len(found.decisions) == 9


async def test_a_database_that_is_opened_while_the_actor_stops_is_closed(tmp_path, monkeypatch):
    """It was looked for before it was there: the connections stayed open, one pair for each restart."""
    begun, goes_on, made = threading.Event(), threading.Event(), []
    plain, stopped = GraphStore.open, Knowledge.stopped

    def opened(path):
        begun.set()
        assert goes_on.wait(PATIENCE)
        made.append(plain(path))
        return made[0]

    async def leaves(self, end):
        await stopped(self, end)
        goes_on.set()

    monkeypatch.setattr(GraphStore, "open", opened)
    monkeypatch.setattr(Knowledge, "stopped", leaves)
    async with bench(tmp_path):
        await trio.to_thread.run_sync(begun.wait, PATIENCE)
    with refuses(Code.UNAVAILABLE):
        made[0].read(lambda db: db)


async def test_an_intent_that_cannot_be_drawn_in_time_is_none(tmp_path, monkeypatch):
    """Whoever asked has the log."""
    monkeypatch.setattr("hub.actors.knowledge.actor._DRAW_PATIENCE", 0.01)
    async with bench(tmp_path) as it:
        last = await it.began()
        assert await it.ask(DrawIntent("s-1", last + 1)) is None


async def test_a_log_that_begins_anew_is_read_from_its_beginning(tmp_path):
    async with bench(tmp_path) as it:
        await it.began()
        await it.says("Decision: one.")
        await it.until_read(await it.says("Decision: two."))
    for file in (tmp_path / "repo/.hub").glob("events*"):
        file.unlink()
    async with bench(tmp_path) as it:
        await it.until_read(await it.says("Decision: three."))
        assert await it.texts() == ["one.", "three.", "two."]


async def test_a_database_found_damaged_is_made_anew_from_the_log(tmp_path):
    """Nothing is lost: every fact comes back, and the user is told."""
    path = tmp_path / "repo/.hub/graph.db"
    async with bench(tmp_path) as it:
        await it.began()
        await it.until_read(await it.says("Decision: keep."))
    overwrite(path)
    async with bench(tmp_path) as it:
        await it.until_read(2)
        assert await it.texts() == ["keep."]
        await answered(it.told, lambda lines: any("made anew" in line for line in lines))
    assert list(path.parent.glob("graph.db.corrupt-*"))


async def test_a_database_damaged_in_use_is_made_anew_from_the_log(tmp_path):
    """Whoever asks first may be told so; then every fact is there again."""
    path = tmp_path / "repo/.hub/graph.db"
    async with bench(tmp_path) as it:
        await it.began()
        await it.until_read(await it.says("Decision: keep."))
        await it.until_scanned()
        for suffix in ("", "-wal"):
            overwrite(path.with_name(path.name + suffix))

        async def asked():
            try:
                return await it.texts()
            except HubError as error:
                return [str(error.code)]

        seen = await answered(
            asked, lambda found: found == ["keep."] or found[:1] not in ([], [Code.STATE_CORRUPT])
        )
        assert seen == ["keep."]
    assert list(path.parent.glob("graph.db.corrupt-*"))


async def test_without_its_database_it_answers_why_and_comes_back(tmp_path, monkeypatch):
    """A folder in the way keeps no session from its work; it is looked at again later."""
    monkeypatch.setattr("hub.actors.knowledge.actor._AGAIN", 0.01)
    places = Places(tmp_path / "repo", tmp_path / "state")
    repository(places.root)
    places.hub_dir.mkdir(mode=0o700)
    places.graph_db.mkdir()
    async with bench(tmp_path) as it:
        assert await it.ask(GetGraphNodes()) == 0
        for question in (GetGraph(), DrawIntent("s-1", 0)):
            with pytest.raises(HubError) as caught:
                await it.ask(question)
            assert str(places.graph_db) in caught.value.detail
        places.graph_db.rmdir()

        async def state():
            try:
                return (await it.ask(GetGraph())).state
            except HubError:
                return ""

        await answered(state, lambda found: found == "empty")


async def test_what_todays_rules_have_been_through_is_not_looked_at_again(tmp_path):
    """To look at each answer again took a fifth of the time of a question. What a reader cannot see may split a secret."""
    looked, rules = [], ["rules"]

    def hide(text):
        looked.append(text)
        return text.replace("alpha", "HIDDEN")

    async with bench(tmp_path, hide, lambda: rules[-1]) as it:
        (it.places.root / "alphabet.py").write_text("plain = 1\n")
        (it.places.root / "split.py").write_text("unseen = 'al\u200bpha'\n")
        await it.began()
        await it.until_scanned()
        looked.clear()
        (found,) = await it.ask(Retrieve("plain", 5))
        assert (looked, found.path, found.body) == (["alphabet.py"], "HIDDENbet.py", "plain = 1")
        (found,) = await it.ask(Retrieve("unseen", 5))
        assert found.body == "unseen = 'HIDDEN'"
        looked.clear()
        rules.append("others")
        await it.ask(Retrieve("plain", 5))
        assert looked == ["alphabet.py\nplain = 1"]


async def test_a_path_that_holds_a_secret_is_hidden_in_the_name_of_its_chunks_too(tmp_path):
    """The name was told as it stands in the index: `alpha.py:1-3` beside a hidden path."""

    def hide(text):
        return text.replace("alpha", "HIDDEN")

    async with bench(tmp_path, hide) as it:
        (it.places.root / "alpha.py").write_text("unheard = 1\n")
        await it.began()
        await it.until_scanned()
        (found,) = await it.ask(Retrieve("unheard", 5))
        assert (found.id, found.path) == ("HIDDEN.py:1-1", "HIDDEN.py")
