"""Jobs: what takes its time and is lost without harm; one temporary child each.

Owns: the telling of a job's beginning, progress and end in the event log.
Must not: know what a job does (`hub.actors.common.job` tells its shape), or run one a second time.

A job that is killed says so, and is not started again: whoever wanted it asks once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Never

from hub.actors.common.job import Job
from hub.actors.common.outbox import Outbox
from hub.domain.event import Tag
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.text.safe import clean, clip
from hub.errors import HubError
from hub.io.project.places import load_or_create_key
from hub.messages import EventAppend, ProviderChanged
from supervisors import Actor, ChildSpec, Exit, Ref, Restart, Shutdown, Slot, actor_spec

_SAY_TIMEOUT = 10.0
_LINE = 2000


class JobActor(Actor[Never]):
    """One job, from its beginning to its end."""

    def __init__(
        self,
        job_id: str,
        work: Job,
        *,
        events: Ref[EventAppend],
        settings: Ref[ProviderChanged],
        scrub: Callable[[str], str],
        clock: Callable[[], float],
    ) -> None:
        self._id = job_id
        self._work = work
        self._settings = settings
        self._scrub = scrub
        self._outbox = Outbox(events, clock, patience=_SAY_TIMEOUT)
        self._over = False

    async def started(self) -> None:
        """Ready when the job has begun.

        Raises:
            HubError: It cannot be done.
        """
        words = await self._work.begin()
        await self._say(words)
        self.ctx.nursery.start_soon(self._carry)

    async def stopped(self, exit: Exit) -> None:
        """Say so when it was cut off."""
        if not self._over:
            await self._say(f"{self._work.title} was cut off; ask for it again", Tag.ERROR)

    async def _carry(self) -> None:
        try:
            words = await self._work.carry(self._say)
        except HubError as error:
            self._over = True
            await self._say(f"{self._work.title} failed: {error.detail} {error.hint}", Tag.ERROR)
        else:
            self._over = True
            await self._say(words)
        if self._work.provider:
            self._settings.try_cast(ProviderChanged(self._work.provider))
        raise Shutdown("done")

    async def _say(self, text: str, tag: Tag = Tag.SYSTEM) -> None:
        meta = {"jobId": self._id, "provider": self._work.provider}
        await self._outbox.publish(tag, clip(self._scrub(clean(text)), _LINE), meta)


def job_spec(
    job: str,
    work: Job,
    slot: Slot[Never],
    *,
    events: Ref[EventAppend],
    settings: Ref[ProviderChanged],
    clock: Callable[[], float],
) -> ChildSpec:
    """One temporary child a job: who wants it done once more asks once more."""
    redactor = Redactor(KnownSecrets(), load_or_create_key("redaction"))

    def make() -> JobActor:
        return JobActor(job, work, events=events, settings=settings, scrub=redactor.text, clock=clock)

    return actor_spec(job, make, slot, restart=Restart.TEMPORARY)
