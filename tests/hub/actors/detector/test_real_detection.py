"""The real agents, all at the same time, as a user starts them: each is found once, announced, and rightly described."""

from __future__ import annotations

import contextlib

import pytest

from hub.actors.detector import actor
from hub.providers import stores
from tests.faults.harness import project
from tests.hub.actors.detector.programs import NAMES, repository, start
from tests.hub.actors.kit import daemon_of
from tests.model_server import ModelServer, Turn
from tests.waiting import answered

pytestmark = pytest.mark.agents

MODELS = {
    "claude": "claude-sonnet-5-5",
    "codex": "gpt-5.5",
    "gemini": "gemini-2.5-pro",
    "opencode": "claude-sonnet-5-5",
    "qwen": "qwen3-coder-plus",
}


async def test_five_at_once_are_each_found_once_and_rightly(tmp_path, monkeypatch):
    monkeypatch.setattr(actor, "_FIRST_LOOK", 0.0)
    with contextlib.ExitStack() as stack:
        models = stack.enter_context(ModelServer())
        made = stack.enter_context(project(tmp_path))
        made.configure()
        async with daemon_of(made, monkeypatch, HOME=str(tmp_path / "home"), HUB_AMBIENT="1") as live:
            started = {}
            for name in NAMES:
                folder = repository(tmp_path / f"work-{name}")
                models.script(name, Turn.write("made.txt", "hi\n"), Turn.hold())
                started[name] = start(name, models, tmp_path, folder, f"Write made.txt for {name}.")
                stack.callback(started[name].end)

            async def ours():
                found = await live.daemon.app.gateway().detect(1)
                return [one for one in found if one["workDir"].startswith(str(tmp_path))]

            def whole(found):
                known = {one["provider"]: one["session"] for one in found}
                readable = set(NAMES) & set(stores.names())
                return set(known) == set(NAMES) and all(
                    known[name] and known[name]["filesTouched"] and known[name]["tokensIn"]
                    for name in readable
                )

            found = await answered(ours, whole)
            assert sorted(one["provider"] for one in found) == sorted(NAMES)
            for one in found:
                check(one, started[one["provider"]])
                told = await live.until_event(f"runs in {one['workDir']} (pid {one['pid']})")
                assert told.tag == "system"


def check(one, agent):
    """What is told against what was started."""
    name = agent.name
    assert (one["pid"], one["running"], one["owner"]) == (agent.process.pid, True, "user")
    assert (one["workDir"], one["surface"]) == (str(agent.folder), "command-line")
    assert one["account"].startswith(str(agent.home))
    if name not in stores.names():
        return
    session = one["session"]
    assert one["confidence"] == ("exact" if name in ("claude", "codex") else "likely")
    assert one["id"] == f"{name}:{session['sessionId']}"
    assert one["detectedVia"] == ["process", "transcript"]
    assert MODELS[name] in session["model"]
    assert session["initialPrompt"] == f"Write made.txt for {name}."
    assert [path.rpartition("/")[2] for path in session["filesTouched"]] == ["made.txt"]
    assert session["tokensOut"] > 0
    assert session["alarm"] == ""
