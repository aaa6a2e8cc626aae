"""The composition root: settings become a supervision tree.

Owns: who is made with which reference, the order of start, and the shape of the tree. The only module that knows
everybody.
Must not: hold a rule, or handle a message.
Tests: tests/hub/test_daemon.py, tests/hub/test_start.py
"""

from __future__ import annotations

import math
import random
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import attrs
import trio

from hub.actors.adapter.actor import Adapter
from hub.actors.approvals.actor import Approvals
from hub.actors.approvals.store import ApprovalStore, approval_store
from hub.actors.audit import AuditWriter
from hub.actors.breakers import Breakers
from hub.actors.claims import Claims
from hub.actors.common.crash_loop import CrashLoopGuard
from hub.actors.common.job import Jobs
from hub.actors.common.launch import agent_launch
from hub.actors.common.outbox import Outbox
from hub.actors.common.secrets import Secrets, own_keys
from hub.actors.detector.actor import Detector
from hub.actors.detector.scanner import Scanner
from hub.actors.events import EventLog
from hub.actors.front import FrontEnd
from hub.actors.jobs import JobActor
from hub.actors.knowledge.actor import Knowledge
from hub.actors.models.actor import Models
from hub.actors.notices import Notices
from hub.actors.outcomes import Outcomes
from hub.actors.pipelines.actor import Pipelines
from hub.actors.pipelines.conductor import Conductor
from hub.actors.pipelines.store import PipelineRunStore
from hub.actors.quota.actor import Quota
from hub.actors.session.actor import SessionActor
from hub.actors.session.agent_control import adapter_id
from hub.actors.session.context import SessionContext, SharedState
from hub.actors.session.driver import Driver, hire
from hub.actors.session.routing import Routing
from hub.actors.session.store import SessionStore
from hub.actors.sessions.actor import Register
from hub.actors.sessions.beginning import Beginnings
from hub.actors.sessions.homes import Homes
from hub.actors.sessions.queue import Queue
from hub.actors.sessions.roster import Roster
from hub.actors.settings.actor import Settings
from hub.domain.config.reader import Config
from hub.domain.permission.places import Where
from hub.errors import Code, HubError
from hub.io.project.places import Places, load_or_create_key
from hub.io.project.trust import Gate
from hub.io.records.pipelines import run_store
from hub.io.secrets.kingfisher import Detection
from hub.mcp.http import ToolsApp
from hub.message_map import Slots, slot_of
from hub.messages.agent import AdapterInbox, AgentBatch, Dispatch
from hub.messages.session import SessionInbox
from hub.providers.provider import Provider
from hub.providers.registry import load_all, quota_client
from hub.web.context import Context
from hub.web.doors import Doors
from hub.web.server import serve
from supervisors import (
    Actor,
    Backoff,
    ChildSpec,
    DynamicHandle,
    NodeInfo,
    Ref,
    Restart,
    Slot,
    Strategy,
    SupervisorSpec,
    actor_spec,
    dynamic_spec,
    supervisor_spec,
)

M = TypeVar("M")
_SECOND = 1_000_000_000
_INTENSITY = 10
_PERIOD = 30.0
_MAX_JOBS = 16
_SAY_TIMEOUT = 10.0
"""Seconds that a log may take for a line that may be lost."""
_GRAPH_BACKOFF = Backoff(first=0.5, factor=4.0)
"""Nobody needs the graph to run agents: should it die again and again, it alone stays away, not the daemon."""


def new_id(prefix: str) -> str:
    """`<prefix>-<seconds>-<256ths of one><random>`: sorts by time, fits a branch name and a file name."""
    seconds, rest = divmod(time.time_ns(), _SECOND)
    return f"{prefix}-{seconds:x}-{rest * 256 // _SECOND:02x}{secrets.token_hex(3)}"


def _room(*children: ChildSpec) -> SupervisorSpec:
    return SupervisorSpec(
        strategy=Strategy.ONE_FOR_ONE, intensity=_INTENSITY, period=_PERIOD, children=[*children]
    )


@attrs.define
class App:
    """One daemon's parts, before and while the tree runs."""

    places: Places
    config: Config
    """The last one that was read; the agents it describes are the ones that can be dispatched."""
    load_config: Callable[[], Config]
    doors: Doors
    """Where the API listens: they outlast a front end that falls."""
    gate: Gate
    providers: Mapping[str, Provider] = attrs.field(
        default=attrs.Factory(lambda self: load_all(lambda: self.config), takes_self=True)
    )
    insist_on_trust: Callable[[str], None] = lambda _: None  # as in the daemon's order
    picture: Callable[[], NodeInfo] | None = None
    """The tree's snapshot function, once the tree runs."""
    slots: Slots = attrs.field(factory=Slots)
    _jobs: DynamicHandle = attrs.field(factory=lambda: DynamicHandle("jobs"))
    _adapters: DynamicHandle = attrs.field(factory=lambda: DynamicHandle("adapters"))
    _running: DynamicHandle = attrs.field(factory=lambda: DynamicHandle("running"))
    _sessions: dict[str, tuple[ChildSpec, Ref[SessionInbox]]] = attrs.field(factory=dict)  # by id
    _homes: dict[str, Places] = attrs.field(factory=dict)
    _pipeline_crash_loop: CrashLoopGuard = attrs.field(factory=CrashLoopGuard)
    _detection: Detection = attrs.field(factory=Detection)
    secrets: Secrets = attrs.field(init=False)
    """What is hidden in whatever leaves the daemon, by the settings that were read last."""
    listening: trio.Event = attrs.field(factory=trio.Event)
    failure: HubError | None = None
    """Why the daemon cannot go on, or did not end in order."""
    failed: trio.Event = attrs.field(factory=trio.Event)

    def __attrs_post_init__(self) -> None:
        self.secrets = Secrets(
            own_keys(), self.providers, self.places.dotenv, self._detection, lambda: self.config
        )

    def tree(self) -> SupervisorSpec:
        """The root's children in start order; they stop in reverse."""
        watch = _room(
            self._actor(self.slots.breakers, self._breakers),
            self._actor(self.slots.claims, lambda: Claims(self.places, self.slots.sessions.ref)),
            self._actor(self.slots.quota, self._quota),
            self._actor(self.slots.outcomes, lambda: Outcomes(self.places, self.slots.events.ref)),
            self._actor(self.slots.detector, self._detector),
            self._actor(self.slots.notices, lambda: Notices(self.slots.events.ref, self.slots.settings.ref)),
        )
        work = _room(
            dynamic_spec("adapters", self._adapters, intensity=_INTENSITY, period=_PERIOD),
            dynamic_spec("running", self._running, intensity=_INTENSITY, period=_PERIOD),
            self._actor(self.slots.sessions, self._register),
            self._actor(self.slots.pipelines, self._pipelines),
        )
        return _room(
            self._actor(self.slots.audit, self._audit),
            self._actor(self.slots.events, self._events),
            self._actor(self.slots.settings, self._settings),
            self._actor(self.slots.knowledge, self._knowledge, backoff=_GRAPH_BACKOFF),
            supervisor_spec("watch", watch),
            self._actor(self.slots.approvals, self._approvals),
            supervisor_spec("work", work),
            dynamic_spec("jobs", self._jobs, intensity=_INTENSITY, period=_PERIOD, max_children=_MAX_JOBS),
            self._actor(self.slots.models, self._models),
            self._actor(self.slots.front, self._front),
        )

    def _actor(
        self, slot: Slot[M], factory: Callable[[], Actor[M]], backoff: Backoff | None = None
    ) -> ChildSpec:
        return actor_spec(slot.name, factory, slot, backoff=backoff)

    def _audit(self) -> AuditWriter:
        return AuditWriter(self.places, load_or_create_key("audit"), self.fails)

    def _events(self) -> EventLog:
        return EventLog(self.places, self.slots.audit.ref, time.time)

    def _settings(self) -> Settings:
        return Settings(
            self.places,
            self._read_config,
            self.providers,
            outbox=self._news(),
            jobs=self._errands(),
            gate=self.gate,
        )

    def _knowledge(self) -> Knowledge:
        return Knowledge(self.places, self.slots.events.ref, time.time, self.secrets)

    def _breakers(self) -> Breakers:
        return Breakers(self.places, self._news(), self.slots.quota.ref)

    def _quota(self) -> Quota:
        return Quota(
            self.places,
            events=self.slots.events.ref,
            settings=self.slots.settings.ref,
            session=self.slots.sessions.ref,
            providers=self.providers,
            clients=quota_client,
            clock=time.time,
        )

    def _detector(self) -> Detector:
        return Detector(
            Scanner(self.places.root, self.providers, self.config),
            self.places,
            self._errands(),
            outbox=self._outbox(),
            events=self.slots.events.ref,
            sessions=self.slots.sessions.ref,
            quota=self.slots.quota.ref,
            settings=self.slots.settings.ref,
            arm=self.secrets.arm,
            new_id=new_id,
            insist_orders=self.gate.insist_orders,
        )

    def _approvals(self) -> Approvals:
        where = Where(str(self.places.root), str(Path.home()))
        store, known = ApprovalStore(approval_store(self.places)), self.config.approvals
        return Approvals(store, self._outbox(), self.slots.settings.ref, known=known, where=where)

    def _models(self) -> Models:
        return Models(self.places, self.slots.settings.ref, self.providers, self._errands(), time.time)

    def _pipelines(self) -> Pipelines:
        return Pipelines(self.places, self.slots.settings.ref, self.providers, self._conductor())

    def _conductor(self) -> Conductor:
        runs = PipelineRunStore(run_store(self.places), self._outbox())
        sessions, settings = self.slots.sessions.ref, self.slots.settings.ref
        return Conductor(runs, self.places.root, sessions, settings, new_id, self._pipeline_crash_loop)

    def _outbox(self, patience: float = math.inf) -> Outbox:
        return Outbox(
            self.slots.events.ref, time.time, self.slots.audit.ref, self.secrets.value, patience=patience
        )

    def _news(self) -> Outbox:
        """For lines about what is durable itself: a log that is restarting costs the line, nothing else."""
        return Outbox(self.slots.events.ref, time.time, self.slots.audit.ref, patience=_SAY_TIMEOUT)

    def _errands(self) -> Jobs:
        return Jobs(
            self._jobs,
            lambda job, work: actor_spec(
                job,
                lambda: JobActor(job, work, self._outbox(_SAY_TIMEOUT), self.slots.settings.ref),
                slot_of("job", job),
                restart=Restart.TEMPORARY,
            ),
            new_id,
        )

    def _read_config(self) -> Config:
        self.config = self.load_config()
        return self.config

    def _register(self) -> Register:
        context = self._session_context(self.places)
        return Register(
            context,
            Roster(Homes(self.places, self._session_store), self._running, self._session_spec),
            Queue(self.places),
            Beginnings(context, Routing(context), self.insist_on_trust),
        )

    def _session_spec(self, places: Places, session_id: str) -> tuple[ChildSpec, Ref[SessionInbox]]:
        """One child a session; it is started again where it falls, and let go of when it has ended."""
        found = self._sessions.get(session_id)
        if found is None:
            slot: Slot[SessionInbox] = slot_of("session", session_id)
            crash_loop = CrashLoopGuard()

            def make() -> SessionActor:
                context = self._session_context(self._homes[session_id], crash_loop)
                return SessionActor(context, self._hire(context, slot.ref))

            spec = actor_spec(session_id, make, slot, restart=Restart.TRANSIENT)
            found = self._sessions[session_id] = spec, slot.ref
        self._homes[session_id] = places
        return found

    def _hire(self, context: SessionContext, session: Ref[AgentBatch]) -> Driver:
        return hire(context, self._adapters, partial(self._adapter_spec, context, session))

    def _session_store(self, places: Places) -> SessionStore:
        return SessionStore(places, self._outbox(), self.slots.events.ref)

    def _session_context(self, places: Places, crash_loop: CrashLoopGuard | None = None) -> SessionContext:
        """Fresh for each incarnation: all that lasts is in the store's file."""
        return SessionContext(
            places=places,
            store=self._session_store(places),
            shared=SharedState(),
            audit=self.slots.audit.ref,
            events=self.slots.events.ref,
            breakers=self.slots.breakers.ref,
            quota=self.slots.quota.ref,
            settings=self.slots.settings.ref,
            approvals=self.slots.approvals.ref,
            knowledge=self.slots.knowledge.ref,
            claims=self.slots.claims.ref,
            providers=self.providers,
            keys=self.secrets.keys,
            config=self.config,
            new_id=new_id,
            clock=time.time,
            chance=random.random,
            crash_loop=crash_loop or CrashLoopGuard(),
            detection=self._detection,
        )

    def _adapter_spec(
        self, context: SessionContext, session: Ref[AgentBatch], dispatch: Dispatch
    ) -> tuple[ChildSpec, Ref[AdapterInbox]]:
        """One temporary child a dispatch: an agent's end is news for the session, never a restart."""
        slot: Slot[AdapterInbox] = slot_of("adapter", dispatch.assignment.dispatch_id)
        provider = self.providers[dispatch.provider]

        def make() -> Adapter:
            return Adapter(
                dispatch,
                provider,
                session,
                context.secrets.events(),
                lambda: agent_launch(
                    provider,
                    dispatch.assignment,
                    context.config,
                    context.secrets.env_of(provider.name, dispatch.assignment.account.label),
                ),
            )

        spec = actor_spec(
            adapter_id(dispatch.assignment.session_id, dispatch.assignment.dispatch_id),
            make,
            slot,
            restart=Restart.TEMPORARY,
        )
        return spec, slot.ref

    def context(self) -> Context:
        """What serves the API's routes."""
        return Context(
            self.places, self.slots.of_front, self._snapshot, self.secrets.file, self.insist_on_trust
        )

    def _front(self) -> FrontEnd:
        server = self.config.server
        door = partial(
            serve,
            self.context(),
            doors=self.doors,
            redact=self.secrets.value,
            origins=server.allowed_origins,
            token=server.token,
            project=str(self.places.root),
            tools=ToolsApp,
        )
        return FrontEnd(door, self._listens)

    def _listens(self, _: object) -> None:
        self.listening.set()

    def fails(self, error: HubError) -> None:
        """The daemon ends with this error, its agent left as it is. The first one counts."""
        self.failure = self.failure or error
        self.failed.set()

    def _snapshot(self) -> NodeInfo:
        if self.picture is None:
            raise HubError(Code.UNAVAILABLE, "The daemon is just starting.")
        return self.picture()
