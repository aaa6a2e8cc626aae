"""Jobs: what takes its time and is lost without harm; one temporary child each.

Owns: the telling of a job's beginning, progress and end in the event log.
Must not: know what a job does (`hub.actors.common.job` tells its shape), or run one a second time.

A job that is killed says so, and is not started again: whoever wanted it asks once more.
"""

from __future__ import annotations

from typing import Never

from hub.actors.common.job import Job
from hub.actors.common.outbox import Outbox
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.text.safe import clean, clip
from hub.errors import HubError
from hub.messages.settings import ProviderChanged
from supervisors import Actor, Exit, Ref, Shutdown

_LINE = 2000


class JobActor(Actor[Never]):
    """One job, from its beginning to its end."""

    def __init__(self, job_id: str, work: Job, outbox: Outbox, settings: Ref[ProviderChanged]) -> None:
        self._id = job_id
        self._work = work
        self._outbox = outbox
        self._settings = settings
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
        meta: EventMeta = {"jobId": self._id, "provider": self._work.provider}
        await self._outbox.publish(tag, clip(self._outbox.scrub(clean(text)), _LINE), meta)
