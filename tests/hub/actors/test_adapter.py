"""The adapter between a real runner and a session: what it hands over, when, and in which order."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager

import attrs
import pytest
import trio

from hub.actors import adapter
from hub.actors.adapter import Adapter
from hub.domain.redaction import EventRedactor, KnownSecrets, Redactor
from hub.io import processes
from hub.io.child import AgentLaunch
from hub.messages import AgentBatch, Dispatch
from hub.providers.base import Account, Assignment
from hub.providers.registry import load
from supervisors import DEFER, Actor, Restart, Slot, SupervisorSpec, actor_spec
from supervisors.testing import running

PATIENCE = 20.0
LINES = 700


class Session(Actor[AgentBatch]):
    """Takes a batch only when it is let."""

    def __init__(self) -> None:
        self.send, self.batches = trio.open_memory_channel[tuple[AgentBatch, object]](100)

    async def handle(self, message):
        self.send.send_nowait((message, self.ctx.current_reply))
        return DEFER


@attrs.define
class Rig:
    """An adapter at work and the session it talks to."""

    session: Session
    adapter: Adapter

    async def batch(self):
        """The next batch, not yet taken: (batch, take)."""
        with trio.fail_after(PATIENCE):
            batch, reply = await self.session.batches.receive()
        return batch, lambda: reply.answer(None)


@asynccontextmanager
async def adapting(tmp_path, provider, script):
    """An adapter over an agent that runs these lines of Python; nothing is left when the block ends."""
    run_dir = tmp_path / "d-1"
    assignment = Assignment(
        dispatch_id="d-1",
        session_id="s-1",
        prompt="",
        worktree=tmp_path,
        run_dir=run_dir,
        account=Account("a"),
    )
    launch = AgentLaunch(argv=[sys.executable, "-I", "-S", "-c", script], env={}, cwd=tmp_path)
    session, one, two = Session(), Slot("session"), Slot("adapter")
    made = Adapter(
        Dispatch(assignment, provider, attach=False),
        load(provider),
        one.ref,
        EventRedactor(Redactor(KnownSecrets(()), b"key")),
        lambda: launch,
    )
    spec = SupervisorSpec(
        children=[
            actor_spec("session", lambda: session, one),
            actor_spec("adapter", lambda: made, two, restart=Restart.TEMPORARY),
        ]
    )
    try:
        async with running(spec):
            yield Rig(session, made)
    finally:
        await processes.sweep({run_dir.name})


async def test_lines_without_an_event_are_heard_too(tmp_path, monkeypatch):
    """Claude says nothing but quiet lines while a long block streams: the watchdog must not call it silent."""
    monkeypatch.setattr(adapter, "_HEARD", 0.0)
    quiet = json.dumps({"type": "keep_alive"})
    script = f"import time\nfor _ in range(100000): print('{quiet}', flush=True); time.sleep(0.02)"
    async with adapting(tmp_path, "claude", script) as rig:
        for _ in range(3):
            batch, take = await rig.batch()
            assert (batch.dispatch_id, batch.events, batch.exit) == ("d-1", [], None)
            take()


@pytest.mark.parametrize("backlog", [8, 10_000])
async def test_lines_pile_up_behind_a_batch_and_come_in_order(tmp_path, monkeypatch, backlog):
    """One batch at a time, each event once, the exit last; with a small bound the agent's output waits in its spool."""
    monkeypatch.setattr(adapter, "_BACKLOG", backlog)
    script = (
        "import json\nsay = lambda n: print(json.dumps({'type': 'text', 'text': str(n)}), flush=n == 0)\n"
        f"for n in range({LINES}): say(n)"
    )
    seen, sizes = [], []
    async with adapting(tmp_path, "demo-first", script) as rig:
        while True:
            batch, take = await rig.batch()
            await trio.testing.wait_all_tasks_blocked(0.05)
            assert rig.session.batches.statistics().current_buffer_used == 0, (
                "a second batch before the first"
            )
            texts = [item.event.content for item in batch.events if str(item.event.type) == "text"]
            seen += texts
            sizes.append(len(batch.events))
            take()
            if batch.exit is not None:
                break
        assert seen == [str(number) for number in range(LINES)]
        assert max(sizes) <= max(backlog, 2) + 4
        assert len(sizes) < LINES
