"""The session's parts, one at a time, in a real daemon that has no session of its own.

Owns: parts that are wired to the daemon's actors, and a session's record with its worktree to use them on.
Must not: replace a collaborator; logs, breakers, git, files and agents are the real ones.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import attrs

from hub.actors.session.chronicle import Chronicler
from hub.actors.session.commands import gate
from hub.actors.session.context import SessionContext
from hub.actors.session.driver import Driver
from hub.actors.session.routing import Routing
from hub.actors.session.store import SessionStore
from hub.domain.result.gate import GateResult
from hub.domain.session import SessionRecord, SessionState
from hub.io.git.worktree import add_worktree
from hub.providers.base import Assignment
from tests.faults import harness
from tests.hub.actors.daemon import Live, daemon_of


@attrs.define
class Parts:
    """Fresh parts of a session nobody drives."""

    live: Live
    context: SessionContext
    driver: Driver

    @property
    def store(self) -> SessionStore:
        return self.context.store

    @property
    def routing(self) -> Routing:
        return self.driver.work.routing

    def fresh(self, record: SessionRecord) -> Assignment:
        """What the record's next agent is given."""
        return self.driver.control.assignment(record, self.driver.work._orders(record))

    @property
    def gate(self) -> Callable[[SessionRecord, str], Awaitable[GateResult]]:
        return partial(gate, self.context)

    @property
    def chronicler(self) -> Chronicler:
        return self.driver.chronicler

    def record(self, **fields: Any) -> SessionRecord:
        """A session as it stands after its start, on the chain of both scripted agents."""
        made = {
            "session_id": "s-1",
            "task_id": "t-1",
            "task": "write the files",
            "session_state": SessionState.RUNNING,
            "role": "coder",
            "branch": "hub/s-1",
            "worktree": str(self.context.places.worktree("s-1")),
            "chain": ("demo-first", "demo-second"),
            "provider": "demo-first",
            "account": "default",
            "dispatch_id": "d-1",
            "attempt": 1,
            **fields,
        }
        return SessionRecord(**made)

    async def begin(self, **fields: Any) -> SessionRecord:
        """The record, durable and told, with its worktree made."""
        record = self.record(**fields)
        root = self.context.places.root
        head = harness.git(root, "rev-parse", "HEAD")
        await add_worktree(root, Path(record.worktree), record.branch, head)
        await self.store.begin(attrs.evolve(record, worktree_ready=True, base=head))
        await self.store.publish()
        return self.store.now

    def audited(self, event: str = "") -> list[dict[str, Any]]:
        """The records of the audit log, of one kind or all."""
        # Not splitlines: JSON leaves U+2028 as it is.
        lines = self.context.places.audit.read_bytes().split(b"\n")[:-1]
        found = [json.loads(line) for line in lines]
        return [entry for entry in found if event in ("", entry["event"])]

    async def told(self) -> list[str]:
        """What the events say."""
        return [record.msg for record in await self.live.events()]


def fresh_parts(live: Any) -> Parts:
    """The parts that the next incarnation of the session would have."""
    app = live.daemon.app
    context = app._session_context(app.places)
    return Parts(live, context, app._hire(context, app.slots.sessions.ref))


@asynccontextmanager
async def parts_of(made: Any, monkeypatch: Any, **env: str) -> AsyncIterator[Parts]:
    """Parts beside those of the daemon's own session actor, which stays idle."""
    async with daemon_of(made, monkeypatch, **env) as live:
        yield fresh_parts(live)
