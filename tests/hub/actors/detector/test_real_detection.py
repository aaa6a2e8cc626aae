"""Real agents, at the same time, as a user starts them: each is found once, announced, and rightly described."""

from __future__ import annotations

import contextlib

import psutil
import pytest
import trio

from hub.actors.detector import actor
from tests.faults.harness import project
from tests.hub.actors.detector.programs import MODELS, repository, start
from tests.hub.actors.kit import daemon_of
from tests.model_server import ModelServer, Turn
from tests.waiting import PATIENCE, answered

pytestmark = pytest.mark.agents


async def test_agents_that_run_at_once_are_each_found_once_and_rightly(tmp_path, monkeypatch):
    """One with a registry of its processes (Claude Code), one that holds its transcript open (Codex)."""
    monkeypatch.setattr(actor, "_FIRST_LOOK", 0.0)
    with contextlib.ExitStack() as stack:
        models = stack.enter_context(ModelServer())
        made = stack.enter_context(project(tmp_path))
        made.configure()
        async with daemon_of(made, monkeypatch, HOME=str(tmp_path / "home"), HUB_AMBIENT="1") as live:
            started = {}
            for name in MODELS:
                folder = repository(tmp_path / f"work-{name}")
                models.script(name, Turn.write("made.txt", "hi\n"), Turn.hold())
                started[name] = start(name, models, tmp_path, folder, f"Write made.txt for {name}.")
                stack.callback(started[name].end)
            for name in MODELS:  # it has done its first turn, and waits for the model now
                await trio.to_thread.run_sync(second_turn, models, name)

            async def ours():
                found = await live.daemon.app.gateway().detect(1)
                return [one for one in found if one["workDir"].startswith(str(tmp_path))]

            def whole(found):
                sessions = [one["session"] for one in found if one["confidence"] == "exact"]
                return sum(bool(one and one["filesTouched"] and one["tokensIn"]) for one in sessions) == 2

            found = await answered(ours, whole)
            assert sorted(one["provider"] for one in found) == sorted(MODELS)
            for one in found:
                check(one, started[one["provider"]])
                told = await live.until_event(f"runs in {one['workDir']} (pid {one['pid']})")
                assert told.tag == "system"


def second_turn(models, name):
    """Wait for the request that follows the first tool call."""
    models.wait_for(lambda seen: seen.account == name and len(models.mains(name)) > 1, PATIENCE)


def wrapped(pid):
    """What a wrapper of Node runs: a Node that came with Python's packages is started by one, which is no agent."""
    return [child.pid for child in psutil.Process(pid).children()]


def check(one, agent):
    """What is told against what was started."""
    name, session = agent.name, one["session"]
    assert one["pid"] in (agent.process.pid, *wrapped(agent.process.pid))
    assert (one["running"], one["owner"]) == (True, "user")
    assert (one["workDir"], one["surface"]) == (str(agent.folder), "command-line")
    assert one["account"].startswith(str(agent.home))
    assert one["id"] == f"{name}:{session['sessionId']}"
    assert one["detectedVia"] == ["process", "transcript"]
    assert MODELS[name] in session["model"]
    assert session["initialPrompt"] == f"Write made.txt for {name}."
    assert [path.rpartition("/")[2] for path in session["filesTouched"]] == ["made.txt"]
    assert session["tokensOut"] > 0
    assert session["alarm"] == ""
