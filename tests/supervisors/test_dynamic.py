"""Children on demand (row 10): OTP's simple_one_for_one, Elixir's DynamicSupervisor."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    BRUTAL_KILL,
    ActorDied,
    AdminCode,
    AdminError,
    Backoff,
    DynamicHandle,
    EventKind,
    ExitKind,
    Ignore,
    Restart,
    Shutdown,
    Strategy,
    SupervisorSpec,
    dynamic_spec,
    supervisor_spec,
)
from tests.trees import Recorder, Scripted, running


async def test_simple_one_for_one(supervise_dynamic) -> None:
    """simple_one_for_one: only the dead one is restarted; one too many and the supervisor gives up."""
    one, two = Scripted("one"), Scripted("two")
    async with supervise_dynamic(intensity=2) as sup:
        for child in (one, two):
            await sup.handle.start_child(child.spec())
        one.end(ValueError("abnormal"))
        await wait_all_tasks_blocked()
        assert (one.starts, two.starts, sup.counts()) == (2, 1, (2, 2, 0, 2))
        two.end(ValueError("abnormal"))
        await wait_all_tasks_blocked()
        two.end(ValueError("abnormal"))
        assert (await sup.exit()).kind is ExitKind.SHUTDOWN
    assert (one.starts, two.starts) == (2, 2)


@pytest.mark.parametrize("how", [None, Shutdown()])
async def test_simple_one_for_one_shutdown(supervise_dynamic, how: Exception | None) -> None:
    """simple_one_for_one_shutdown: a permanent one restarts after a shutdown, a transient one is gone."""
    permanent, transient = Scripted("permanent"), Scripted("transient")
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(permanent.spec())
        await sup.handle.start_child(transient.spec(restart=Restart.TRANSIENT))
        permanent.end(how)
        transient.end(how)
        await wait_all_tasks_blocked()
        assert sup.states() == {"permanent": "running"}


async def test_simple_one_for_one_extra(supervise_dynamic) -> None:
    """simple_one_for_one_extra: start_child answers with what it started."""
    async with supervise_dynamic() as sup:
        first, second = [await sup.handle.start_child(Scripted(name).spec()) for name in "ab"]
        assert [(info.id, info.state, info.generation) for info in (first, second)] == [
            ("a", "running", 1),
            ("b", "running", 1),
        ]


async def test_simple_one_for_one_escalation(supervise_dynamic) -> None:
    """simple_one_for_one_escalation: a restart that keeps failing ends the supervisor and the other children."""
    bad = Scripted("bad", None, *[ValueError("again")] * 10)
    async with supervise_dynamic(intensity=4) as sup:
        await sup.handle.start_child(bad.spec())
        await sup.handle.start_child(Scripted("other").spec())
        bad.end(ValueError("boom"))
        assert (await sup.exit()).kind is ExitKind.SHUTDOWN
    assert bad.starts == 5
    assert sup.trace()[-2:] == [("exit", "other", "shutdown"), ("exit", "sup", "shutdown")]


async def test_simple_one_for_one_restart_ignore(supervise_dynamic) -> None:
    """simple_one_for_one_restart_ignore: one that declines its restart is forgotten."""
    child = Scripted("child", None, None, Ignore())
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(child.spec())
        for _ in range(2):
            child.end(ValueError("boom"))
            await wait_all_tasks_blocked()
        assert (sup.states(), child.starts) == ({}, 3)


async def test_sup_stop_timeout_dynamic(supervise_dynamic, autojump_clock) -> None:
    """sup_stop_timeout_dynamic: all are asked at once, and share one deadline."""
    async with supervise_dynamic() as sup:
        for name in "abc":
            await sup.handle.start_child(Scripted(name, deaf=True).spec(shutdown=5))
        await sup.handle.start_child(Scripted("willing").spec(shutdown=5))
        before = trio.current_time()
        await sup.root.stop()
        assert trio.current_time() - before == pytest.approx(5)
    assert {step[1:] for step in sup.trace()[-5:-1]} == {
        ("a", "killed"),
        ("b", "killed"),
        ("c", "killed"),
        ("willing", "shutdown"),
    }
    assert sup.trace()[-5][1] == "willing"


async def test_sup_stop_brutal_kill_dynamic(supervise_dynamic) -> None:
    """sup_stop_brutal_kill_dynamic."""
    async with supervise_dynamic() as sup:
        for name in "abc":
            await sup.handle.start_child(Scripted(name).spec(shutdown=BRUTAL_KILL))
    assert {step[1:] for step in sup.trace()[-4:-1]} == {(name, "killed") for name in "abc"}


@pytest.mark.parametrize("restart", Restart)
async def test_sup_stop_non_shutdown_exit_dynamic(supervise_dynamic, restart: Restart) -> None:
    """sup_stop_non_shutdown_exit_dynamic: whatever their last words, the supervisor ends with shutdown."""
    children = [Scripted(name, deaf=True) for name in ("normal", "shutdown", "other")]
    async with supervise_dynamic() as sup:
        for each in children:
            await sup.handle.start_child(each.spec(restart=restart))
        sup.root.request_stop()
        await wait_all_tasks_blocked()
        for each, how in zip(children, (None, Shutdown(), ValueError("other")), strict=True):
            each.end(how)
        assert (await sup.exit()).kind is ExitKind.SHUTDOWN
    assert {step[1:] for step in sup.trace()[-4:-1]} == {
        ("normal", "shutdown"),
        ("shutdown", "shutdown"),
        ("other", "other"),
    }


async def test_terminates_with_mixed_children(supervise_dynamic, autojump_clock) -> None:
    """Elixir `terminates with mixed children`: each its own way, all at the same time."""
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(Scripted("brutal").spec(shutdown=BRUTAL_KILL))
        await sup.handle.start_child(Scripted("deaf", deaf=True).spec(shutdown=2))
        await sup.handle.start_child(Scripted("willing").spec())
        before = trio.current_time()
        await sup.root.stop()
        assert trio.current_time() - before == pytest.approx(2)
    assert sup.trace()[-2:] == [("exit", "deaf", "killed"), ("exit", "sup", "shutdown")]


async def test_with_max_children(supervise_dynamic) -> None:
    """Elixir `with max_children`."""
    async with supervise_dynamic(max_children=1) as sup:
        await sup.handle.start_child(Scripted("one").spec())
        with pytest.raises(AdminError) as caught:
            await sup.handle.start_child(Scripted("two").spec())
        assert caught.value.code is AdminCode.MAX_CHILDREN
        await sup.handle.terminate_child("one")
        await sup.handle.start_child(Scripted("two").spec())
    async with supervise_dynamic(max_children=0) as sup:
        with pytest.raises(AdminError, match="max_children"):
            await sup.handle.start_child(Scripted("one").spec())


async def test_restarting_children_counted_in_max_children(supervise_dynamic, autojump_clock) -> None:
    """Elixir `restarting on init/exit children counted in max_children`."""
    child = Scripted("one")
    async with supervise_dynamic(max_children=1) as sup:
        await sup.handle.start_child(child.spec(backoff=Backoff(first=10)))
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"one": "restarting"}
        with pytest.raises(AdminError, match="max_children"):
            await sup.handle.start_child(Scripted("two").spec())


async def test_terminates_restarting_child(supervise_dynamic, autojump_clock) -> None:
    """Elixir `terminates restarting child`: one that waits for its next try is gone at once."""
    child = Scripted("one")
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(child.spec(backoff=Backoff(first=10)))
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        await sup.handle.terminate_child("one")
        await trio.sleep(100)
        assert (sup.states(), child.starts) == ({}, 1)


async def test_a_slow_start_holds_up_nobody(supervise_dynamic) -> None:
    """Row 10: no order among dynamic children."""
    gate = trio.Event()
    async with supervise_dynamic() as sup, trio.open_nursery() as nursery:
        nursery.start_soon(sup.handle.start_child, Scripted("slow", gate).spec())
        await wait_all_tasks_blocked()
        assert (await sup.handle.start_child(Scripted("quick").spec())).state == "running"
        assert sup.states() == {"slow": "starting", "quick": "running"}
        gate.set()
    assert sup.recorder.of(EventKind.STARTED, name="slow")


async def test_a_slow_stop_holds_up_nobody(supervise_dynamic) -> None:
    """Row 10: the supervisor answers while one child takes its time to stop."""
    slow = Scripted("slow", deaf=True)
    async with supervise_dynamic() as sup, trio.open_nursery() as nursery:
        await sup.handle.start_child(slow.spec(shutdown=60))
        nursery.start_soon(sup.handle.terminate_child, "slow")
        await wait_all_tasks_blocked()
        await sup.handle.start_child(Scripted("quick").spec())
        assert sup.states() == {"slow": "stopping", "quick": "running"}
        slow.end()


async def test_a_failed_restart_is_tried_again(supervise_dynamic) -> None:
    """Row 12, with and without a backoff."""
    for backoff in (None, Backoff(first=0.001, jitter=0)):
        child = Scripted("child", None, ValueError("once"))
        async with supervise_dynamic() as sup:
            await sup.handle.start_child(child.spec(backoff=backoff))
            child.end(ValueError("boom"))
            await sup.recorder.wait(EventKind.STARTED, "child", count=2)
            assert (sup.states(), child.starts) == ({"child": "running"}, 3)


async def test_a_retry_of_a_child_that_was_terminated_meanwhile_is_dropped(supervise_dynamic) -> None:
    """Stale events name a generation that is past."""
    child = Scripted("child", None, ValueError("once"))
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(child.spec())
        async with trio.open_nursery() as nursery:
            child.end(ValueError("boom"))
            while child.starts == 1:
                await trio.lowlevel.checkpoint()
            nursery.start_soon(sup.handle.terminate_child, "child")
        await wait_all_tasks_blocked()
        assert sup.states() == {}


async def test_the_handle_survives_a_restart_of_its_supervisor() -> None:
    """Row 17: dynamic children are gone after it, and the same handle starts new ones."""
    handle, recorder = DynamicHandle("dynamic"), Recorder()
    spec = SupervisorSpec(children=[dynamic_spec("dynamic", handle)])
    assert not handle.alive
    async with running(spec, on_event=recorder) as root:
        await handle.start_child(Scripted("one").spec())
        root.life_at("dynamic").kill()
        await recorder.wait(EventKind.EXITED, "one")
        with pytest.raises(ActorDied):
            await handle.start_child(Scripted("two").spec())
        await recorder.wait(EventKind.STARTED, "dynamic", count=2)
        assert handle.which_children() == ()
        await handle.start_child(Scripted("one").spec())
    assert not handle.alive


async def test_a_dynamic_supervisor_below_one_for_all() -> None:
    """It is an ordinary child."""
    handle, worker, recorder = DynamicHandle("dynamic"), Scripted("worker"), Recorder()
    inner = SupervisorSpec(Strategy.ONE_FOR_ALL, children=[worker.spec(), dynamic_spec("dynamic", handle)])
    async with running(SupervisorSpec(children=[supervisor_spec("sup", inner)]), on_event=recorder):
        await handle.start_child(Scripted("one").spec())
        worker.end(ValueError("boom"))
        await recorder.wait(EventKind.STARTED, "dynamic", count=2)
        assert handle.which_children() == ()
