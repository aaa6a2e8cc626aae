"""The settings actor in a tree with the real log and the real audit chain, on real files.

Owns: that tree, and what was put on record.
Must not: replace a part of hub by a double.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs

from hub.actors.audit import AuditWriter
from hub.actors.common.job import Job, Jobs
from hub.actors.common.outbox import Outbox
from hub.actors.events import EventLog
from hub.actors.jobs import JobActor
from hub.actors.settings.actor import Settings
from hub.app import new_id
from hub.domain.config.reader import Config
from hub.domain.event import Record
from hub.io.config import file
from hub.io.config.accounts import read_added
from hub.io.project.places import Places
from hub.io.project.trust import Gate
from hub.message_map import slot_of
from hub.messages.audit import AuditHistory
from hub.messages.events import EventsSince
from hub.providers.demo.agent import FIRST, SECOND
from hub.providers.provider import Provider
from supervisors import ChildSpec, DynamicHandle, Restart, Slot, SupervisorSpec, actor_spec, dynamic_spec
from tests.trees import running

CALL = 30.0
ENVIRON = {"HUB_TRUST": "1", "HUB_STATE_DIR": "/nowhere"}
DEMO = {provider.name: provider for provider in (FIRST, SECOND)}


@attrs.frozen
class Asked:
    """The running actor's way to be asked, and what came of it."""

    settings: Slot[Any]
    events: Slot[Any]
    audit: Slot[Any]

    async def __call__(self, message: object) -> Any:
        return await self.settings.ref.call(message, timeout=CALL)

    async def said(self) -> list[Record]:
        """The event log."""
        found: list[Record] = await self.events.ref.call(EventsSince(0), timeout=CALL)
        return found

    async def recorded(self) -> list[str]:
        """The events of the audit log."""
        return [entry.event for entry in await self.audit.ref.call(AuditHistory(), timeout=CALL)]


@asynccontextmanager
async def settings(
    places: Places, clock: list[float], providers: Mapping[str, Provider] = DEMO
) -> AsyncIterator[Asked]:
    """The actor for the length of the block."""
    audit, events, slot = slot_of("audit"), slot_of("events"), slot_of("settings")
    jobs = DynamicHandle("jobs")

    def made() -> Settings:
        def read() -> Config:
            own = places.root / "user.toml"
            added = read_added(places.accounts)
            return file.settings(places.config, own, environ=ENVIRON, added_accounts=added).config

        outbox = Outbox(events.ref, lambda: clock[0], audit.ref, patience=10.0)
        gate = Gate.of(places.root, ENVIRON)
        return Settings(places, read, providers, outbox=outbox, jobs=Jobs(jobs, job, new_id), gate=gate)

    def job(name: str, work: Job) -> ChildSpec:
        def carried() -> JobActor:
            return JobActor(name, work, Outbox(events.ref, lambda: clock[0], patience=10.0), slot.ref)

        return actor_spec(name, carried, slot_of("job", name), restart=Restart.TEMPORARY)

    children = [
        actor_spec("audit", lambda: AuditWriter(places, b"k" * 32, print), audit),
        actor_spec("events", lambda: EventLog(places, audit.ref, lambda: clock[0]), events),
        actor_spec("settings", made, slot),
        dynamic_spec("jobs", jobs),
    ]
    async with running(SupervisorSpec(children=children)):
        yield Asked(slot, events, audit)
