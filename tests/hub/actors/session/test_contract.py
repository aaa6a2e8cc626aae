"""A contract's intent is drawn from the graph, and from the log where the graph is not to be had: it is the same."""

import sqlite3

import pytest

from hub.actors.session.contract import IntentSource, intent_of
from hub.domain.event import EventType, Tag
from hub.io.events.store import NewEvent
from hub.messages.events import EventAppend
from hub.messages.knowledge import GetGraph
from tests.hub.actors.session.parts import parts_of
from tests.trees import restarted
from tests.waiting import answered

TASK = "write the files. Never touch the schema."
DEEDS = (
    (EventType.SYSTEM, "init", {"skills": ["lint"], "mcps": ["web"], "model": "m-1"}),
    (EventType.TEXT, "Decision: keep the cache.", {}),
    (EventType.TEXT, "Plan:\n1. parse\n2. print", {}),
    (EventType.TOOL_USE, "Edit", {"tool": "Edit", "toolId": "c", "path": "src/a.py", "input": "x = 1"}),
    (EventType.TOOL_RESULT, "ok", {"toolId": "c"}),
    (EventType.TOOL_USE, "Bash", {"tool": "Bash", "toolId": "d", "command": "make test"}),
    (EventType.TOOL_RESULT, "boom", {"toolId": "d", "exitCode": 2}),
    (EventType.TEXT, "Step 1 is done.", {}),
    (EventType.TEXT, "Next: mend the printer.", {}),
)


async def work(parts, deeds=DEEDS):
    """What an agent does, on the log."""
    for kind, text, meta in deeds:
        body = {"sessionId": "s-1", "dispatchId": "d-1", "type": str(kind), **meta}
        tag = kind if kind in set(Tag) else Tag.TEXT
        await parts.live.ask("events", EventAppend([NewEvent(str(tag), text, body, 1)]))


async def compared(parts, record):
    """Where the intent came from; it is the one that the log tells."""
    intent, source = await intent_of(parts.context, parts.chronicler, record)
    assert intent == (await parts.chronicler.whole(record)).intent()
    assert "keep the cache." in str(intent.decisions)
    assert intent.next_action.text == "mend the printer."
    return source


async def from_graph(parts, record):
    """Once the graph has come back; until then the log stands in for it."""
    await answered(lambda: compared(parts, record), lambda source: source is IntentSource.GRAPH)


async def test_the_intent_is_drawn_from_the_graph_as_of_the_logs_last_event(two, monkeypatch):
    """Specification: the intent block is filled live from graph nodes. What was said last is in it."""
    monkeypatch.setattr("hub.actors.session.contract._GRAPH_PATIENCE", 60.0)
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task=TASK)
        await work(parts)
        await from_graph(parts, record)
        await work(parts, [(EventType.TEXT, "Decision: not the database.", {})])
        await parts.live.ask("knowledge", GetGraph())
        intent, source = await intent_of(parts.context, parts.chronicler, record)
        assert (intent.decisions[-1].text, source) == ("not the database.", IntentSource.GRAPH)
        assert intent == (await parts.chronicler.whole(record)).intent()


async def test_a_task_that_the_log_tells_otherwise_is_folded_from_the_log(two, monkeypatch):
    """The log tells a long task only in part, and a secret that hub has learnt since as it was: the contract is exact."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task=TASK + " x" * 16_000)
        await work(parts)
        assert await compared(parts, record) is IntentSource.LOG


async def test_a_graph_that_another_program_has_locked_is_not_waited_for(two, monkeypatch):
    """The lock is held until the contract's intent is there."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task=TASK)
        await parts.live.ask("knowledge", GetGraph())
        other = sqlite3.connect(parts.context.places.graph_db, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        try:
            await work(parts)
            assert await compared(parts, record) is IntentSource.LOG
        finally:
            other.close()
        await from_graph(parts, record)


async def test_a_graph_that_is_damaged_costs_nothing_of_the_contract(two, monkeypatch):
    """It is made anew from the log, and drawn from again."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task=TASK)
        await work(parts)
        await from_graph(parts, record)
        for suffix in ("", "-wal"):
            file = parts.context.places.graph_db.with_name("graph.db" + suffix)
            with file.open(
                "r+b"
            ) as stream:  # all of it: the newest form of a page may stand anywhere in the WAL
                stream.write(b"\xff" * file.stat().st_size)
        ref = parts.context.knowledge  # reads the damage: what it had open may stand in memory, whole
        await restarted(ref, lambda: ref.try_cast("no message of its own"))
        await work(parts, [(EventType.TEXT, "Decision: go on.", {})])
        await compared(parts, record)
        await from_graph(parts, record)
        assert list(parts.context.places.hub_dir.glob("graph.db.corrupt-*"))


@pytest.mark.parametrize("when", ["before", "between", "after"])
async def test_the_graphs_actor_may_die_at_any_time(two, monkeypatch, when):
    """Killed before, between and after what the agent does: what it remembers goes on where the graph is."""
    async with parts_of(two, monkeypatch) as parts:
        record = await parts.begin(task=TASK)
        await parts.live.ask("knowledge", GetGraph())
        ref = parts.context.knowledge
        for part in ("before", "between", "after"):
            if part == when:
                await restarted(ref, lambda: ref.try_cast("no message of its own"))
            await work(parts, {"before": (), "between": DEEDS[:6], "after": DEEDS[6:]}[part])
        await compared(parts, record)
        await from_graph(parts, record)
