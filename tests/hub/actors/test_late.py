"""An actor that is made late: whoever speaks to it meanwhile waits and is answered; nothing is lost or reordered."""

import errno
import threading

import attrs
import pytest
import trio

from hub.actors.late import Late
from hub.errors import Code, HubError
from supervisors import Actor, ActorDied, IntensityReached, Slot, SupervisorSpec, actor_spec
from supervisors.events import EventKind
from supervisors.testing import Recorder, running
from tests.waiting import eventually

CALL = 20.0


@attrs.define
class Bench:
    """The place of one late actor, and what happened to those that filled it."""

    slot: Slot = attrs.field(factory=lambda: Slot("late"))
    due: trio.Event = attrs.field(factory=trio.Event)
    did: list = attrs.field(factory=list)
    failure: Exception | None = None
    """What the next one that is made fails with."""
    lasting: bool = False
    """Whether all that follow fail so too."""
    kind: type[Actor] | None = None
    """What the next one is; None = `Inner`."""
    thread: threading.Thread | None = None
    recorder: Recorder = attrs.field(factory=Recorder)

    def make(self):
        self.thread = threading.current_thread()
        if (failure := self.failure) is not None:
            self.failure = failure if self.lasting else None
            raise failure
        self.did.append("made")
        kind, self.kind = self.kind or Inner, None
        return kind(self.did)

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
        try:
            await trio.sleep_forever()
        finally:
            self._did.append("follows no more")

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
    assert bench.did[-2:] == ["stopped", "follows no more"]


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


class HalfStarted(Inner):
    """Has begun to follow when its start fails."""

    async def started(self):
        await super().started()
        await trio.testing.wait_all_tasks_blocked()
        raise HubError(Code.STATE_CORRUPT)


@pytest.mark.parametrize(
    ("failure", "code"),
    [(HubError(Code.STATE_CORRUPT), Code.STATE_CORRUPT), (RuntimeError("a bug"), Code.UNAVAILABLE)],
    ids=["coded", "a bug"],
)
async def test_who_asks_for_one_that_cannot_start_is_told_why_and_the_supervisor_counts_it(failure, code):
    """It was an answer once, of an actor that lived on: tried at every message, and never counted by anybody."""
    bench = Bench(failure=failure)
    async with bench.running():
        with pytest.raises(HubError) as caught:
            await bench.ask("a")
        assert caught.value.code is code
        await bench.recorder.wait(EventKind.EXITED, "late")
        await bench.slot.ref.wait_alive(CALL)
        assert await bench.ask("a") == "a"


async def test_a_start_that_fails_half_way_leaves_nothing_behind():
    bench = Bench(kind=HalfStarted)
    async with bench.running():
        with pytest.raises(HubError):
            await bench.ask("a")
        await bench.recorder.wait(EventKind.EXITED, "late")
        await bench.slot.ref.wait_alive(CALL)
        assert await bench.ask("a") == "a"
        await trio.testing.wait_all_tasks_blocked()
        assert [did for did in bench.did if did.startswith("follows")] == [
            "follows",
            "follows no more",
            "follows",
        ]


async def test_of_one_that_never_starts_nobody_waits_for_ever_and_its_supervisor_gives_up():
    """Every caller is told at once, the first one why, those behind that it is gone; a wait would end with the tree."""
    bench = Bench(failure=HubError(Code.STATE_CORRUPT), lasting=True)
    told = []

    async def ask():
        try:
            await bench.ask("a")
        except (HubError, ActorDied) as error:
            told.append(type(error))

    async def insist():
        while True:
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(ask)
            await bench.slot.ref.wait_alive(CALL)

    with pytest.RaisesGroup(IntensityReached, flatten_subgroups=True):
        async with bench.running(), trio.open_nursery() as nursery:
            nursery.start_soon(insist)
            await bench.recorder.wait(EventKind.INTENSITY, "root")
            nursery.cancel_scope.cancel()
    assert told.count(HubError) == 4  # one a start: the first and three restarts
    assert told.count(ActorDied) == 8


@pytest.mark.parametrize("asked", [True, False])
async def test_one_for_whose_code_no_file_can_be_opened_is_waited_for(asked, monkeypatch):
    """Its supervisor restarted it without a pause and gave up within a millisecond, and the daemon ended."""
    monkeypatch.setattr("hub.actors.late._BREATH", 0.001)
    bench = Bench(failure=OSError(errno.EMFILE, "Too many open files"), lasting=True)
    tries, plain = [], bench.make

    def make():
        tries.append(1)
        return plain()

    monkeypatch.setattr(Bench, "make", lambda _: make())
    async with bench.running(), trio.open_nursery() as nursery:
        if asked:
            nursery.start_soon(bench.ask, "early")
        bench.due.set()
        await eventually(lambda: len(tries) > 10)
        assert bench.did == []
        bench.failure = None
        assert await bench.ask("late") == "late"
    assert bench.did.count("made") == 1
    assert ("early" in bench.did) == asked
    assert not [event for event in bench.recorder.events if event.kind is EventKind.RESTARTING]
