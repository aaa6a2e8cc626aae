"""Fault injection is part of the API: each fault does what it says, once, where it says."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Actor,
    ActorDied,
    At,
    EventKind,
    Exit,
    ExitKind,
    Slot,
    SupervisorSpec,
    actor_spec,
    faults,
)
from supervisors.testing import ROOMY, Recorder, restarted, running


class BoomError(Exception):
    """Planted."""


class Echo(Actor[Any]):
    async def handle(self, message: Any) -> Any:
        return message

    async def stopped(self, exit: Exit) -> None:
        """Overridden, so that it is always called."""


def echo(actor: type[Actor[Any]] = Echo) -> tuple[SupervisorSpec, Slot[Any]]:
    slot: Slot[Any] = Slot("echo", ROOMY)
    return SupervisorSpec(intensity=9, children=[actor_spec("echo", actor, slot)]), slot


async def test_kill() -> None:
    spec, slot = echo()
    recorder = Recorder()
    async with running(spec, on_event=recorder) as root:
        await restarted(slot.ref, lambda: faults.kill(root, "echo"))
        await restarted(slot.ref, lambda: faults.kill(root, "root/echo"))
        assert [event.exit.kind for event in recorder.of(EventKind.EXITED)] == [ExitKind.KILLED] * 2
        with pytest.raises(KeyError):
            faults.kill(root, "nobody")


async def test_crash_at_the_next_message() -> None:
    """Used up by it: the next incarnation is sound."""
    spec, slot = echo()
    async with running(spec) as root:
        faults.crash(root, "echo", BoomError("planted"))
        with pytest.raises(ActorDied, match="planted"):
            await slot.ref.call(1, 5)
        await slot.ref.wait_alive(5)
        assert await slot.ref.call(2, 5) == 2


async def test_crash_at_init_several_times() -> None:
    spec, slot = echo()
    recorder = Recorder()
    async with running(spec, on_event=recorder) as root:
        faults.crash(root, "echo", BoomError("planted"), at=At.INIT, times=2)
        await restarted(slot.ref, lambda: faults.kill(root, "echo"))
        assert slot.life.generation == 4
        assert [event.exit.reason for event in recorder.of(EventKind.START_FAILED)] == ["planted"] * 2


async def test_crash_as_it_continues() -> None:
    """It had been ready: an end, not a failed start."""
    spec, slot = echo()
    recorder = Recorder()
    async with running(spec, on_event=recorder) as root:
        faults.crash(root, "echo", BoomError("planted"), at=At.CONTINUE)
        faults.kill(root, "echo")
        await recorder.wait(EventKind.EXITED, "echo", count=2)
        await slot.ref.wait_alive(5)
        assert await slot.ref.call(2, 5) == 2
        assert slot.life.generation == 3
        assert not recorder.of(EventKind.START_FAILED)


@pytest.mark.parametrize("actor", [Echo, type("Plain", (Actor,), {"handle": Echo.handle})])
async def test_crash_at_stopped(actor: type[Actor[Any]]) -> None:
    """With and without a cleanup of its own."""
    spec, slot = echo(actor)
    recorder = Recorder()
    async with running(spec, on_event=recorder) as root:
        faults.crash(root, "echo", BoomError("planted"), at=At.STOPPED)
        await restarted(slot.ref, lambda: faults.kill(root, "echo"))
        assert "planted" in recorder.of(EventKind.CLEANUP_FAILED)[0].detail


async def test_delay(autojump_clock) -> None:
    spec, slot = echo()
    async with running(spec) as root:
        faults.delay(root, "echo", 3, times=2)
        before = trio.current_time()
        for expected in (3, 6, 6):
            await slot.ref.call(1, 5)
            assert trio.current_time() - before == pytest.approx(expected)
        faults.delay(root, "echo", 60)
        with pytest.raises(trio.TooSlowError):
            await slot.ref.call(1, 5)


async def test_drop(autojump_clock) -> None:
    """A call is never answered, a cast has no effect; the actor goes on."""
    spec, slot = echo()
    async with running(spec) as root:
        faults.drop(root, "echo")
        with pytest.raises(trio.TooSlowError):
            await slot.ref.call(1, 5)
        assert await slot.ref.call(2, 5) == 2
        assert root.tree().find("echo").current is None


async def test_a_planted_fault_waits_for_its_own_actor() -> None:
    spec, slot = echo()
    other: Slot[Any] = Slot("other", ROOMY)
    spec = SupervisorSpec(children=[*spec.children, actor_spec("other", Echo, other)])
    async with running(spec) as root:
        faults.crash(root, "other", BoomError("planted"))
        assert await slot.ref.call(1, 5) == 1
        other.ref.try_cast(1)
        await wait_all_tasks_blocked()
        assert other.life.generation == 2
