"""Administration: OTP's requests and its words for no (row 19), counts, what is kept (row 20), scale (row 21)."""

from __future__ import annotations

import gc
import time
import weakref

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    ActorDied,
    AdminCode,
    AdminError,
    ChildSpec,
    DynamicHandle,
    EventKind,
    Kind,
    Restart,
    Strategy,
    SupervisorHandle,
    SupervisorSpec,
    supervisor_spec,
)
from tests.trees import Scripted


async def refused(request, code: AdminCode) -> None:
    with pytest.raises(AdminError) as caught:
        await request
    assert caught.value.code is code


async def test_child_adm(supervise) -> None:
    """child_adm: every request, in every state of the child."""
    child = Scripted("child1")
    nobody = SupervisorHandle("foo")
    async with supervise(child.spec()) as sup:
        handle = sup.handle
        assert (sup.states(), sup.counts()) == ({"child1": "running"}, (1, 1, 0, 1))
        await refused(handle.start_child(child.spec()), AdminCode.ALREADY_STARTED)
        await refused(handle.terminate_child("hej"), AdminCode.NOT_FOUND)
        await handle.terminate_child("child1")
        assert (sup.states(), sup.counts()) == ({"child1": "stopped"}, (1, 0, 0, 1))
        await handle.terminate_child("child1")
        await refused(handle.start_child(child.spec()), AdminCode.ALREADY_PRESENT)
        assert (await handle.restart_child("child1")).generation == 2
        await refused(handle.restart_child("child1"), AdminCode.RUNNING)
        await refused(handle.restart_child("child2"), AdminCode.NOT_FOUND)
        await refused(handle.delete_child("child1"), AdminCode.RUNNING)
        await refused(handle.delete_child("hej"), AdminCode.NOT_FOUND)
        await handle.terminate_child("child1")
        await handle.delete_child("child1")
        await refused(handle.restart_child("child1"), AdminCode.NOT_FOUND)
        assert (sup.states(), sup.counts()) == ({}, (0, 0, 0, 0))
        assert (await handle.start_child(child.spec())).state == "running"
        for ask in (nobody.terminate_child, nobody.delete_child, nobody.restart_child):
            with pytest.raises(ActorDied, match="foo"):
                await ask("child1")
        with pytest.raises(ActorDied):
            await nobody.start_child(child.spec())
        for question in (nobody.which_children, nobody.count_children):
            with pytest.raises(ActorDied):
                question()


async def test_child_adm_simple(supervise_dynamic) -> None:
    """child_adm_simple: on demand, addressed by id; restart_child and delete_child do not exist there."""
    one, two = Scripted("one"), Scripted("two")
    async with supervise_dynamic() as sup:
        assert (sup.states(), sup.counts()) == ({}, (0, 0, 0, 0))
        await sup.handle.start_child(one.spec())
        await sup.handle.start_child(two.spec())
        assert (set(sup.states()), sup.counts()) == ({"one", "two"}, (2, 2, 0, 2))
        await refused(sup.handle.start_child(one.spec()), AdminCode.ALREADY_STARTED)
        await sup.handle.terminate_child("one")
        await wait_all_tasks_blocked()
        assert (sup.states(), sup.counts()) == ({"two": "running"}, (1, 1, 0, 1))
        assert one.starts == 1  # permanent, and not restarted: it was asked to stop (Elixir)
        await refused(sup.handle.terminate_child("one"), AdminCode.NOT_FOUND)
        assert not hasattr(sup.handle, "restart_child")
        assert not hasattr(sup.handle, "delete_child")
        with pytest.raises(ActorDied):
            await DynamicHandle("foo").start_child(one.spec())


async def test_extra_return(supervise) -> None:
    """extra_return: start_child and restart_child answer with what they started; it can restart by itself too."""
    child = Scripted("child1")
    async with supervise() as sup:
        info = await sup.handle.start_child(child.spec())
        assert (info.id, info.kind, info.restart) == ("child1", Kind.WORKER, Restart.PERMANENT)
        assert (info.state, info.generation) == ("running", 1)
        await sup.handle.terminate_child("child1")
        assert (await sup.handle.restart_child("child1")).generation == 2
        child.end(ValueError("abnormal"))
        await sup.recorder.wait(EventKind.STARTED, "child1", count=3)
        assert sup.handle.which_children()[0].generation == 3


async def test_count_children(supervise, supervise_dynamic) -> None:
    """count_children: by kind, running or not."""
    async with supervise(Scripted("w1").spec(), supervisor_spec("s1", SupervisorSpec())) as sup:
        assert sup.counts() == (2, 2, 1, 1)
        await sup.handle.terminate_child("s1")
        assert sup.counts() == (2, 1, 1, 1)
    async with supervise_dynamic() as sup:
        for number in range(100):
            await sup.handle.start_child(Scripted(f"w{number}").spec())
        assert sup.counts() == (100, 100, 0, 100)


async def test_count_children_supervisor(supervise) -> None:
    """count_children_supervisor: it counts its own children, not those below them."""
    below = SupervisorSpec(children=[Scripted("w1").spec(), Scripted("w2").spec()])
    async with supervise(supervisor_spec("s1", below), supervisor_spec("s2", below)) as sup:
        assert sup.counts() == (2, 2, 2, 0)


async def test_count_restarting_children(supervise_dynamic) -> None:
    """count_restarting_children: held, but not active."""
    children = [Scripted(f"w{number}", None, trio.Event()) for number in range(3)]
    async with supervise_dynamic() as sup:
        for child in children:
            await sup.handle.start_child(child.spec())
        for ended, child in enumerate(children, 1):
            child.end(ValueError("boom"))
            await wait_all_tasks_blocked()
            assert sup.counts() == (3, 3 - ended, 0, 3)


async def test_a_request_that_arrives_too_late_is_refused(supervise) -> None:
    """Row 19: a stopping supervisor answers at once; what waits in its queue is answered at its end."""
    slow = Scripted("slow", deaf=True)
    async with supervise(slow.spec(shutdown=60)) as sup:
        handle = sup.handle
        async with trio.open_nursery() as nursery:

            async def late() -> None:
                with pytest.raises(ActorDied):
                    await handle.restart_child("slow")

            nursery.start_soon(handle.terminate_child, "slow")
            await wait_all_tasks_blocked()
            nursery.start_soon(late)
            await wait_all_tasks_blocked()
            sup.root.life_at("sup").request_stop()
            with pytest.raises(ActorDied):
                await handle.terminate_child("slow")
            slow.end()
        await sup.exit()
        assert not handle.alive


async def test_a_request_in_the_same_breath_as_the_stop_is_refused(supervise) -> None:
    """Row 19: it was taken from the queue already, and is answered all the same."""
    async with supervise(Scripted("a").spec()) as sup, trio.open_nursery() as nursery:

        async def ask() -> None:
            with pytest.raises(ActorDied):
                await sup.handle.restart_child("a")

        nursery.start_soon(ask)
        await trio.lowlevel.checkpoint()
        sup.root.life_at("sup").request_stop()


async def test_terminate_interrupts_a_start_on_demand(supervise) -> None:
    """A hung init can be called off by who knows better: the start is rolled back, so nothing is found to end."""
    async with supervise() as sup, trio.open_nursery() as nursery:
        hung = Scripted("hung", trio.Event())
        nursery.start_soon(refused, sup.handle.start_child(hung.spec()), AdminCode.START_FAILED)
        await wait_all_tasks_blocked()
        assert sup.states() == {"hung": "starting"}
        await refused(sup.handle.terminate_child("hung"), AdminCode.NOT_FOUND)
        assert sup.states() == {}


async def test_terminate_interrupts_a_start_on_demand_simple(supervise_dynamic) -> None:
    """The same where a start holds up nobody: both are answered."""
    async with supervise_dynamic() as sup, trio.open_nursery() as nursery:
        hung = Scripted("hung", trio.Event())
        nursery.start_soon(refused, sup.handle.start_child(hung.spec()), AdminCode.START_FAILED)
        await wait_all_tasks_blocked()
        assert sup.states() == {"hung": "starting"}
        await sup.handle.terminate_child("hung")
        assert sup.states() == {}


async def test_a_stop_answers_those_who_wait_for_a_start(supervise_dynamic) -> None:
    async with trio.open_nursery() as nursery, supervise_dynamic() as sup:
        hung = Scripted("hung", trio.Event())
        nursery.start_soon(refused, sup.handle.start_child(hung.spec()), AdminCode.START_FAILED)
        await wait_all_tasks_blocked()


@pytest.mark.parametrize("how", ["terminated", "normal", "abnormal"])
async def test_do_not_save_child_specs_for_temporary_children(supervise, how: str) -> None:
    """do_not_save_child_specs_for_temporary_children: only a temporary one can be started anew under its name."""
    for restart in Restart:
        child = Scripted("child")
        async with supervise() as sup:
            await sup.handle.start_child(child.spec(restart=restart))
            if how == "terminated":
                await sup.handle.terminate_child("child")
            else:
                child.end(None if how == "normal" else ValueError("boom"))
            await wait_all_tasks_blocked()
            if restart is Restart.TEMPORARY:
                await sup.handle.start_child(child.spec(restart=restart))
            else:
                with pytest.raises(AdminError, match="already_"):
                    await sup.handle.start_child(child.spec(restart=restart))


@pytest.mark.parametrize("dynamic", [True, False])
async def test_do_not_save_start_parameters_for_temporary_children(
    supervise, supervise_dynamic, dynamic: bool
) -> None:
    """do_not_save_start_parameters_...: nothing of a temporary child outlives it (row 20, by weak reference)."""

    class Parameters:
        """Potentially large."""

    async with (supervise_dynamic if dynamic else supervise)() as sup:
        for how in ("end", "terminate"):
            child, parameters = Scripted("child"), Parameters()
            child.parameters = parameters
            kept = weakref.ref(parameters)
            await sup.handle.start_child(child.spec(restart=Restart.TEMPORARY))
            if how == "end":
                child.end()
                await sup.recorder.wait(EventKind.EXITED, "child")
            else:
                await sup.handle.terminate_child("child")
            await wait_all_tasks_blocked()
            del child, parameters
            gc.collect()
            assert kept() is None


async def test_simple_one_for_one_corruption(supervise_dynamic) -> None:
    """simple_one_for_one_corruption (OTP-16804): the death of the first child changes nothing for the next ones."""
    async with supervise_dynamic() as sup:
        for _ in range(3):
            child = Scripted("child")
            kept = weakref.ref(child)
            await sup.handle.start_child(child.spec(restart=Restart.TEMPORARY))
            child.end(ValueError("abnormal"))
            event = await sup.recorder.wait(EventKind.EXITED, "child")
            await wait_all_tasks_blocked()
            sup.recorder.events.clear()  # the record keeps the error, and its traceback the frames
            del child, event
            gc.collect()
            assert kept() is None
            assert sup.states() == {}


async def scale(start, stop, count: int) -> float:
    """Seconds of this process alone: what else the machine does, and what memory other tests left, is no part of it."""
    gc.collect()
    gc.disable()
    before = time.process_time()
    for number in range(count):
        await start(number)
    for number in range(count):
        await stop(number)
    spent = time.process_time() - before
    gc.enable()
    return spent


async def quiet(life) -> None:
    life.ready()
    await trio.sleep_forever()


def child(number: int) -> ChildSpec:
    return ChildSpec(id=number, start=quiet, restart=Restart.TEMPORARY)


@pytest.mark.parametrize("dynamic", [True, False])
async def test_scale_start_stop_many_children(supervise, supervise_dynamic, dynamic: bool) -> None:
    """scale_start_stop_many_children: ten times as many take less than forty times as long.

    simple_one_for_one_scale_many_temporary_children: the same for a dynamic supervisor.
    """
    async with supervise_dynamic() if dynamic else supervise(strategy=Strategy.REST_FOR_ONE) as sup:
        few, many = [
            await scale(lambda n: sup.handle.start_child(child(n)), sup.handle.terminate_child, count)
            for count in (150, 1500)
        ]
        assert many / few < 40
