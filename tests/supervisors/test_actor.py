"""Actors: hooks, calls and casts, stop and kill, what a caller is told (rows 25 to 28)."""

from __future__ import annotations

import contextlib
from typing import Any, ClassVar

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Actor,
    ActorDied,
    CallCycle,
    EventKind,
    Exit,
    ExitKind,
    Ignore,
    IntensityReached,
    MailboxSpec,
    Overflow,
    Ref,
    Restart,
    Shutdown,
    Slot,
    SlotInUse,
    StartFailed,
    SupervisorSpec,
    actor_spec,
    run_root,
)
from supervisors.call import DEFER
from tests.trees import ROOMY, Recorder, restarted, running


class DomainError(Exception):
    """What the actor under test may answer with."""


class Probe(Actor[Any]):
    """Does what a message says; `log` outlives incarnations."""

    answers = (DomainError,)
    cleanup_timeout = 1.0

    def __init__(self, log: list[Any]) -> None:
        self.log = log
        self.replies: list[Any] = []
        self.gate = trio.Event()

    async def started(self) -> None:
        self.log.append(("started", self.ctx.generation))

    async def handle(self, message: Any) -> Any:  # noqa: C901 - a table of what a test may ask for
        self.log.append(message)
        match message:
            case "wait":
                await self.gate.wait()
            case "open":
                self.gate.set()
            case "defer":
                self.replies.append(self.ctx.current_reply)
                return DEFER
            case "answer":
                for reply in self.replies:
                    reply.answer("later")
            case "reply?":
                self.replies.append(self.ctx.current_reply)
            case BaseException():
                raise message
            case "group":
                async with trio.open_nursery():
                    raise DomainError("from a nursery")
            case ("task", function):
                self.ctx.nursery.start_soon(function)
            case ("later", function):
                return self.answer_later(message, function())
        return message

    async def stopped(self, exit: Exit) -> None:
        self.log.append(("stopped", exit.kind))


class Draining(Probe):
    drain_on_stop = True


@pytest.fixture
def log() -> list[Any]:
    return []


def tree(log: list[Any], actor: type[Probe] = Probe, mailbox: MailboxSpec = ROOMY, **options: Any) -> Any:
    slot: Slot[Any] = Slot("probe", mailbox)
    return SupervisorSpec(
        intensity=9, children=[actor_spec("probe", lambda: actor(log), slot, **options)]
    ), slot


def probed(log: list[Any], actor: type[Probe] = Probe) -> tuple[Probe, SupervisorSpec, Any]:
    """A probe the test can look into: each incarnation is the same object."""
    probe, slot = actor(log), Slot("probe", ROOMY)
    return probe, SupervisorSpec(children=[actor_spec("probe", lambda: probe, slot)]), slot


async def fails(ref: Ref[Any], message: Any, told: list[BaseException]) -> None:
    """Call, and keep what comes instead of an answer."""
    try:
        await ref.call(message, 60)
    except (ActorDied, DomainError) as error:
        told.append(error)


async def test_a_call_is_answered_and_a_cast_is_handled(log) -> None:
    """Row 26."""
    spec, slot = tree(log)
    async with running(spec):
        assert await slot.ref.call("hello", 5) == "hello"
        await slot.ref.cast("there")
        assert slot.ref.try_cast("again")
        await wait_all_tasks_blocked()
    assert log == [("started", 1), "hello", "there", "again", ("stopped", ExitKind.SHUTDOWN)]


async def test_a_domain_error_is_answered_and_kills_nobody(log) -> None:
    """`answers`: the caller gets it, bare; the incarnation lives on."""
    spec, slot = tree(log)
    async with running(spec):
        with pytest.raises(DomainError, match="no"):
            await slot.ref.call(DomainError("no"), 5)
        with pytest.raises(DomainError, match="from a nursery"):
            await slot.ref.call("group", 5)
        assert slot.life.generation == 1


async def test_a_domain_error_in_a_cast_kills(log) -> None:
    """There is nobody to be told."""
    spec, slot = tree(log)
    async with running(spec):
        await restarted(slot.ref, lambda: slot.ref.try_cast(DomainError("no")))
        assert slot.life.generation == 2


async def test_what_is_answered_later_keeps_nobody_waiting(log) -> None:
    """Row 26: five actors each had their own way of it, three of which forgot an error."""
    spec, slot = tree(log)
    gate = trio.Event()

    async def slow() -> str:
        await gate.wait()
        return "done"

    async with running(spec), trio.open_nursery() as nursery:
        got: list[Any] = []
        nursery.start_soon(_keep, slot.ref, ("later", slow), got)
        await slot.ref.cast(("later", slow))
        assert await slot.ref.call("hello", 5) == "hello"
        assert not got
        gate.set()
        await wait_all_tasks_blocked()
        assert got == ["done"]


async def _keep(ref: Ref[Any], message: Any, got: list[Any]) -> None:
    got.append(await ref.call(message, 5))


@pytest.mark.parametrize("cast", [False, True])
@pytest.mark.parametrize("error", [DomainError, KeyError])
async def test_an_error_of_what_is_answered_later_counts_as_the_handlers(log, error, cast) -> None:
    """A domain error is the caller's, any other one the actor's; nobody is told of a cast."""
    spec, slot = tree(log)

    async def failing() -> None:
        raise error("no")

    async with running(spec):
        if cast:
            await restarted(slot.ref, lambda: slot.ref.try_cast(("later", failing)))
        else:
            with pytest.raises(DomainError if error is DomainError else ActorDied, match="no"):
                await slot.ref.call(("later", failing), 5)
            await slot.ref.wait_alive()
        assert slot.life.generation == (1 if error is DomainError and not cast else 2)


async def test_any_other_error_kills_and_the_caller_is_told(log) -> None:
    spec, slot = tree(log)
    recorder = Recorder()
    async with running(spec, on_event=recorder):
        with pytest.raises(ActorDied, match="probe died: bug") as caught:
            await slot.ref.call(ValueError("bug"), 5)
        assert (caught.value.name, caught.value.exit.kind) == ("probe", ExitKind.ERROR)
        await slot.ref.wait_alive(5)
        assert await slot.ref.call("alive", 5) == "alive"
    assert ("stopped", ExitKind.ERROR) in log


async def test_an_error_beside_a_domain_error_kills(log) -> None:
    """Trap T2: every leaf of the group must be one of `answers`."""
    spec, slot = tree(log)
    async with running(spec):
        with pytest.raises(ActorDied):
            await slot.ref.call(ExceptionGroup("both", [DomainError(), ValueError("bug")]), 5)


async def test_inflight_and_queued_calls_fail(log) -> None:
    """Row 27: at once, not by timeout; queued casts are counted as dead letters."""
    spec, slot = tree(log)
    told: list[BaseException] = []
    recorder = Recorder()
    async with running(spec, on_event=recorder), trio.open_nursery() as nursery:
        for message in ("wait", "queued", "queued too"):
            nursery.start_soon(fails, slot.ref, message, told)
            await wait_all_tasks_blocked()
        slot.ref.try_cast("lost")
        slot.life.kill()
        await wait_all_tasks_blocked()
        assert [(error.name, error.exit.kind) for error in told] == [("probe", ExitKind.KILLED)] * 3
        assert slot.dead_letters == 1
        assert [event.detail for event in recorder.of(EventKind.DEAD_LETTER)] == ["str"]
    assert "queued" not in log


async def test_blocked_senders_fail_too(log) -> None:
    """Row 27: those who wait for room, calls and casts alike."""
    spec, slot = tree(log, mailbox=MailboxSpec(1, Overflow.BLOCK))
    told: list[BaseException] = []

    async def cast(message: str) -> None:
        with pytest.raises(ActorDied) as caught:
            await slot.ref.cast(message)
        told.append(caught.value)

    async with running(spec), trio.open_nursery() as nursery:
        nursery.start_soon(fails, slot.ref, "wait", told)
        await wait_all_tasks_blocked()
        slot.ref.try_cast("fills")
        for number in range(2):
            nursery.start_soon(fails, slot.ref, f"call {number}", told)
            nursery.start_soon(cast, f"cast {number}")
        await wait_all_tasks_blocked()
        assert told == []
        slot.life.kill()
        await wait_all_tasks_blocked()
        assert len(told) == 5
    assert log[:2] == [("started", 1), "wait"]


async def test_a_message_being_handled_is_lost_never_redelivered(log) -> None:
    """Row 28, trap T1: at most once."""
    spec, slot = tree(log)
    async with running(spec):
        slot.ref.try_cast("wait")
        await wait_all_tasks_blocked()
        await restarted(slot.ref, slot.life.kill)
        await wait_all_tasks_blocked()
    assert log.count("wait") == 1


async def test_a_late_reply_is_harmless(log, autojump_clock) -> None:
    """Row 26: triotp's server dies of it."""
    spec, slot = tree(log)
    async with running(spec), trio.open_nursery() as nursery:
        with pytest.raises(trio.TooSlowError, match="probe did not answer in time"):
            await slot.ref.call("defer", 1)
        await slot.ref.call("answer", 5)
        assert slot.life.generation == 1
        nursery.start_soon(slot.ref.call, "defer", 5)
        await wait_all_tasks_blocked()
        await slot.ref.call("answer", 5)


async def test_the_timeout_covers_the_wait_for_room(log, autojump_clock) -> None:
    """Row 26: enqueue and reply."""
    spec, slot = tree(log, mailbox=MailboxSpec(1, Overflow.BLOCK))
    async with running(spec), trio.open_nursery() as nursery:
        told: list[BaseException] = []
        nursery.start_soon(fails, slot.ref, "wait", told)
        await wait_all_tasks_blocked()
        slot.ref.try_cast("fills")
        before = trio.current_time()
        with pytest.raises(trio.TooSlowError):
            await slot.ref.call("blocked", 2)
        assert trio.current_time() - before == pytest.approx(2)
        slot.life.kill()


async def test_a_caller_whose_time_is_over_already_is_told_so(log, autojump_clock) -> None:
    """What is left of a deadline may be less than nothing: that is no mistake of the caller's."""
    spec, slot = tree(log)
    async with running(spec):
        with pytest.raises(trio.TooSlowError):
            await slot.ref.call("defer", -1)


async def test_a_deferred_call_fails_with_its_actor(log) -> None:
    """Row 27: a promise dies with the one who made it."""
    spec, slot = tree(log)
    told: list[BaseException] = []
    async with running(spec), trio.open_nursery() as nursery:
        nursery.start_soon(fails, slot.ref, "defer", told)
        await wait_all_tasks_blocked()
        slot.life.kill()
        await wait_all_tasks_blocked()
        assert isinstance(told[0], ActorDied)
        assert slot.deferred == set()


async def test_current_reply_is_none_for_a_cast(log) -> None:
    probe, spec, slot = probed(log)
    async with running(spec):
        await slot.ref.call("reply?", 5)
        await slot.ref.cast("reply?")
        await wait_all_tasks_blocked()
        assert [reply is None for reply in probe.replies] == [False, True]


async def test_an_actor_sees_how_many_wait_behind_what_it_does(log) -> None:
    """Calls and casts alike: whoever may take its time does so only while there are none."""
    probe, spec, slot = probed(log)
    async with running(spec):
        assert probe.ctx.waiting == 0
        async with trio.open_nursery() as nursery:
            slot.ref.try_cast("wait")
            await wait_all_tasks_blocked()
            assert probe.ctx.waiting == 0
            slot.ref.try_cast("a")
            nursery.start_soon(slot.ref.call, "b", 5)
            await wait_all_tasks_blocked()
            assert probe.ctx.waiting == 2
            probe.gate.set()
        assert probe.ctx.waiting == 0


async def test_stop_has_priority_over_queued_messages(log) -> None:
    """ractor test_stop_higher_priority_over_messages: the message at hand is finished, the queue is not."""
    probe, spec, slot = probed(log)
    told: list[BaseException] = []
    async with running(spec) as root, trio.open_nursery() as nursery:
        slot.ref.try_cast("wait")
        await wait_all_tasks_blocked()
        nursery.start_soon(fails, slot.ref, "queued", told)
        slot.ref.try_cast("lost")
        await wait_all_tasks_blocked()
        root.request_stop()
        await wait_all_tasks_blocked()
        assert not slot.ref.alive
        with pytest.raises(ActorDied, match="not running"):
            await slot.ref.call("late", 5)
        assert told == []  # the message at hand is still being handled
        probe.gate.set()
    assert log == [("started", 1), "wait", ("stopped", ExitKind.SHUTDOWN)]
    assert told[0].exit.kind is ExitKind.SHUTDOWN


class StopOnceTaken(trio.abc.Instrument):
    """Asks an actor to stop right after it took its last message, before it handles it."""

    def __init__(self, slot: Slot[Any]) -> None:
        self.slot = slot

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self.slot.task and self.slot.box.depth == 0:
            self.slot.life.request_stop()


async def test_a_message_taken_in_the_same_breath_as_the_stop_is_not_handled(log) -> None:
    """Row 25: to receive is a checkpoint, and the stop may come at it."""
    probe, spec, slot = probed(log)
    told: list[BaseException] = []
    async with running(spec):
        async with trio.open_nursery() as nursery:
            slot.ref.try_cast("wait")
            await wait_all_tasks_blocked()
            nursery.start_soon(fails, slot.ref, "taken", told)
            await wait_all_tasks_blocked()
            instrument = StopOnceTaken(slot)
            trio.lowlevel.add_instrument(instrument)
            probe.gate.set()
        trio.lowlevel.remove_instrument(instrument)
    assert "taken" not in log
    assert len(told) == 1


async def test_drain_on_stop_handles_what_waits(log) -> None:
    """Row 25: drain = process the queue, take nothing more, then stop."""
    probe, spec, slot = probed(log, Draining)
    async with running(spec) as root:
        for message in ("wait", "a", "b"):
            slot.ref.try_cast(message)
        await wait_all_tasks_blocked()
        root.request_stop()
        await wait_all_tasks_blocked()
        assert not slot.ref.try_cast("late")
        probe.gate.set()
    assert log == [("started", 1), "wait", "a", "b", ("stopped", ExitKind.SHUTDOWN)]


async def test_kill_interrupts_the_handler(log) -> None:
    """ractor test_kill_terminates_work."""
    spec, slot = tree(log)
    async with running(spec):
        slot.ref.try_cast("wait")
        await wait_all_tasks_blocked()
        await restarted(slot.ref, slot.life.kill)
    assert log[:4] == [("started", 1), "wait", ("stopped", ExitKind.KILLED), ("started", 2)]


async def test_stop_lets_the_handler_finish_within_its_time(log, autojump_clock) -> None:
    """ractor test_stop_does_not_terminate_async_work; past its `shutdown` time it is killed."""
    spec, slot = tree(log, shutdown=3)
    async with running(spec):
        slot.ref.try_cast("wait")
        await wait_all_tasks_blocked()
        before = trio.current_time()
    assert trio.current_time() - before == pytest.approx(3)
    assert log[-1] == ("stopped", ExitKind.KILLED)


async def test_no_call_reaches_an_actor_that_is_as_good_as_dead(log) -> None:
    """A kill counts from the moment it is sent, not from the moment it is felt."""
    spec, slot = tree(log)
    async with running(spec):
        slot.life.kill()
        assert not slot.ref.alive
        with pytest.raises(ActorDied):
            await slot.ref.call("late", 5)
        await slot.ref.wait_alive(5)
        assert slot.life.generation == 2


async def test_a_dead_actor_is_told_apart_by_its_exit(log, autojump_clock) -> None:
    """Before the first start there is no exit to tell; wait_alive gives up in time."""
    spec, slot = tree(log)
    with pytest.raises(ActorDied, match="probe is not running"):
        await slot.ref.call("early", 5)
    with pytest.raises(ActorDied):
        await slot.ref.cast("early")
    assert not slot.ref.try_cast("early")
    assert slot.dead_letters == 2
    with pytest.raises(trio.TooSlowError):
        await slot.ref.wait_alive(1)
    async with running(spec):
        await slot.ref.wait_alive()
    with pytest.raises(ActorDied, match="probe died: shutdown"):
        await slot.ref.call("late", 5)


async def test_an_error_in_a_task_is_the_actors_error(log) -> None:
    """ctx.nursery: its tasks die with the incarnation, and the other way round."""
    spec, slot = tree(log)
    recorder = Recorder()

    async def task() -> None:
        raise ValueError("in a task")

    async with running(spec, on_event=recorder):
        await restarted(slot.ref, lambda: slot.ref.try_cast(("task", task)))
        assert recorder.of(EventKind.EXITED)[0].exit.reason == "in a task"
        await slot.ref.call(("task", trio.sleep_forever), 5)
        with trio.fail_after(5):
            await restarted(slot.ref, slot.life.kill)
    assert ("stopped", ExitKind.ERROR) in log


@pytest.mark.parametrize(("orderly", "alive"), [(True, [True]), (False, [False])])
async def test_tasks_outlive_the_handlers_in_an_orderly_stop_only(
    log, orderly: bool, alive: list[bool]
) -> None:
    """So that `stopped` can end them politely."""
    slot: Slot[Any] = Slot("host", ROOMY)
    seen: list[bool] = []

    class Host(Actor[Any]):
        async def started(self) -> None:
            self.running = True
            self.ctx.nursery.start_soon(self.task)

        async def task(self) -> None:
            try:
                await trio.sleep_forever()
            finally:
                self.running = False

        async def stopped(self, exit: Exit) -> None:
            seen.append(self.running)

    async with running(SupervisorSpec(children=[actor_spec("host", Host, slot)])) as root:
        if orderly:
            await root.stop()
        else:
            await restarted(slot.ref, slot.life.kill)
        assert seen[:1] == alive


async def test_an_actor_that_handles_nothing_says_so() -> None:
    slot: Slot[Any] = Slot("mute", ROOMY)
    async with running(SupervisorSpec(children=[actor_spec("mute", Actor, slot)])):
        with pytest.raises(ActorDied, match="is not for"):
            await slot.ref.call("hello", 5)


async def test_started_may_decline(log) -> None:
    slot: Slot[Any] = Slot("shy", ROOMY)

    class Shy(Probe):
        async def started(self) -> None:
            raise Ignore

    spec = SupervisorSpec(children=[actor_spec("shy", lambda: Shy(log), slot)])
    async with running(spec) as root:
        assert root.tree().children[0].state == "stopped"
        assert not slot.ref.alive
    assert log == []  # what never started has nothing to clean up


async def test_messages_sent_during_init_wait(log) -> None:
    """Its own tasks may cast to it from the start."""
    slot: Slot[Any] = Slot("eager", ROOMY)

    class Eager(Probe):
        async def started(self) -> None:
            assert self.ctx.ref.try_cast("to myself")
            assert not self.ctx.ref.alive
            assert (self.ctx.name, self.ctx.path) == ("eager", "root/eager")

    async with running(SupervisorSpec(children=[actor_spec("eager", lambda: Eager(log), slot)])):
        await wait_all_tasks_blocked()
    assert log[0] == "to myself"


async def test_messages_sent_during_a_failing_init_are_answered(log) -> None:
    gate, told = trio.Event(), []

    class Failing(Probe):
        async def started(self) -> None:
            await gate.wait()
            raise ValueError("init")

    spec, slot = tree(log, Failing)

    async def drive() -> None:
        await wait_all_tasks_blocked()
        nursery.start_soon(fails, slot.ref, "early", told)
        await wait_all_tasks_blocked(0.001)
        gate.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drive)
        with pytest.raises(StartFailed):
            await run_root(spec)
    assert isinstance(told[0], ActorDied)


@pytest.mark.parametrize(("how", "kind"), [("stop", ExitKind.SHUTDOWN), ("timeout", ExitKind.KILLED)])
async def test_callers_are_told_when_an_init_is_broken_off(
    log, autojump_clock, how: str, kind: ExitKind
) -> None:
    """By a stop, or by its start_timeout; what never started has nothing to clean up."""
    told: list[BaseException] = []

    class Hung(Probe):
        async def started(self) -> None:
            await trio.sleep_forever()

    spec, slot = tree(log, Hung, start_timeout=5)

    async def drive() -> None:
        await wait_all_tasks_blocked()
        nursery.start_soon(fails, slot.ref, "early", told)
        await wait_all_tasks_blocked()
        if how == "stop":
            scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drive)
        with trio.CancelScope() as scope, contextlib.suppress(StartFailed):
            await run_root(spec)
    assert [error.exit.kind for error in told] == [kind]
    assert log == []


async def test_an_old_life_cannot_harm_the_next_one(log) -> None:
    """Who kept it and kills it late kills nobody."""
    spec, slot = tree(log)
    async with running(spec):
        old = slot.life
        await restarted(slot.ref, old.kill)
        old.kill()
        old.request_stop()
        assert slot.ref.alive
        assert await slot.ref.call("hello", 5) == "hello"


@pytest.mark.parametrize("hook", ["init", "handle", "task", "stopped"])
@pytest.mark.parametrize("error", [ValueError("error"), Shutdown("error")])
async def test_a_failure_in_each_hook(log, hook: str, error: Exception) -> None:
    """ractor test_supervision_{panic,error}_in_{post_startup,handle,post_stop}: each reaches the supervisor."""
    recorder = Recorder()
    kind = ExitKind.ERROR if isinstance(error, ValueError) else ExitKind.SHUTDOWN

    class Failing(Probe):
        async def started(self) -> None:
            if hook == "init" and self.ctx.generation == 2:
                raise error

        async def stopped(self, exit: Exit) -> None:
            if hook == "stopped" and exit.kind is ExitKind.SHUTDOWN:
                raise error

    async def task() -> None:
        raise error

    spec, slot = tree(log, Failing)
    async with running(spec, on_event=recorder):
        match hook:
            case "init":
                await restarted(slot.ref, slot.life.kill)
                assert recorder.of(EventKind.START_FAILED)[0].exit.kind is kind
                assert slot.life.generation == 3
                return
            case "handle":
                await restarted(slot.ref, lambda: slot.ref.try_cast(error))
            case "task":
                await restarted(slot.ref, lambda: slot.ref.try_cast(("task", task)))
    end = recorder.of(EventKind.EXITED, name="probe")[0].exit
    assert (end.kind, end.reason) == (kind, "error")


async def test_a_failure_in_the_cleanup_after_a_failure_is_reported_beside_it(log) -> None:
    """The first error is the one that counts."""
    recorder = Recorder()

    class Failing(Probe):
        async def stopped(self, exit: Exit) -> None:
            if exit.kind is ExitKind.ERROR:
                raise KeyError("second")

    spec, slot = tree(log, Failing)
    async with running(spec, on_event=recorder):
        await restarted(slot.ref, lambda: slot.ref.try_cast(ValueError("first")))
    assert recorder.of(EventKind.EXITED)[0].exit.reason == "first"
    assert "second" in recorder.of(EventKind.CLEANUP_FAILED)[0].detail


async def test_the_cleanup_is_shielded_and_bounded(log, autojump_clock) -> None:
    """Trap T4: a kill does not interrupt it, its own bound does; and that is reported."""
    recorder = Recorder()

    class Slow(Probe):
        async def stopped(self, exit: Exit) -> None:
            await trio.sleep(0.5 if self.ctx.generation == 1 else 100)
            log.append("cleaned")

    spec, slot = tree(log, Slow)
    async with running(spec, on_event=recorder):
        before = trio.current_time()
        await restarted(slot.ref, slot.life.kill)
        assert trio.current_time() - before == pytest.approx(0.5)
        assert log.count("cleaned") == 1
        assert recorder.of(EventKind.CLEANUP_FAILED) == []
    assert trio.current_time() - before == pytest.approx(1.5)
    assert log.count("cleaned") == 1
    assert "longer than 1 s" in recorder.of(EventKind.CLEANUP_FAILED)[0].detail


async def test_a_slot_has_one_incarnation(log) -> None:
    """Two children that share one slot are a mistake, found at the start."""
    _, slot = tree(log)
    specs = [actor_spec(name, lambda: Probe(log), slot) for name in ("one", "two")]
    with pytest.raises(StartFailed) as caught:
        await run_root(SupervisorSpec(children=specs))
    assert isinstance(caught.value.__cause__, SlotInUse)


class Forward(Actor[Any]):
    """Passes a message on: `(ref, message)`."""

    async def handle(self, message: Any) -> Any:
        match message:
            case ("task", ref, inner):
                done = trio.Event()

                async def task() -> None:
                    await ref.call(inner, 5)
                    done.set()

                self.ctx.nursery.start_soon(task)
                return None
            case ("cast", ref, inner):
                return await ref.cast(inner)
            case (ref, inner):
                return await ref.call(inner, 60)
        return message


def forwards(*names: str) -> tuple[SupervisorSpec, list[Slot[Any]]]:
    slots: list[Slot[Any]] = [Slot(name, MailboxSpec(1, Overflow.BLOCK)) for name in names]
    specs = [actor_spec(slot.name, Forward, slot, restart=Restart.TEMPORARY) for slot in slots]
    return SupervisorSpec(children=specs), slots


async def test_a_call_cycle_fails_at_once() -> None:
    """Trap T9: it could only end by a timeout. The error names the cycle."""
    spec, (a, b, c) = forwards("a", "b", "c")
    recorder = Recorder()
    async with running(spec, on_event=recorder):
        with pytest.raises(ActorDied):
            await a.ref.call((b.ref, (c.ref, (a.ref, "round"))), 60)
        assert isinstance(recorder.of(EventKind.EXITED)[0].exit.error, CallCycle)
        assert recorder.of(EventKind.EXITED)[0].exit.reason == "c -> a -> b -> c"


async def test_a_call_to_oneself_fails_at_once() -> None:
    spec, (a,) = forwards("a")
    async with running(spec):
        with pytest.raises(ActorDied, match="a -> a"):
            await a.ref.call((a.ref, "me"), 60)


async def test_a_task_of_an_actor_may_call_it() -> None:
    """It stops nobody by waiting."""
    spec, (a,) = forwards("a")
    async with running(spec):
        await a.ref.call(("task", a.ref, "me"), 5)
        await wait_all_tasks_blocked()
        assert a.ref.alive


async def test_a_cast_that_waits_for_its_own_caller_fails_at_once() -> None:
    """Trap T9: two full mailboxes and two blocking casts."""
    spec, (a, b) = forwards("a", "b")
    async with running(spec), trio.open_nursery() as nursery:
        told: list[BaseException] = []
        nursery.start_soon(fails, a.ref, (b.ref, ("cast", a.ref, "back")), told)
        await wait_all_tasks_blocked()
        nursery.start_soon(fails, a.ref, "fills", told)
        await wait_all_tasks_blocked()
        assert told == []  # there was room: no cycle
    spec, (a, b) = forwards("a", "b")
    async with running(spec):
        a.ref.try_cast((b.ref, ("cast", a.ref, "back")))
        await trio.lowlevel.checkpoint()
        a.ref.try_cast("fills")
        await wait_all_tasks_blocked()
        assert (a.ref.alive, b.ref.alive) == (False, False)


async def test_an_actor_may_wait_for_room_in_another(log) -> None:
    """BLOCK is back-pressure, and the tree shows who waits for whom."""
    _, b = tree(log, mailbox=MailboxSpec(1, Overflow.BLOCK))
    a: Slot[Any] = Slot("a", ROOMY)
    probe = Probe(log)
    specs = [actor_spec("b", lambda: probe, b), actor_spec("a", Forward, a)]
    async with running(SupervisorSpec(children=specs)) as root:
        b.ref.try_cast("wait")
        await wait_all_tasks_blocked()
        b.ref.try_cast("fills")
        a.ref.try_cast(("cast", b.ref, "waits"))
        await wait_all_tasks_blocked()
        node = root.tree().find("a")
        assert (node.blocked_in, node.current) == ("probe", "tuple")
        probe.gate.set()
        await wait_all_tasks_blocked()
        assert root.tree().find("a").blocked_in is None
        assert log[-3:] == ["wait", "fills", "waits"]


def test_slots_and_refs_say_their_names() -> None:
    slot: Slot[Any] = Slot("x", ROOMY)
    assert (repr(slot), repr(slot.ref)) == ("Slot('x')", "Ref('x')")


class Continuing(Probe):
    """Its start goes on in `continue_` until the gate of its tree is open."""

    gate_of_all = trio.Event()
    failures: ClassVar[list[Exception]] = []

    async def continue_(self) -> None:
        self.log.append(("continues", self.ctx.generation))
        await self.gate_of_all.wait()
        if self.failures:
            raise self.failures.pop()
        self.log.append("continued")


@pytest.fixture
def gate(monkeypatch) -> trio.Event:
    opened = trio.Event()
    monkeypatch.setattr(Continuing, "gate_of_all", opened)
    monkeypatch.setattr(Continuing, "failures", [])
    return opened


async def test_the_tree_goes_on_starting_while_an_actor_continues(log, gate) -> None:
    """Row 3, OTP's `handle_continue`: ready after `started`; what is sent meanwhile waits, in order."""
    spec, slot = tree(log, Continuing)
    after: Slot[Any] = Slot("after", ROOMY)
    spec = SupervisorSpec(children=[*spec.children, actor_spec("after", lambda: Probe([]), after)])
    async with running(spec):
        assert slot.ref.alive
        assert await after.ref.call("hello", 5) == "hello"
        assert slot.ref.try_cast("first")
        await wait_all_tasks_blocked()
        assert log == [("started", 1), ("continues", 1)]
        gate.set()
        assert await slot.ref.call("second", 5) == "second"
    assert log[2:] == ["continued", "first", "second", ("stopped", ExitKind.SHUTDOWN)]


async def test_continuing_has_no_time_limit_and_who_waits_has_his_own(log, gate, autojump_clock) -> None:
    """`start_timeout` is that of `started`; a call that waits ends by its own deadline (row 26)."""
    spec, slot = tree(log, Continuing, start_timeout=1)
    async with running(spec):
        with pytest.raises(trio.TooSlowError):
            await slot.ref.call("too late", 100)
        assert slot.life.generation == 1
        gate.set()
        assert await slot.ref.call("in time", 5) == "in time"
    assert log[2:5] == ["continued", "too late", "in time"]


async def test_an_actor_that_fails_as_it_continues_is_restarted_and_counted(log, gate) -> None:
    """Like any other error: who waits gets ActorDied, the cleanup runs, the next incarnation continues anew."""
    spec, slot = tree(log, Continuing)
    told: list[BaseException] = []
    recorder = Recorder()
    Continuing.failures.append(ValueError("no"))
    async with running(spec, on_event=recorder), trio.open_nursery() as nursery:
        nursery.start_soon(fails, slot.ref, "waits", told)
        await wait_all_tasks_blocked()
        gate.set()
        await recorder.wait(EventKind.RESTARTING, "probe")
        await slot.ref.wait_alive(5)
        assert await slot.ref.call("again", 5) == "again"
    assert [type(error) for error in told] == [ActorDied]
    assert "no" in str(told[0])
    assert log[:5] == [
        ("started", 1),
        ("continues", 1),
        ("stopped", ExitKind.ERROR),
        ("started", 2),
        ("continues", 2),
    ]
    assert "waits" not in log


async def test_of_one_that_never_continues_its_supervisor_gives_up(log, gate) -> None:
    """Row 11: each such incarnation was ready, and counts."""
    spec, _ = tree(log, Continuing)
    spec = SupervisorSpec(intensity=3, children=spec.children)
    Continuing.failures.extend(ValueError("no") for _ in range(9))
    with pytest.RaisesGroup(IntensityReached, flatten_subgroups=True):
        async with running(spec):
            gate.set()
            await trio.sleep_forever()
    assert log.count(("stopped", ExitKind.ERROR)) == 4


async def test_a_stop_lets_an_actor_continue_within_its_time(log, gate) -> None:
    """Row 14: like a message at hand. Nothing that waits is handled after it."""
    spec, slot = tree(log, Continuing)
    async with running(spec) as root:
        slot.ref.try_cast("lost")
        await wait_all_tasks_blocked()
        root.request_stop()
        await wait_all_tasks_blocked()
        assert log == [("started", 1), ("continues", 1)]
        gate.set()
    assert log[2:] == ["continued", ("stopped", ExitKind.SHUTDOWN)]


async def test_past_its_shutdown_time_an_actor_that_continues_is_killed(log, gate, autojump_clock) -> None:
    """Row 14."""
    spec, _ = tree(log, Continuing, shutdown=3)
    async with running(spec):
        await wait_all_tasks_blocked()
        before = trio.current_time()
    assert trio.current_time() - before == pytest.approx(3)
    assert log[-1] == ("stopped", ExitKind.KILLED)


async def test_a_kill_interrupts_an_actor_that_continues(log, gate) -> None:
    """Row 25: as it interrupts a handler; the next incarnation continues from the start."""
    spec, slot = tree(log, Continuing)
    async with running(spec):
        await wait_all_tasks_blocked()
        await restarted(slot.ref, slot.life.kill)
        await wait_all_tasks_blocked()
        gate.set()
        assert await slot.ref.call("a", 5) == "a"
    assert log[1:5] == [
        ("continues", 1),
        ("stopped", ExitKind.KILLED),
        ("started", 2),
        ("continues", 2),
    ]
