"""The detector: which agents run on this machine without hub, and what they were doing.

Owns: when the machine is looked at; by which name an agent, a session and a prompt are known again, and the announcement of
what is new; telling the quota what it has spent.
Must not: change anything of another agent's, or run its commands; look on the event loop.

Ambient mode polls; it watches no files. An agent is told of when it is first seen, and once more when it is first known what
it was asked to do; one that begins another session is asked something else, and that is told too. The log knows the agent by
a name and the prompt by another, so neither is told twice, however often the daemon is started meanwhile: whether the event
with the agent's name told of the prompt as well, the log's own record says (`again`). Transcripts that were there before the
daemon are no news.

Tests: tests/hub/actors/detector/test_detector.py, tests/hub/actors/detector/test_shown.py
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import assert_never

import attrs
import trio

from hub.actors.common.calls import call_or_none, call_until_answered
from hub.actors.common.job import Jobs
from hub.actors.common.outbox import Outbox
from hub.actors.detector.adopting import Adopting
from hub.actors.detector.carrying import Carrying
from hub.actors.detector.meter import SessionMeter
from hub.actors.detector.scanner import Scanner
from hub.api import detect as api
from hub.api.convert import structure, unstructure
from hub.api.detect import Adopted
from hub.domain.config.reader import Config
from hub.domain.detection.detected import DetectedAgent, meant_by
from hub.domain.detection.matching import Agent
from hub.domain.event import Record, Tag
from hub.domain.meta import EventMeta
from hub.domain.text.safe import headline
from hub.domain.wallclock import iso
from hub.errors import HubError
from hub.io.events.store import NewEvent
from hub.io.project.places import Places, load_or_create_key
from hub.io.runner.proc import boot_id
from hub.messages.detector import Adopt, Detect, DetectorInbox
from hub.messages.events import EventsSince
from hub.messages.quota import SpentElsewhere
from hub.messages.session import GetInUse, StartRun, WhoBegins
from hub.messages.settings import GetConfig
from hub.providers.registry import spent
from supervisors import Actor, Answer, Ref

_this_boot = cache(boot_id)
"""Asked for every agent of every look."""


@attrs.define
class DetectorNews:
    """What was told, or was there before."""

    served: Callable[[DetectedAgent], api.Detected]
    """As an agent is served, redacted."""
    clock: Callable[[], float]
    concerns: Callable[[DetectedAgent], bool]
    """Whether it is this log's to tell: of this project, and not hub's own."""
    since: float
    """A session that was last written before is no news of the first look."""
    _known: set[str] | None = None
    """Names; None before the first look."""
    _heard: set[str] = attrs.field(factory=set)
    """Names of prompts that the log has under the name of their agent."""
    _looked: float | None = None
    """When the last look began of which all was told; None before it."""

    def unpublished(self, found: Iterable[DetectedAgent]) -> bool:
        """Whether something of this is to be told."""
        return any(self._fresh(one) for one in found)

    def events(self, found: Iterable[DetectedAgent]) -> list[NewEvent]:
        """What is to be told of a scan. What it holds is not known before `told`."""
        since = self.since if self._known is None else 0.0
        fresh = [one for one in found if self._fresh(one)]
        return [
            self._event(one)
            for one in fresh
            if one.gap or (self.concerns(one) and (one.agent or one.last_active >= since))
        ]

    def again(self, event: NewEvent, logged: Record | None) -> NewEvent | None:
        """The event once more, under its prompt's own name, where what the log has in its place does not tell the prompt.

        Args:
            event: One of `events`, appended.
            logged: The log's, which may be of an earlier daemon.
        """
        meta = logged.meta if logged is not None else {}
        if meta.get("prompt"):
            self._heard.add(f"{event.dispatch_id}:{meta.get('nativeSession', '')}")
        name = f"{event.dispatch_id}:{event.meta.get('nativeSession', '')}"
        if not event.meta.get("prompt") or name in self._heard:
            return None
        return attrs.evolve(event, dispatch_id=name)

    def told(self, found: Iterable[DetectedAgent], looked: float) -> None:
        """All of it is in the log; the look at which it was found began then."""
        self._known = (self._known or set()).union(*map(_names, found))
        self._looked = looked

    def quiet(self, looked: float) -> None:
        """A look that began then found nothing new."""
        self._looked = looked

    def _fresh(self, found: DetectedAgent) -> bool:
        name = _bare(found)[0]
        return not all(
            one in self._heard or one in (self._known or ()) for one in (name, _asked(found, name))
        )

    def _event(self, found: DetectedAgent) -> NewEvent:
        told, name = self.served(found), _bare(found)[0]
        if name in (self._known or ()):
            name = _asked(found, name)
        tag, msg, meta = _alarm(told) if found.gap is not None else self._said(found, told)
        return NewEvent(str(tag), msg, meta, int(self.clock() * 1000), name, 0)

    def _said(self, found: DetectedAgent, told: api.Detected) -> tuple[Tag, str, EventMeta]:
        pids = " or ".join(str(agent.pids[0]) for agent in found.contenders) or told.pid
        where = f"{told.display_name} {'runs' if pids else 'was'} in {told.work_dir or '?'}"
        what = headline(told.session.initial_prompt)
        meta: EventMeta = {
            "detected": told.id,
            "provider": told.provider,
            "pid": told.pid,
            "workDir": told.work_dir,
            "account": told.account,
            "running": told.running,
            "confidence": str(told.confidence),
            "nativeSession": told.session.session_id,
            "prompt": what,
            "absentAt": "" if self._looked is None else iso(self._looked),
        }
        msg = f"{where} (pid {pids})" if pids else where
        return Tag.SYSTEM, f"{msg}: {what}" if what else msg, meta


def _alarm(told: api.Detected) -> tuple[Tag, str, EventMeta]:
    msg = f"sessions of {told.display_name} may be missing from what is detected: {told.alarm}"
    return Tag.ERROR, msg, {"detected": told.id}


def _names(found: DetectedAgent) -> tuple[str, ...]:
    """All its names, and those that its sessions will have once nobody runs them; each also with its prompt."""
    bare = _bare(found)
    contenders = map(_process, found.contenders)
    return (*bare, *(_asked(found, name) for name in (*bare, *contenders)))


def _bare(found: DetectedAgent) -> tuple[str, ...]:
    """Its process, its session, the sessions that may be its own; whatever it was asked."""
    process = (_process(found.agent),) if found.agent is not None else ()
    sessions = (found.choice.session_id, *found.choice.candidates)
    kept = (f"detect:{found.provider}:{session}" for session in sessions if session)
    return tuple(dict.fromkeys((*process, *kept))) or (f"detect:{found.id}",)


def _process(agent: Agent) -> str:
    return f"detect:{_this_boot()}:{agent.key[0]}:{agent.key[1]}"


def _asked(found: DetectedAgent, name: str) -> str:
    return f"{name}:{found.kept.session_id}" if found.kept is not None and found.prompt else name


_TIMEOUT = 30.0
_FIRST_LOOK = 2.0
"""Seconds after a start: nobody waits for a daemon because of a look."""
_HOUR = 3600.0
_WINDOW = 24
"""Hours of sessions that ambient mode knows of."""


class Detector(Actor[DetectorInbox]):
    """What it is asked takes its time, so every answer is given later."""

    answers = (HubError,)

    def __init__(
        self,
        scanner: Scanner,
        places: Places,
        jobs: Jobs,
        *,
        outbox: Outbox,
        events: Ref[EventsSince],
        sessions: Ref[GetInUse | StartRun | WhoBegins],
        quota: Ref[SpentElsewhere],
        settings: Ref[GetConfig],
        arm: Callable[[], Awaitable[None]],
        new_id: Callable[[str], str],
        insist_orders: Callable[[Path], None],
    ) -> None:
        """Over the other actors; what the rest is for stands with `Adopting`.

        `new_id("s")` gives an id that is never given twice; `arm` makes the engine ready that finds secrets for the outbox.
        """
        self._scanner = scanner
        self._adopting = Adopting(
            scanner=scanner,
            places=places,
            outbox=outbox,
            session=sessions,
            carrying=Carrying(scanner, places, sessions, jobs),
            key=load_or_create_key("contract"),
            arm=arm,
            new_id=new_id,
            insist_orders=insist_orders,
        )
        self._adoption = trio.Lock()
        self._meter = SessionMeter(spent, scanner.files)
        self._outbox = outbox
        self._events = events
        self._quota = quota
        self._settings = settings
        self._looking = trio.Lock()
        self._hours = _WINDOW
        self._news = DetectorNews(
            lambda found: structure(outbox.scrub(unstructure(scanner.shown(found))), api.Detected),
            time.time,
            scanner.concerns,
            time.time(),
        )
        self._unpublished = True
        """Whether a scan has found what is not announced: one made for a client leaves nothing new for a glance."""

    async def started(self) -> None:
        """Begin to look."""
        self.ctx.nursery.start_soon(self._watch)

    async def handle(self, message: DetectorInbox) -> Answer:
        """Look now, and answer."""
        match message:
            case Adopt():
                return self.answer_later(message, self._adopt(message))
            case Detect(since_hours=hours):
                return self.answer_later(message, self._detect(hours))
            case _:
                assert_never(message)

    async def _detect(self, hours: int) -> list[api.Detected]:
        self._hours = max(self._hours, hours)  # what was ever shown may be adopted
        found = await self._scan(hours)
        return await trio.to_thread.run_sync(lambda: [self._scanner.shown(one) for one in found])

    async def _adopt(self, order: Adopt) -> Adopted:
        """One at a time: two orders for the same agent are one start and one refusal."""
        async with self._adoption:
            # As it is now; an id is only ever a key of a scan.
            return await self._adopting.adopt(order, meant_by(order.id, await self._scan(self._hours)))

    async def _scan(self, hours: int) -> tuple[DetectedAgent, ...]:
        since = time.time() - hours * _HOUR
        async with self._looking:
            await self._refresh_config()
            found = await trio.to_thread.run_sync(self._scanner.scan, since)
        self._unpublished = self._unpublished or self._news.unpublished(found)
        return found

    # --- ambient mode ---------------------------------------------------------------------------------

    async def _watch(self) -> None:
        await trio.sleep(_FIRST_LOOK)
        while True:
            config = await self._refresh_config()
            if config.detect.ambient:
                await self._look()
                await self._meter_on()
            await trio.sleep(config.detect.interval)

    async def _look(self) -> None:
        """Announce what is new since the look before."""
        began = time.time()
        if not (await self._glance() or self._unpublished):
            self._news.quiet(began)
            return
        found = await self._scan(_WINDOW)
        await self._announce(found, began)
        self._meter.follow(found)

    async def _glance(self) -> bool:
        async with self._looking:
            return await trio.to_thread.run_sync(self._scanner.glance)

    async def _announce(self, found: Sequence[DetectedAgent], began: float) -> None:
        """Say what is new, once. What is not logged now is told at the next look."""
        try:
            if events := self._news.events(found):
                ids = await self._outbox.log(events)
                said = [
                    self._news.again(one, await self._logged(at)) for one, at in zip(events, ids, strict=True)
                ]
                await self._outbox.log([one for one in said if one is not None])
        except HubError:
            return
        self._news.told(found, began)
        self._unpublished = False

    async def _logged(self, number: int) -> Record | None:
        """The event that the log has under this id."""
        found = await call_until_answered(self._events, EventsSince(number - 1, 1))
        return found[0] if found else None

    async def _meter_on(self) -> None:
        """Tell the quota what sessions have more that hub did not start. What it does not answer is told again."""
        growths = await trio.to_thread.run_sync(self._meter.look) if self._meter.places is not None else ()
        if not growths and self._meter.places is not None:
            return
        places = await call_or_none(self._quota, SpentElsewhere(growths), _TIMEOUT)
        self._meter.counted(growths, places)

    async def _refresh_config(self) -> Config:
        """The last valid one stays in use."""
        found = await call_or_none(self._settings, GetConfig(), _TIMEOUT)
        self._scanner.config = found or self._scanner.config
        return self._scanner.config
