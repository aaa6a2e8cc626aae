"""An actor that is made late: whoever speaks to it meanwhile waits and is answered; nothing is lost or reordered."""

import threading

import attrs
import pytest
import trio

from hub.actors.late import Late
from hub.errors import Code, HubError
from supervisors import Actor, Slot, SupervisorSpec, actor_spec
from supervisors.events import EventKind
from supervisors.testing import Recorder, running

CALL = 20.0


@attrs.define
class Bench:
    """The place of one late actor, and what happened to those that filled it."""

    slot: Slot = attrs.field(factory=lambda: Slot("late"))
    due: trio.Event = attrs.field(factory=trio.Event)
    did: list = attrs.field(factory=list)
    failure: Exception | None = None
    """What the next one that is made fails with."""
    thread: threading.Thread | None = None
    recorder: Recorder = attrs.field(factory=Recorder)

    def make(self):
        self.thread = threading.current_thread()
        if (failure := self.failure) is not None:
            self.failure = None
            raise failure
        self.did.append("made")
        return Inner(self.did)

    def running(self):
        limiter = trio.CapacityLimiter(1)
        spec = actor_spec("late", lambda: Late(self.make, self.due, limiter, {int: 0}), self.slot)
        return running(SupervisorSpec(intensity=3, children=[spec]), on_event=self.recorder)

    async def ask(self, message):
        return await self.slot.ref.call(message, timeout=CALL)


class Inner(Actor):
    answers = (HubError,)

    def __init__(self, did):
        self._did = did

    async def started(self):
        self._did.append("started")
        self.ctx.nursery.start_soon(self._follow)

    async def _follow(self):
        self._did.append("follows")
        await trio.sleep_forever()

    async def handle(self, message):
        self._did.append(message)
        if message == "refuse":
            raise HubError(Code.NOT_FOUND)
        if message == "fall":
            raise RuntimeError(message)
        return message

    async def stopped(self, exit):  # noqa: A002  # the hook's name for it
        self._did.append("stopped")


async def test_its_place_is_taken_at_once_and_itself_is_made_when_it_is_due():
    bench = Bench()
    async with bench.running():
        assert bench.slot.alive
        assert bench.did == []
        bench.due.set()
        assert await bench.ask("a") == "a"
        await trio.testing.wait_all_tasks_blocked()
    assert sorted(bench.did[:4]) == sorted(["made", "started", "follows", "a"])
    assert bench.did[-1] == "stopped"


async def test_the_first_message_makes_it_in_another_thread_and_order_is_kept():
    """It imports: the event loop goes on meanwhile, and who asks waits rather than fails."""
    bench = Bench()
    async with bench.running():
        assert bench.slot.ref.try_cast("first")
        assert await bench.ask("second") == "second"
        bench.due.set()
        await trio.testing.wait_all_tasks_blocked()
    assert bench.thread is not threading.main_thread()
    assert [did for did in bench.did if did in ("first", "second")] == ["first", "second"]
    assert bench.did.count("made") == 1


async def test_what_the_actor_refuses_the_caller_is_told():
    bench = Bench()
    async with bench.running():
        with pytest.raises(HubError) as caught:
            await bench.ask("refuse")
        assert caught.value.code is Code.NOT_FOUND
        assert await bench.ask("a") == "a"
    assert bench.did.count("made") == 1


async def test_one_that_falls_is_made_anew_and_ready_only_when_it_is():
    """After the start a late actor is like any other: its restart is over when its own start is."""
    bench = Bench()
    bench.due.set()
    async with bench.running():
        with pytest.raises(Exception, match="fall"):
            await bench.ask("fall")
        await bench.slot.ref.wait_alive(CALL)
        assert [did for did in bench.did if did in ("made", "started")] == ["made", "started"] * 2


async def test_what_can_be_answered_without_it_does_not_make_it():
    """A question whose answer at the start is known, such as how many nodes a graph has that nobody opened yet."""
    bench = Bench()
    async with bench.running():
        assert await bench.ask(7) == 0
        assert bench.did == []
        assert await bench.ask("a") == "a"
        assert await bench.ask(7) == 7


async def test_one_that_was_never_made_has_nothing_to_clean():
    bench = Bench()
    async with bench.running():
        pass
    assert bench.did == []


async def test_one_that_cannot_be_made_when_it_is_due_is_tried_again_by_its_supervisor():
    bench = Bench(failure=HubError(Code.STATE_CORRUPT))
    async with bench.running():
        bench.due.set()
        await bench.recorder.wait(EventKind.EXITED, "late")
        await bench.slot.ref.wait_alive(CALL)
        assert await bench.ask("a") == "a"
