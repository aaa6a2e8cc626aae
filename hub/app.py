"""The composition root: settings become a supervision tree.

Owns: who is made with which reference, the order of start, and the shape of the tree. The only module that knows
everybody.
Must not: hold a rule, or handle a message.
Tests: tests/hub/test_daemon.py, tests/hub/test_start.py
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import trio

from hub.actors.adapter import Adapter
from hub.actors.approvals.actor import Approvals
from hub.actors.approvals.shelf import Shelf
from hub.actors.approvals.teller import Teller
from hub.actors.audit import AuditWriter
from hub.actors.breakers import Breakers
from hub.actors.detector.actor import Detector
from hub.actors.detector.parts import assembled
from hub.actors.detector.scout import Scout
from hub.actors.errand import Errand, Jobs
from hub.actors.events import EventLog
from hub.actors.front import FrontEnd
from hub.actors.jobs import Job
from hub.actors.knowledge.actor import Knowledge
from hub.actors.launch import agent_launch
from hub.actors.models.actor import Models
from hub.actors.outcomes import Outcomes
from hub.actors.pipelines.actor import Pipelines
from hub.actors.pipelines.book import Book
from hub.actors.pipelines.conductor import Conductor
from hub.actors.quota.actor import Quota
from hub.actors.session.actor import Session
from hub.actors.session.board import Board
from hub.actors.session.driver import Driver, hire
from hub.actors.session.held import own_keys
from hub.actors.session.kit import Kit
from hub.actors.session.ledger import Ledger
from hub.actors.session.tally import Tallies
from hub.actors.settings.actor import Settings
from hub.actors.stumbles import Stumbles
from hub.domain.config.reader import Config
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.rules import Where
from hub.domain.text import clean
from hub.errors import Code, HubError
from hub.io.kingfisher import Detection
from hub.io.places import Places, load_or_create_key
from hub.io.trust import Gate
from hub.mcp.http import ToolsApp
from hub.messages import Dispatch
from hub.providers.base import Provider
from hub.providers.registry import load_all, quota_client
from hub.scrubbing import Scrubbing
from hub.web.context import Context
from hub.web.server import Bound, serve
from supervisors import (
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

_NAMED = (
    *("audit", "events", "settings", "knowledge", "breakers", "quota", "outcomes", "models", "approvals"),
    *("session", "pipelines", "front", "detector"),
)
_INTENSITY = 10
_PERIOD = 30.0
_MAX_JOBS = 16
_GRAPH_BACKOFF = Backoff(first=0.5, factor=4.0)
"""Nobody needs the graph to run agents: should it die again and again, it alone stays away, not the daemon."""


def new_id(prefix: str) -> str:
    """`<prefix>-<seconds>-<random>`: sorts by time, fits a branch name and a file name."""
    return f"{prefix}-{int(time.time()):x}-{secrets.token_hex(4)}"


@attrs.define
class App:
    """One daemon's parts, before and while the tree runs."""

    places: Places
    config: Config
    """The last one that was read; the agents it describes are the ones that can be dispatched."""
    load_config: Callable[[], Config]
    host: str
    port: int
    providers: Mapping[str, Provider] = attrs.field(
        default=attrs.Factory(lambda self: load_all(lambda: self.config), takes_self=True)
    )
    gate: Gate | None = None
    insist_on_trust: Callable[[str], None] = lambda _: None
    """As in the daemon's order."""
    bound: Bound | None = None
    """Where the API listens, once it does; a restarted front end takes the same port."""
    picture: Callable[[], NodeInfo] | None = None
    """The tree's snapshot function, once the tree runs."""
    _slots: dict[str, Slot[Any]] = attrs.field(factory=dict)
    _jobs: DynamicHandle = attrs.field(factory=lambda: DynamicHandle("jobs"))
    _adapters: DynamicHandle = attrs.field(factory=lambda: DynamicHandle("adapters"))
    _stumbles: Stumbles = attrs.field(factory=Stumbles)
    _pipeline_stumbles: Stumbles = attrs.field(factory=Stumbles)
    _detection: Detection = attrs.field(factory=Detection)
    scrubbing: Scrubbing = attrs.field(factory=Scrubbing)
    listening: trio.Event = attrs.field(factory=trio.Event)
    failure: HubError | None = None
    """Why the daemon cannot go on, or did not end in order."""
    failed: trio.Event = attrs.field(factory=trio.Event)

    def __attrs_post_init__(self) -> None:
        for name in _NAMED:
            self._slots[name] = Slot(name)

    def ref(self, name: str) -> Ref[Any]:
        """The reference of one of the named actors."""
        return self._slots[name].ref

    def tree(self) -> SupervisorSpec:
        """The root's children in start order; they stop in reverse."""
        watch = SupervisorSpec(
            strategy=Strategy.ONE_FOR_ONE,
            intensity=_INTENSITY,
            period=_PERIOD,
            children=[
                self._actor("breakers", self._breakers),
                self._actor("quota", self._quota),
                self._actor("outcomes", self._outcomes),
                self._actor("detector", self._detector),
            ],
        )
        work = SupervisorSpec(
            strategy=Strategy.ONE_FOR_ONE,
            intensity=_INTENSITY,
            period=_PERIOD,
            children=[
                dynamic_spec("adapters", self._adapters, intensity=_INTENSITY, period=_PERIOD),
                self._actor("session", self._session),
                self._actor("pipelines", self._pipelines),
            ],
        )
        return SupervisorSpec(
            strategy=Strategy.ONE_FOR_ONE,
            intensity=_INTENSITY,
            period=_PERIOD,
            children=[
                self._actor("audit", self._audit),
                self._actor("events", self._events),
                self._actor("settings", self._settings),
                self._actor("knowledge", self._knowledge, backoff=_GRAPH_BACKOFF),
                supervisor_spec("watch", watch),
                self._actor("approvals", self._approvals),
                supervisor_spec("work", work),
                dynamic_spec(
                    "jobs", self._jobs, intensity=_INTENSITY, period=_PERIOD, max_children=_MAX_JOBS
                ),
                self._actor("models", self._models),
                self._actor("front", self._front),
            ],
        )

    def _actor(self, name: str, factory: Callable[[], Any], backoff: Backoff | None = None) -> ChildSpec:
        return actor_spec(name, factory, self._slots[name], backoff=backoff)

    def _audit(self) -> AuditWriter:
        return AuditWriter(self.places, load_or_create_key("audit"), self.fails)

    def _events(self) -> EventLog:
        return EventLog(self.places, self.ref("audit"), time.time)

    def _settings(self) -> Settings:
        return Settings(
            self.places,
            self._read_config,
            self.providers,
            audit=self.ref("audit"),
            events=self.ref("events"),
            clock=time.time,
            jobs=self._errands(),
            gate=self.gate,
        )

    def _knowledge(self) -> Knowledge:
        return Knowledge(self.places, self.ref("events"), time.time, self.scrubbing.hiding())

    def _breakers(self) -> Breakers:
        return Breakers(self.places, self.ref("events"), time.time, self.ref("quota"), self.ref("audit"))

    def _quota(self) -> Quota:
        return Quota(
            self.places,
            events=self.ref("events"),
            settings=self.ref("settings"),
            session=self.ref("session"),
            providers=self.providers,
            clients=quota_client,
            clock=time.time,
        )

    def _outcomes(self) -> Outcomes:
        return Outcomes(self.places, self.ref("events"))

    def _detector(self) -> Detector:
        return assembled(
            Scout(self.places.root, self.providers, self.config),
            self.places,
            self.ref,
            self._errands(),
            arm=self.scrubbing.arm,
            scrub=self.scrubbing.value,
            new_id=new_id,
        )

    def _approvals(self) -> Approvals:
        teller = Teller(self.ref("audit"), self.ref("events"), time.time, self.scrubbing.value)
        where = Where(str(self.places.root), str(Path.home()))
        shelf, known = Shelf(self.places, time.time), self.config.approvals
        return Approvals(shelf, teller, self.ref("settings"), time.time, known=known, where=where)

    def _models(self) -> Models:
        return Models(self.places, self.ref("settings"), self.providers, self._errands(), time.time)

    def _pipelines(self) -> Pipelines:
        return Pipelines(self.places, self.ref("settings"), self.providers, self._conductor)

    def _conductor(self) -> Conductor:
        book = Book(self.places, self.ref("audit"), self.ref("events"), time.time, self.scrubbing.value)
        return Conductor(book, self.places.root, self.ref("session"), new_id, self._pipeline_stumbles)

    def _errands(self) -> Jobs:
        return Jobs(self._jobs, self._job_spec, new_id)

    def _job_spec(self, job: str, errand: Errand) -> ChildSpec:
        """One temporary child a job: who wants it done once more asks once more."""
        redactor = Redactor(KnownSecrets(), load_or_create_key("redaction"))

        def make() -> Job:
            return Job(
                job,
                errand,
                events=self.ref("events"),
                settings=self.ref("settings"),
                scrub=redactor.text,
                clock=time.time,
            )

        return actor_spec(job, make, Slot(f"job {job}"), restart=Restart.TEMPORARY)

    def _read_config(self) -> Config:
        self.config = self.load_config()
        return self.config

    def _session(self) -> Session:
        kit = self._session_kit()
        return Session(kit, self._hire(kit))

    def _session_kit(self) -> Kit:
        """Fresh for each incarnation: all that lasts is in the ledger's file."""
        self.scrubbing.kit = Kit(
            places=self.places,
            ledger=Ledger(self.places, self.ref("audit"), self.ref("events"), time.time),
            board=Board(),
            audit=self.ref("audit"),
            events=self.ref("events"),
            breakers=self.ref("breakers"),
            quota=self.ref("quota"),
            settings=self.ref("settings"),
            approvals=self.ref("approvals"),
            knowledge=self.ref("knowledge"),
            providers=self.providers,
            keys=own_keys(),
            config=self.config,
            tallies=Tallies(),
            new_id=new_id,
            clock=time.time,
            chance=random.random,
            stumbles=self._stumbles,
            detection=self._detection,
        )
        return self.scrubbing.kit

    def _hire(self, kit: Kit) -> Driver:
        return hire(kit, self._adapters, partial(self._adapter_spec, kit))

    def _adapter_spec(self, kit: Kit, dispatch: Dispatch) -> tuple[ChildSpec, Ref[Any]]:
        """One temporary child a dispatch: an agent's end is news for the session, never a restart."""
        slot: Slot[Any] = Slot(f"adapter {dispatch.assignment.dispatch_id}")
        provider = self.providers[dispatch.provider]

        def make() -> Adapter:
            return Adapter(
                dispatch,
                provider,
                self.ref("session"),
                kit.redactor(),
                lambda: agent_launch(
                    provider,
                    dispatch.assignment,
                    kit.config,
                    kit.env_of(provider.name, dispatch.assignment.account.label),
                ),
            )

        spec = actor_spec(dispatch.assignment.dispatch_id, make, slot, restart=Restart.TEMPORARY)
        return spec, slot.ref

    def context(self) -> Context:
        """What serves the API's routes."""
        return Context(self.places, self.ref, self._snapshot, self.scrubbing.file, self.insist_on_trust)

    def _front(self) -> FrontEnd:
        port = self.bound.port if self.bound is not None else self.port
        server = self.config.server
        door = partial(
            serve,
            self.context(),
            host=self.host,
            port=port,
            redact=self.scrubbing.value,
            origins=server.allowed_origins,
            token=server.token,
            project=str(self.places.root),
            tools=partial(ToolsApp, clean=clean),
            unix=self.places.root / Path(server.socket).expanduser() if server.socket else None,
        )
        return FrontEnd(door, self._listens)

    def _listens(self, bound: Bound) -> None:
        self.bound = bound
        self.listening.set()

    def fails(self, error: HubError) -> None:
        """The daemon ends with this error, its agent left as it is. The first one counts."""
        self.failure = self.failure or error
        self.failed.set()

    def _snapshot(self) -> NodeInfo:
        if self.picture is None:
            raise HubError(Code.UNAVAILABLE, "The daemon is just starting.")
        return self.picture()
