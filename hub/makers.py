"""How the actors are made without which a daemon can answer.

Owns: what each of them is given. Part of the composition root, beside `hub.app`.
Must not: import one of them before it is made: the first answer of a daemon waits for none.
Tests: tests/hub/test_daemon.py, tests/hub/test_start.py
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from hub.actors.errand import Jobs
from hub.actors.stumbles import Stumbles
from hub.domain.config.reader import Config
from hub.io.places import Places
from hub.io.trust import Gate
from hub.providers.registry import quota_client
from supervisors import Actor, Ref

if TYPE_CHECKING:
    from hub.actors.knowledge.indexer import Hiding
    from hub.actors.pipelines.conductor import Conductor
    from hub.providers.base import Provider


@attrs.frozen(eq=False)
class Makers:
    """One method an actor; each may be called in a worker thread, once an incarnation."""

    places: Places
    ref: Callable[[str], Ref[Any]]
    """The reference of a named actor."""
    providers: Mapping[str, Provider]
    load_config: Callable[[], Config]
    """Reads the configuration anew."""
    config: Callable[[], Config]
    """The last one that was read."""
    gate: Gate | None
    """The project's door."""
    jobs: Jobs
    new_id: Callable[[str], str]
    arm: Callable[[], Awaitable[None]]
    """Makes the detection engine ready."""
    scrub: Callable[[Any], Any]
    """Hides what is secret in a value."""
    hiding: Callable[[], Hiding]
    """How the knowledge keeps secrets out."""
    stumbles: Stumbles = attrs.field(factory=Stumbles)
    """The pipelines', over their incarnations."""

    def settings(self) -> Actor[Any]:
        """The one reader and writer of the configuration."""
        from hub.actors.settings.actor import Settings

        return Settings(
            self.places,
            self.load_config,
            self.providers,
            audit=self.ref("audit"),
            events=self.ref("events"),
            clock=time.time,
            jobs=self.jobs,
            gate=self.gate,
        )

    def knowledge(self) -> Actor[Any]:
        """Who has the graph."""
        from hub.actors.knowledge.actor import Knowledge

        return Knowledge(self.places, self.ref("events"), time.time, self.hiding())

    def breakers(self) -> Actor[Any]:
        """The circuit breakers."""
        from hub.actors.breakers import Breakers

        return Breakers(self.places, self.ref("events"), time.time, self.ref("quota"), self.ref("audit"))

    def quota(self) -> Actor[Any]:
        """The wallet."""
        from hub.actors.quota.actor import Quota

        return Quota(
            self.places,
            events=self.ref("events"),
            settings=self.ref("settings"),
            session=self.ref("session"),
            providers=self.providers,
            clients=quota_client,
            clock=time.time,
        )

    def outcomes(self) -> Actor[Any]:
        """How each profile has done."""
        from hub.actors.outcomes import Outcomes

        return Outcomes(self.places, self.ref("events"))

    def detector(self) -> Actor[Any]:
        """Who looks for agents that run without hub."""
        from hub.actors.detector.parts import assembled
        from hub.actors.detector.scout import Scout

        scout = Scout(self.places.root, self.providers, self.config())
        hide, new_id = self.scrub, self.new_id
        return assembled(scout, self.places, self.ref, self.jobs, arm=self.arm, scrub=hide, new_id=new_id)

    def approvals(self) -> Actor[Any]:
        """What waits for a person's word."""
        from hub.actors.approvals.actor import Approvals
        from hub.actors.approvals.shelf import Shelf
        from hub.actors.approvals.teller import Teller
        from hub.domain.rules import Where

        teller = Teller(self.ref("audit"), self.ref("events"), time.time, self.scrub)
        shelf, known = Shelf(self.places, time.time), self.config().approvals
        where = Where(str(self.places.root), str(Path.home()))
        return Approvals(shelf, teller, self.ref("settings"), time.time, known=known, where=where)

    def models(self) -> Actor[Any]:
        """Models on this machine, and looks at pictures."""
        from hub.actors.models.actor import Models

        return Models(self.places, self.ref("settings"), self.providers, self.jobs, time.time)

    def pipelines(self) -> Actor[Any]:
        """The pipelines and their one run."""
        from hub.actors.pipelines.actor import Pipelines

        return Pipelines(self.places, self.ref("settings"), self.providers, self._conductor)

    def _conductor(self) -> Conductor:
        from hub.actors.pipelines.book import Book
        from hub.actors.pipelines.conductor import Conductor

        book = Book(self.places, self.ref("audit"), self.ref("events"), time.time, self.scrub)
        return Conductor(book, self.places.root, self.ref("session"), self.new_id, self.stumbles)
