"""An error no code foresees: tried again, and never the end of the daemon."""

import json

import pytest

from hub.actors.session.handoff_steps import HandoffSteps
from hub.messages.session import RequestStop, StartRun
from hub.providers.demo.stream import DemoStream
from tests.hub.actors.daemon import daemon_of


@pytest.fixture
def made(made):
    made.script("demo-first", {"say": "working"}, {"limit": {"resetsIn": 3600}})
    made.script("demo-second", {"say": "going on"}, {"done": "finished"})
    made.configure()
    return made


@pytest.mark.parametrize("times", [1, 3])
async def test_a_step_that_falls_is_taken_again_after_a_restart(made, monkeypatch, times):
    """Three falls over one record are survived, and nothing is done twice."""
    falls = []
    plain = HandoffSteps._snapshotted

    async def falling(self, record):
        if len(falls) < times:
            falls.append(record.seq)
            raise ZeroDivisionError
        await plain(self, record)

    monkeypatch.setattr(HandoffSteps, "_snapshotted", falling)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until_ended()
    assert len(set(falls)) == 1
    assert (status["sessionState"], status["handoffsDone"], len(made.starts())) == ("completed", 1, 2)


async def test_a_step_that_always_falls_ends_the_session_and_not_the_daemon(made, monkeypatch):
    """The session fails with `internal`, in words, with its last snapshot; the next one can start."""

    async def falling(self, record):
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(HandoffSteps, "_snapshotted", falling)
        async with daemon_of(made, monkeypatch) as live:
            await live.ask("sessions", StartRun("write"))
            status = await live.until_ended()
            assert (status["sessionState"], status["error"]["code"]) == ("failed", "internal")
            assert status["fsmState"] == "RUNNING"
            assert made.fsm()["snapshotSha"]
            broken.undo()
            await live.ask("sessions", StartRun("again", provider="demo-second"))
            assert (await live.until_ended())["sessionState"] == "completed"


async def test_an_adapter_that_cannot_read_its_agent_ends_the_session(made, monkeypatch):
    """No hot loop of adapters, no agent left: after three falls the session fails and the processes are ended."""

    def falling(self, line, now):
        raise ZeroDivisionError

    monkeypatch.setattr(DemoStream, "feed", falling)
    async with daemon_of(made, monkeypatch) as live:
        await live.ask("sessions", StartRun("write"))
        status = await live.until_ended()
    assert (status["sessionState"], status["error"]["code"]) == ("failed", "internal")
    assert len(made.starts()) == 1


async def test_a_stop_at_any_moment_ends_in_stopped(made, monkeypatch):
    """A stop that comes before the worktree is there, or with the agent's first word, is a stop all the same."""
    made.script("demo-first", {"say": "working"}, {"hang": {}})
    async with daemon_of(made, monkeypatch) as live:
        for _ in range(3):
            await live.ask("sessions", StartRun("write"))
            answer = await live.ask("sessions", RequestStop())
            assert answer.state == "stopped"
            assert json.loads((made.hub / "fsm.json").read_bytes())["sessionState"] == "stopped"
