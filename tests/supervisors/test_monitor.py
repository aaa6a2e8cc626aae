"""Watching (row 29) and names (row 23)."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Actor,
    Down,
    ExitKind,
    MailboxSpec,
    NameTaken,
    Overflow,
    Registry,
    Restart,
    Slot,
    Strategy,
    SupervisorHandle,
    SupervisorSpec,
    actor_spec,
    supervisor_spec,
)
from tests.trees import ROOMY, Recorder, restarted, running


class Server(Actor[Any]):
    async def handle(self, message: Any) -> Any:
        if isinstance(message, Exception):
            raise message
        return self.ctx.generation


def one(slot: Slot[Any], **options: Any) -> SupervisorSpec:
    return SupervisorSpec(intensity=9, children=[actor_spec("server", Server, slot, **options)])


async def test_down_comes_exactly_once() -> None:
    """Row 29: for the incarnation that was watched, not for those after it."""
    slot: Slot[Any] = Slot("server", ROOMY)
    downs: list[Down] = []
    async with running(one(slot)):
        slot.ref.monitor(downs.append)
        await restarted(slot.ref, lambda: slot.ref.try_cast(ValueError("boom")))
        await restarted(slot.ref, slot.life.kill)
        assert [(down.name, down.generation, down.exit.reason) for down in downs] == [("server", 1, "boom")]


async def test_down_comes_at_once_when_there_is_nobody() -> None:
    """Row 29: before the first start there is no exit to tell; after the last one there is."""
    slot: Slot[Any] = Slot("server", ROOMY)
    downs: list[Down] = []
    slot.ref.monitor(downs.append)
    assert downs == [Down("server", 0, None)]
    async with running(one(slot)):
        pass
    slot.ref.monitor(downs.append)
    assert (downs[1].generation, downs[1].exit.kind) == (1, ExitKind.SHUTDOWN)
    assert slot.watchers == {}


async def test_a_cancelled_monitor_is_silent() -> None:
    """Row 29: demonitor flushes. Twice is once."""
    slot: Slot[Any] = Slot("server", ROOMY)
    downs: list[Down] = []
    async with running(one(slot)):
        monitor = slot.ref.monitor(downs.append)
        slot.ref.monitor(lambda _: other.cancel())
        other = slot.ref.monitor(downs.append)  # cancelled by the one before it, while both are being told
        monitor.cancel()
        monitor.cancel()
    assert downs == []


async def test_a_monitor_that_raises_harms_nobody() -> None:
    """It is counted; the other watchers are told all the same."""
    slot: Slot[Any] = Slot("server", ROOMY)
    downs: list[Down] = []
    async with running(one(slot)) as root:
        slot.ref.monitor(lambda _: 1 / 0)
        slot.ref.monitor(downs.append)
    assert (len(downs), root.system.hook_errors) == (1, 1)


async def test_a_monitor_tells_an_actor_by_a_cast() -> None:
    """Row 29: it cannot block the one that ended."""
    watched: Slot[Any] = Slot("watched", ROOMY)
    watcher: Slot[Any] = Slot("watcher", ROOMY)
    seen: list[Any] = []

    class Watcher(Actor[Any]):
        async def started(self) -> None:
            watched.ref.monitor(self.ctx.ref.try_cast)

        async def handle(self, message: Any) -> None:
            seen.append(message)

    specs = [actor_spec("watched", Server, watched), actor_spec("watcher", Watcher, watcher)]
    async with running(SupervisorSpec(children=specs)):
        await restarted(watched.ref, watched.life.kill)
        await wait_all_tasks_blocked()
        assert [down.exit.kind for down in seen] == [ExitKind.KILLED]


def nine_thousand(registry: Registry, handle: SupervisorHandle) -> SupervisorSpec:
    """The tree of OTP-9212: top (one_for_all) -> middle (one_for_all) -> server."""
    server = actor_spec("child", Server, registry.slot("server", ROOMY), shutdown=2)
    middle = SupervisorSpec(Strategy.ONE_FOR_ALL, intensity=3, period=60, children=[server])
    spec = supervisor_spec("middle", middle, shutdown=2, handle=handle)
    return SupervisorSpec(Strategy.ONE_FOR_ALL, intensity=3, period=60, children=[spec])


@pytest.mark.parametrize("how", ["kill_worker", "exit_worker", "restart_worker", "kill_supervisor"])
async def test_simple_global_supervisor(how: str) -> None:
    """simple_global_supervisor (OTP-9212): the same name leads to the next incarnation, however the last one ended."""
    registry, handle, recorder = Registry(), SupervisorHandle("middle"), Recorder()
    async with running(nine_thousand(registry, handle), on_event=recorder) as root:
        ref = registry.whereis("server")
        assert ref is registry.ref("server")
        before = root.life_at("child")
        match how:
            case "kill_worker":
                await restarted(ref, before.kill)
            case "exit_worker":
                await restarted(ref, lambda: ref.try_cast(ValueError("normal")))
            case "restart_worker":
                await handle.terminate_child("child")
                assert registry.whereis("server") is None
                await handle.restart_child("child")
            case "kill_supervisor":
                await restarted(ref, root.life_at("middle").kill)
        assert registry.whereis("server") is ref
        assert root.life_at("child") is not before
        assert await ref.call("who", 5) == root.life_at("child").generation
    assert registry.whereis("server") is None


async def test_a_name_is_free_while_nobody_runs() -> None:
    """Row 23."""
    registry = Registry()
    slot = registry.slot("server", MailboxSpec(3, Overflow.BLOCK))
    assert registry.whereis("server") is None
    async with running(one(slot, restart=Restart.TEMPORARY)):
        assert registry.whereis("server") is slot.ref
        slot.life.kill()
        assert registry.whereis("server") is None


def test_a_name_is_given_once() -> None:
    """Row 23: a registry is a value; two of them know nothing of each other."""
    registry = Registry()
    slot = registry.slot("server", ROOMY)
    with pytest.raises(NameTaken):
        registry.slot("server", ROOMY)
    assert Registry().add(slot) is slot
    assert (list(registry), "server" in registry, "other" in registry) == (["server"], True, False)
    assert registry.whereis("other") is None
    with pytest.raises(KeyError):
        registry.ref("other")


async def test_wait_alive_waits_through_a_restart() -> None:
    slot: Slot[Any] = Slot("server", ROOMY)
    async with running(one(slot)), trio.open_nursery() as nursery:
        generations: list[int] = []

        async def wait() -> None:
            await slot.ref.wait_alive(5)
            generations.append(await slot.ref.call("who", 5))

        slot.life.kill()
        nursery.start_soon(wait)
        nursery.start_soon(wait)
        await wait_all_tasks_blocked()
        assert generations == [2, 2]
