"""The detector: which agents run on this machine without hub, and what they were doing.

Owns: when the machine is looked at, the announcement of what is new, and telling the quota what it has spent.
Must not: change anything of another agent's, or run its commands; look on the event loop.

Ambient mode polls; it watches no files.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, assert_never

import trio

from hub.actors.detector.adopting import Adopting
from hub.actors.detector.meter import SessionMeter
from hub.actors.detector.news import DetectorNews
from hub.actors.detector.scanner import Scanner
from hub.api import detect as api
from hub.api.convert import unstructure
from hub.api.detect import Adopted
from hub.domain.config.reader import Config
from hub.domain.detection.detected import DetectedAgent
from hub.domain.event import Record
from hub.errors import Code, HubError
from hub.messages import Adopt, Detect, DetectorInbox, EventAppend, EventsSince, GetConfig, SpentElsewhere
from supervisors import Actor, ActorDied, Answer, Ref

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
        adopting: Adopting,
        *,
        meter: SessionMeter,
        events: Ref[EventAppend | EventsSince],
        quota: Ref[SpentElsewhere],
        settings: Ref[GetConfig],
        scrub: Callable[[Any], Any],
        clock: Callable[[], float],
    ) -> None:
        self._scanner = scanner
        self._adopting = adopting
        self._adoption = trio.Lock()
        self._meter = meter
        self._events = events
        self._quota = quota
        self._settings = settings
        self._clock = clock
        self._looking = trio.Lock()
        self._hours = _WINDOW
        self._news = DetectorNews(
            lambda found: scrub(unstructure(scanner.shown(found))), clock, scanner.concerns
        )
        self._unpublished = True
        """Whether a scan has found what is not announced: one made for a client leaves nothing new for a glance."""

    async def started(self) -> None:
        """Begin to look."""
        self.ctx.nursery.start_soon(self._watch)

    async def handle(self, message: DetectorInbox) -> Answer | None:
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
            return await self._adopting.adopt(order, await self._found(order.id))

    async def _found(self, number: str) -> DetectedAgent:
        """The agent of this id, as it is now; an id is only ever a key of a scan.

        Raises:
            HubError: `not_found`.
        """
        for one in await self._scan(self._hours):
            if one.id == number:
                return one
        raise HubError(Code.NOT_FOUND, f"No agent {number!r} was detected.", hint="See: hub detect")

    async def _scan(self, hours: int) -> tuple[DetectedAgent, ...]:
        since = self._clock() - hours * _HOUR
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
        began = self._clock()
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
                ids = await self._events.call(EventAppend(events), timeout=_TIMEOUT)
                said = [
                    self._news.again(one, await self._logged(at)) for one, at in zip(events, ids, strict=True)
                ]
                await self._events.call(
                    EventAppend([one for one in said if one is not None]), timeout=_TIMEOUT
                )
        except (HubError, ActorDied, trio.TooSlowError):
            return
        self._news.told(found, began)
        self._unpublished = False

    async def _logged(self, number: int) -> Record | None:
        """The event that the log has under this id."""
        found = await self._events.call(EventsSince(number - 1, 1), timeout=_TIMEOUT)
        return found[0] if found else None

    async def _meter_on(self) -> None:
        """Tell the quota what sessions have more that hub did not start. What it does not answer is told again."""
        growths = await trio.to_thread.run_sync(self._meter.look) if self._meter.places is not None else ()
        if not growths and self._meter.places is not None:
            return
        places = None
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
            places = await self._quota.call(SpentElsewhere(growths), timeout=_TIMEOUT)
        self._meter.counted(growths, places)

    async def _refresh_config(self) -> Config:
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):  # the last valid one stays in use
            self._scanner.config = await self._settings.call(GetConfig(), timeout=_TIMEOUT)
        return self._scanner.config
