"""A job tells its beginning, its progress and its end; one that is killed says so and is not begun again."""

from __future__ import annotations

from contextlib import asynccontextmanager

import attrs
import pytest
import trio

from hub.actors.audit import AuditWriter
from hub.actors.common.outbox import Outbox
from hub.actors.events import EventLog
from hub.actors.jobs import JobActor
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.message_map import slot_of
from hub.messages.events import EventsSince
from hub.messages.settings import ProviderChanged
from supervisors import (
    Actor,
    AdminCode,
    AdminError,
    DynamicHandle,
    Restart,
    SupervisorSpec,
    actor_spec,
    dynamic_spec,
)
from tests.trees import running

CALL = 30.0


@attrs.define
class Work:
    """An errand that does what the test says."""

    title: str = "installing x"
    provider: str = "x"
    fails_at_once: bool = False
    ends: trio.Event = attrs.field(factory=trio.Event)
    begun: int = 0
    failure: HubError | None = None

    async def begin(self):
        self.begun += 1
        if self.fails_at_once:
            raise HubError(Code.NO_TERMINAL, "none here")
        return "installing x: npm install x"

    async def carry(self, say):
        await say("half way \x1b[31mred sk-ant-api03-wonderful")
        await self.ends.wait()
        if self.failure is not None:
            raise self.failure
        return "x is installed"


class Listener(Actor[object]):
    """Stands where the settings stand."""

    heard = ()

    async def handle(self, message):
        type(self).heard = (*type(self).heard, message)


@asynccontextmanager
async def jobs(tmp_path):
    (tmp_path / ".hub").mkdir(mode=0o700)
    places = Places(tmp_path, tmp_path / "state")
    audit, events, settings = slot_of("audit"), slot_of("events"), slot_of("settings")
    handle = DynamicHandle("jobs")
    Listener.heard = ()

    async def start(work):
        def make():
            def scrub(told):
                return told.replace("wonderful", "*") if isinstance(told, str) else told

            outbox = Outbox(events.ref, lambda: 1.0, scrub=scrub, patience=10.0)
            return JobActor("job-1", work, outbox, settings.ref)

        slot = slot_of("job")
        await handle.start_child(actor_spec("job-1", make, slot, restart=Restart.TEMPORARY))
        gone = trio.Event()
        slot.ref.monitor(lambda _: gone.set())
        return gone

    async def said():
        return [(r.tag, r.msg) for r in await events.ref.call(EventsSince(0), timeout=CALL)]

    children = [
        actor_spec("audit", lambda: AuditWriter(places, b"k" * 32, print), audit),
        actor_spec("events", lambda: EventLog(places, audit.ref, lambda: 1.0), events),
        actor_spec("settings", Listener, settings),
        dynamic_spec("jobs", handle),
    ]
    async with running(SupervisorSpec(children=children)):
        yield handle, start, said


BEGUN = [("system", "installing x: npm install x"), ("system", "half way red sk-ant-api03-*")]


async def test_a_job_tells_what_it_does(tmp_path):
    work = Work()
    async with jobs(tmp_path) as (handle, start, said):
        gone = await start(work)
        work.ends.set()
        await gone.wait()
        assert await said() == [*BEGUN, ("system", "x is installed")]
        assert Listener.heard == (ProviderChanged("x"),)
        assert handle.which_children() == ()


async def test_a_job_that_fails_says_why_and_what_to_do(tmp_path):
    work = Work(failure=HubError(Code.TIMEOUT, "It took too long.", hint="Try again."))
    async with jobs(tmp_path) as (_, start, said):
        gone = await start(work)
        work.ends.set()
        await gone.wait()
        assert (await said())[-1] == ("error", "installing x failed: It took too long. Try again.")


async def test_a_job_that_cannot_begin_is_none(tmp_path):
    async with jobs(tmp_path) as (handle, start, said):
        with pytest.raises(AdminError) as caught:
            await start(Work(fails_at_once=True))
        assert caught.value.code is AdminCode.START_FAILED
        assert (await said(), handle.which_children()) == ([], ())


@pytest.mark.parametrize("how", ["terminated", "bug"])
async def test_a_job_that_is_cut_off_says_so_and_is_not_begun_again(tmp_path, how):
    """It loses nothing but itself: the log and the supervisor go on."""
    work = Work()
    async with jobs(tmp_path) as (handle, start, said):
        gone = await start(work)
        if how == "bug":
            work.failure = RuntimeError("a bug")
            work.ends.set()
        else:
            await handle.terminate_child("job-1")
        await gone.wait()
        assert await said() == [*BEGUN, ("error", "installing x was cut off; ask for it again")]
        assert (work.begun, handle.which_children()) == (1, ())
