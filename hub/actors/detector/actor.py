"""The detector: which agents run on this machine without hub, and what they were doing.

Owns: when the machine is looked at, the announcement of what is new, and telling the quota what it has spent.
Must not: change anything of another agent's, or run its commands; look on the event loop.

Ambient mode polls; it watches no files. What was announced is known by its name in the event log, so an agent is told
of once, however often the daemon is started while it runs. Transcripts that were there before the daemon are no news.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from typing import Any

import trio

from hub.actors.detector.adopting import Adopting
from hub.actors.detector.meter import Meter
from hub.actors.detector.scout import Scout
from hub.domain.config.reader import Config
from hub.domain.detection.detected import Detected
from hub.domain.event import Tag
from hub.domain.text import headline
from hub.errors import Code, HubError
from hub.io.runner.proc import boot_id
from hub.io.sqlite import NewEvent
from hub.messages import Adopt, Detect, EventAppend, GetConfig, SpentElsewhere
from supervisors import DEFER, Actor, ActorDied, Ref, Reply

_TIMEOUT = 30.0
_FIRST_LOOK = 2.0
"""Seconds after a start: nobody waits for a daemon because of a look."""
_HOUR = 3600.0
_WINDOW = 24
"""Hours of sessions that ambient mode knows of."""


class Detector(Actor[Any]):
    """What it is asked takes its time, so every answer is given later."""

    answers = (HubError,)

    def __init__(
        self,
        scout: Scout,
        adopting: Adopting,
        *,
        meter: Meter,
        events: Ref[Any],
        quota: Ref[Any],
        settings: Ref[Any],
        scrub: Callable[[Any], Any],
        clock: Callable[[], float],
    ) -> None:
        self._scout = scout
        self._adopting = adopting
        self._adoption = trio.Lock()
        self._meter = meter
        self._events = events
        self._quota = quota
        self._settings = settings
        self._scrub = scrub
        self._clock = clock
        self._looking = trio.Lock()
        self._hours = _WINDOW
        self._known: set[str] | None = None
        """Names of what was announced, or was there before; None before the first scan."""
        self._unsaid = True
        """Whether a scan has found what is not announced: one made for a client leaves nothing new for a glance."""

    async def started(self) -> None:
        """Begin to look."""
        self.ctx.nursery.start_soon(self._watch)

    async def handle(self, message: Any) -> Any:
        """Look now, and answer."""
        match message:
            case Adopt():
                self.ctx.nursery.start_soon(self._adopt, message, self.ctx.current_reply)
                return DEFER
            case Detect(since_hours=hours):
                self.ctx.nursery.start_soon(self._detect, hours, self.ctx.current_reply)
                return DEFER
            case _:
                raise TypeError(f"{type(message).__name__} is not for the detector")

    async def _detect(self, hours: int, reply: Reply | None) -> None:
        self._hours = max(self._hours, hours)  # what was ever shown may be adopted
        found = await self._scan(hours)
        if reply is not None:
            reply.answer(await trio.to_thread.run_sync(lambda: [self._scout.to_json(one) for one in found]))

    async def _adopt(self, order: Adopt, reply: Reply | None) -> None:
        """One at a time: two orders for the same agent are one start and one refusal."""
        async with self._adoption:
            try:
                answer = await self._adopting.adopt(order, await self._found(order.id))
            except HubError as error:
                if reply is not None:
                    reply.fail(error)
                return
        if reply is not None:
            reply.answer(answer)

    async def _found(self, number: str) -> Detected:
        """The agent of this id, as it is now; an id is only ever a key of a scan.

        Raises:
            HubError: `not_found`.
        """
        for one in await self._scan(self._hours):
            if one.id == number:
                return one
        raise HubError(Code.NOT_FOUND, f"No agent {number!r} was detected.", hint="See: hub detect")

    async def _scan(self, hours: int) -> tuple[Detected, ...]:
        since = self._clock() - hours * _HOUR
        async with self._looking:
            await self._refresh_config()
            found = await trio.to_thread.run_sync(self._scout.scan, since)
        self._unsaid = self._unsaid or any(names(one)[0] not in (self._known or ()) for one in found)
        return found

    # --- ambient mode ---------------------------------------------------------------------------------

    async def _watch(self) -> None:
        await trio.sleep(_FIRST_LOOK)
        while True:
            config = await self._refresh_config()
            if config.detect.ambient:
                if await self._glance() or self._unsaid:
                    found = await self._scan(_WINDOW)
                    await self._announce(found)
                    self._meter.follow(found)
                await self._meter_on()
            await trio.sleep(config.detect.interval)

    async def _glance(self) -> bool:
        async with self._looking:
            return await trio.to_thread.run_sync(self._scout.glance)

    async def _announce(self, found: Iterable[Detected]) -> None:
        """Say what is new, once. What is not logged now is told at the next look."""
        first, known = self._known is None, self._known or set()
        fresh = [one for one in found if names(one)[0] not in known]
        told = [one for one in fresh if not one.hubs and (one.agent or one.gap or not first)]
        try:
            if told:
                events = [self._event(one) for one in told]
                await self._events.call(EventAppend(events), timeout=_TIMEOUT)
        except (HubError, ActorDied, trio.TooSlowError):
            return
        self._known, self._unsaid = known.union(*(names(one) for one in found)), False

    async def _meter_on(self) -> None:
        """Tell the quota what sessions have more that hub did not start. What it does not answer is told again."""
        growths = await trio.to_thread.run_sync(self._meter.look) if self._meter.places is not None else ()
        if not growths and self._meter.places is not None:
            return
        places = None
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
            places = await self._quota.call(SpentElsewhere(growths), timeout=_TIMEOUT)
        self._meter.counted(growths, places)

    def _event(self, found: Detected) -> NewEvent:
        told = self._scrub(self._scout.to_json(found))
        if found.gap is not None:
            msg = f"sessions of {told['displayName']} may be missing from what is detected: {told['alarm']}"
            return NewEvent(
                str(Tag.ERROR), msg, {"detected": told["id"]}, int(self._clock() * 1000), names(found)[0], 0
            )
        session = told["session"] or {}
        where = f"{told['displayName']} {'runs in' if told['running'] else 'was in'} {told['workDir'] or '?'}"
        what = headline(session.get("initialPrompt", ""))
        msg = f"{where} (pid {told['pid']})" if told["running"] else where
        meta = {
            "detected": told["id"],
            **{
                name: told[name]
                for name in ("provider", "pid", "workDir", "account", "running", "confidence")
            },
            "nativeSession": session.get("sessionId", ""),
            "prompt": what,
        }
        msg = f"{msg}: {what}" if what else msg
        return NewEvent(str(Tag.SYSTEM), msg, meta, int(self._clock() * 1000), names(found)[0], 0)

    async def _refresh_config(self) -> Config:
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):  # the last valid one stays in use
            self._scout.config = await self._settings.call(GetConfig(), timeout=_TIMEOUT)
        return self._scout.config


def names(found: Detected) -> tuple[str, ...]:
    """By what it is known again, its own name first: its process, its session, sessions that may be its own."""
    agent = found.agent
    process = (f"detect:{boot_id()}:{agent.key[0]}:{agent.key[1]}",) if agent is not None else ()
    sessions = (found.choice.session_id, *found.choice.candidates)
    kept = (f"detect:{found.provider}:{session}" for session in sessions if session)
    return tuple(dict.fromkeys((*process, *kept))) or (f"detect:{found.id}",)
