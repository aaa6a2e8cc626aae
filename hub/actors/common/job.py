"""What a job does, and how one is started.

Owns: the shape of a job, and the way to the supervisor of jobs.
Must not: know any one job.
Tests: tests/hub/actors/settings/test_program_jobs.py
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import attrs

from hub.actors.common.transient import coded_cause
from hub.errors import Code, HubError
from supervisors import AdminCode, AdminError, ChildSpec, DynamicHandle, ExitKind

Say = Callable[[str], Awaitable[None]]
"""Puts a line about the job into the event log."""


class Job(Protocol):
    """Something that takes its time and that somebody may ask for again."""

    @property
    def title(self) -> str:
        """What is being done, for people: `installing claude`."""

    @property
    def provider(self) -> str:
        """Whom it is done for; "" = nobody in particular."""

    async def begin(self) -> str:
        """Make sure that it can be done, and begin; answers what to say of that.

        Raises:
            HubError: It cannot; nothing was begun.
        """

    async def carry(self, say: Say) -> str:
        """See it through; answers what to say of its end.

        Raises:
            HubError: It failed.
        """


@attrs.frozen
class Jobs:
    """Starts jobs. One that has an id already is not started again."""

    handle: DynamicHandle
    spec: Callable[[str, Job], ChildSpec]
    """The child that carries a job, by its id."""
    new_id: Callable[[str], str]
    """`new_id("job")` -> a name for files, never given twice."""

    async def start(self, job: str, work: Job) -> None:
        """Returns when the job has begun.

        Raises:
            HubError: `job_running`, or why it could not begin.
        """
        try:
            await self.handle.start_child(self.spec(job, work))
        except AdminError as error:
            raise _coded(error, work) from error

    async def cancel(self, job: str) -> bool:
        """End a job; whether there was one."""
        try:
            await self.handle.terminate_child(job)
        except AdminError as error:
            if error.code is not AdminCode.NOT_FOUND:
                raise HubError(Code.TIMEOUT, "The job has not ended in time.") from error
            return False
        return True


def _coded(error: AdminError, work: Job) -> HubError:
    if error.code in {AdminCode.ALREADY_STARTED, AdminCode.ALREADY_PRESENT}:
        return HubError(Code.JOB_RUNNING, f"{work.title} is under way already.")
    if error.code is AdminCode.MAX_CHILDREN:
        return HubError(Code.JOB_RUNNING, "Too many jobs are already running.")
    if error.exit is None or error.exit.kind is ExitKind.SHUTDOWN:
        return HubError(Code.INTERRUPTED, f"{work.title} was cut off before it began.", hint="Ask again.")
    return coded_cause(error) or HubError(Code.INTERNAL, f"{work.title} could not be begun.")
