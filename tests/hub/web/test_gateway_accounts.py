"""Accounts while a session runs: what was chosen is used at the next handoff, what is in use is not forgotten."""

from __future__ import annotations

import pytest

from hub.errors import Code, HubError
from hub.web.backend import RunRequest
from tests.faults.harness import project
from tests.hub.actors.kit import daemon_of


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        found.script("demo-first", {"ask": "go on?"}, {"done": "ok"})
        found.configure()
        yield found


async def test_a_switch_during_a_session_is_used_at_the_handoff(made, monkeypatch):
    """And the account the agent has cannot be forgotten meanwhile; afterwards it can."""
    async with daemon_of(made, monkeypatch) as live:
        gate = live.daemon.app.gateway()
        for label in ("a", "b"):
            await gate.add_account("demo-first", label, "")
        await gate.switch_account("demo-first", "a")
        await gate.run(RunRequest(task="write", provider="demo-first", verify=()))
        status = await live.until(lambda s: s["needsInput"], "the agent asks")
        assert status["account"] == "a"
        await gate.switch_account("demo-first", "b")
        with pytest.raises(HubError) as caught:
            await gate.remove_account("demo-first", "a")
        assert caught.value.code is Code.ACCOUNT_IN_USE
        await gate.handoff()
        status = await live.until(lambda s: s["handoffsDone"] == 1 and s["needsInput"], "the next one asks")
        assert (status["activeProvider"], status["account"]) == ("demo-first", "b")
        await gate.remove_account("demo-first", "a")
        await gate.stop()
        await gate.remove_account("demo-first", "b")
        (entry,) = [e for e in await gate.config_providers() if e["name"] == "demo-first"]
        assert [a["label"] for a in entry["accounts"]] == ["default"]
