"""Going on with the work of a session that has ended: its tree, and what was asked for before."""

from __future__ import annotations

from functools import partial

import pytest

from hub.errors import Code, HubError
from tests.faults import harness
from tests.hub.actors.kit import daemon_of
from tests.waiting import answered

WRITES = ({"write": {"path": "a.txt", "text": "one\n"}}, {"done": "finished"})


@pytest.fixture
def work(tmp_path):
    with harness.project(tmp_path) as project:
        project.script("demo-first", *WRITES)
        project.configure()
        yield project


async def completed(live, session):
    ask = partial(live.get, "/api/status", {"sessionId": session})
    await answered(ask, lambda status: status["sessionState"] == "completed")


async def test_it_begins_with_the_tree_that_the_other_left(work, monkeypatch):
    async with daemon_of(work, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "one"}))["sessionId"]
        await completed(live, first)
        work.script("demo-first", {"append": {"path": "a.txt", "text": "two\n"}}, {"done": "finished"})
        second = (await live.post("/api/run", {"task": "two", "continues": first[:-2]}))["sessionId"]
        await completed(live, second)
        third = (await live.post("/api/run", {"task": "three", "continues": second}))["sessionId"]
        await completed(live, third)
    assert harness.git(work.root, "show", f"hub/{second}:a.txt") == "one\ntwo"
    assert harness.git(work.root, "show", f"hub/{first}:a.txt") == "one"
    assert work.fsm()["earlier"] == ["one", "two"]


async def test_the_agent_is_told_what_was_asked_for_before(work, monkeypatch):
    """A scripted agent is given its prompt in a file, which it looks into here."""
    async with daemon_of(work, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "paint it blue"}))["sessionId"]
        await completed(live, first)
        work.script("demo-first", {"run": "cat ../../run/*/*.json > told.txt"}, {"done": "finished"})
        second = (await live.post("/api/run", {"task": "and red", "continues": first}))["sessionId"]
        await completed(live, second)
    told = harness.git(work.root, "show", f"hub/{second}:told.txt")
    assert "and red\\n\\nThis goes on with earlier work" in told
    assert "\\n\\n> paint it blue" in told


async def test_one_that_works_is_answered_not_gone_on_with(work, monkeypatch):
    work.script("demo-first", {"ask": "which?"}, {"done": "finished"})
    async with daemon_of(work, monkeypatch) as live:
        first = (await live.post("/api/run", {"task": "one"}))["sessionId"]
        with pytest.raises(HubError) as refused:
            await live.post("/api/run", {"task": "two", "continues": first, "queue": True})
        assert refused.value.code is Code.SESSION_ALREADY_RUNNING
        assert "hub reply" in refused.value.hint
        await live.post("/api/session/stop", {"sessionId": first})


async def test_one_that_is_not_there_is_not_found(work, monkeypatch):
    async with daemon_of(work, monkeypatch) as live:
        with pytest.raises(HubError) as refused:
            await live.post("/api/run", {"task": "two", "continues": "s-none"})
        assert refused.value.code is Code.NOT_FOUND
