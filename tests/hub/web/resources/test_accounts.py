"""Accounts while a session runs: what was chosen is used at the next handoff, what is in use is not forgotten."""

from __future__ import annotations

import pytest

from hub.errors import Code
from tests.hub.actors.daemon import daemon_of
from tests.refusals import refuses


@pytest.fixture
def made(made):
    made.script("demo-first", {"ask": "go on?"}, {"done": "ok"})
    made.configure()
    return made


async def test_a_switch_during_a_session_is_used_at_the_handoff(made, monkeypatch):
    """And the account the agent has cannot be forgotten meanwhile; afterwards it can."""
    async with daemon_of(made, monkeypatch) as live:
        for label in ("a", "b"):
            await live.post("/api/providers/account/add", {"provider": "demo-first", "label": label})
        await live.post("/api/providers/account", {"provider": "demo-first", "label": "a"})
        await live.post("/api/run", {"task": "write", "provider": "demo-first", "verify": []})
        status = await live.until(lambda s: s["needsInput"], "the agent asks")
        assert status["account"] == "a"
        await live.post("/api/providers/account", {"provider": "demo-first", "label": "b"})
        with refuses(Code.ACCOUNT_IN_USE):
            await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "a"})
        await live.post("/api/handoff")
        status = await live.until(lambda s: s["handoffsDone"] == 1 and s["needsInput"], "the next one asks")
        assert (status["activeProvider"], status["account"]) == ("demo-first", "b")
        await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "a"})
        await live.post("/api/session/stop")
        await live.post("/api/providers/account/remove", {"provider": "demo-first", "label": "b"})
        (entry,) = [e for e in await live.get("/api/config/providers") if e["name"] == "demo-first"]
        assert [a["label"] for a in entry["accounts"]] == ["default"]
