"""Handoffs as users ask for them: one at a time, at any moment, and always to an end."""

from __future__ import annotations

import pytest

from hub.messages import RequestHandoff, StartRun
from tests.faults.harness import project
from tests.hub.actors.kit import daemon_of


@pytest.fixture
def made(tmp_path):
    with project(tmp_path) as found:
        yield found


async def test_a_manual_handoff_passes_the_work_on_once(made, monkeypatch):
    """The wish is over with the handoff it led to: the receiver is not handed over in turn."""
    made.script("demo-first", {"say": "working"}, {"ask": "what next?"})
    made.script("demo-second", {"say": "going on"}, {"sleep": 0.2}, {"done": "finished"})
    made.configure()
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("session", StartRun("write"))
        await live.until(lambda s: s["needsInput"], "the first agent asks")
        answer = await live.ask("session", RequestHandoff())
        assert answer["handoffId"]
        status = await live.until_ended()
    assert (status["sessionState"], status["handoffsDone"], status["activeProvider"]) == (
        "completed",
        1,
        "demo-second",
    )
    assert len(made.starts()) == 2
