"""Stopping: patience, order, kills, outer cancellation, children that will not go (rows 14, 15 and 22)."""

from __future__ import annotations

import math

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    AdminError,
    ChildSpec,
    EventKind,
    ExitKind,
    Restart,
    Strategy,
    SupervisorSpec,
    run_root,
    supervisor_spec,
)
from tests.trees import Recorder, Scripted, running


async def test_sup_stop_infinity(supervise, autojump_clock) -> None:
    """sup_stop_infinity: allowed for workers and supervisors, and waits as long as it takes."""
    slow = Scripted("slow", deaf=True)
    async with supervise(slow.spec(shutdown=math.inf)) as sup:
        sup.root.request_stop()
        await trio.sleep(10_000)
        assert sup.states() == {"slow": "stopping"}
        slow.end()
    assert sup.trace()[-2:] == [("exit", "slow", "shutdown"), ("exit", "sup", "shutdown")]


async def test_sup_stop_timeout(supervise, autojump_clock) -> None:
    """sup_stop_timeout: one that does not stop in its time is killed, the others are not."""
    async with supervise(Scripted("a").spec(), Scripted("b", deaf=True).spec(shutdown=1)) as sup:
        before = trio.current_time()
        await sup.root.stop()
        assert trio.current_time() - before == pytest.approx(1)
    assert sup.trace()[-3:] == [
        ("exit", "b", "killed"),
        ("exit", "a", "shutdown"),
        ("exit", "sup", "shutdown"),
    ]


async def test_each_child_has_its_own_patience(supervise, autojump_clock) -> None:
    """Row 14: one at a time, in reverse order, each with its own time."""
    specs = [
        Scripted(name, deaf=True).spec(shutdown=seconds) for name, seconds in (("a", 1), ("b", 2), ("c", 3))
    ]
    async with supervise(*specs) as sup:
        before = trio.current_time()
        await sup.root.stop()
        assert trio.current_time() - before == pytest.approx(6)
    assert [step[1] for step in sup.trace()[-4:]] == ["c", "b", "a", "sup"]


async def test_sup_stop_race(supervise) -> None:
    """sup_stop_race: children that end by themselves while the supervisor stops are just gone."""
    children = [Scripted(name) for name in "abc"]
    async with supervise(*(child.spec() for child in children)) as sup:
        sup.root.life_at("sup").request_stop()
        for child in children:
            child.end(ValueError("just then"))
        await sup.exit()
    assert {step[1:] for step in sup.trace()[-4:-1]} == {(name, "just then") for name in "abc"}
    assert all(child.starts == 1 for child in children)


async def test_a_wrong_exit_reason_is_reported_not_raised(supervise) -> None:
    """Row 14: an error during the stop goes to the events, and the stop goes on."""

    async def start(life) -> None:
        life.ready()
        await life.until_stop()
        raise ValueError("in cleanup")

    async with supervise(Scripted("a").spec(), ChildSpec(id="b", start=start)) as sup:
        pass
    assert sup.trace()[-3:] == [
        ("exit", "b", "in cleanup"),
        ("exit", "a", "shutdown"),
        ("exit", "sup", "shutdown"),
    ]


async def test_a_child_that_traps_nothing_is_stopped_by_cancellation(supervise) -> None:
    """Like an OTP process that does not trap exits: at once, and its reason is `shutdown`."""

    async def start(life) -> None:
        life.ready()
        await trio.sleep_forever()

    async with supervise(ChildSpec(id="a", start=start, shutdown=60)) as sup:
        with trio.fail_after(5):
            await sup.root.stop()
    assert sup.trace()[-2:] == [("exit", "a", "shutdown"), ("exit", "sup", "shutdown")]


async def test_outer_cancellation_is_an_ordered_shutdown() -> None:
    """Row 15, trap T5: a plain nursery would stop them all at once."""
    recorder = Recorder()
    inner = SupervisorSpec(children=[Scripted(name).spec() for name in "bc"])
    spec = SupervisorSpec(
        children=[Scripted("a").spec(), supervisor_spec("sup", inner), Scripted("d").spec()]
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: run_root(spec, on_event=recorder))
        await recorder.wait(EventKind.STARTED, "root")
        nursery.cancel_scope.cancel()
    assert recorder.trace()[-5:] == [("exit", name, "shutdown") for name in ("d", "c", "b", "sup", "a")]


async def test_outer_cancellation_passes_on() -> None:
    """Row 15: what was cancelled ends as cancelled, not as if it had returned."""
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_root, SupervisorSpec())
            await wait_all_tasks_blocked()
            scope.cancel()
    assert scope.cancelled_caught


async def test_a_killed_supervisor_kills_its_children_in_reverse(autojump_clock) -> None:
    """A kill does not wait for the patience of those below, not even for one that is under way."""
    recorder = Recorder()
    inner = SupervisorSpec(children=[Scripted(name, deaf=True).spec(shutdown=60) for name in "bc"])
    spec = SupervisorSpec(children=[supervisor_spec("sup", inner, shutdown=1)])
    before = trio.current_time()
    async with running(spec, on_event=recorder):
        pass
    assert recorder.trace()[-3:] == [(("exit"), name, "killed") for name in ("c", "b", "sup")]
    assert trio.current_time() - before == pytest.approx(1)


async def test_a_supervisor_that_is_killed_at_rest_kills_its_children() -> None:
    recorder = Recorder()
    inner = SupervisorSpec(children=[Scripted(name, deaf=True).spec(shutdown=60) for name in "bc"])
    async with running(SupervisorSpec(children=[supervisor_spec("sup", inner)]), on_event=recorder) as root:
        root.life_at("sup").kill()
        await recorder.wait(EventKind.STARTED, "sup", count=2)
        assert recorder.trace()[4:7] == [("exit", name, "killed") for name in ("c", "b", "sup")]
        root.life_at("sup").kill()


async def test_a_killed_root_returns() -> None:
    recorder = Recorder()
    async with trio.open_nursery() as nursery:
        root = await nursery.start(run_root, SupervisorSpec(children=[Scripted("a").spec()]))
        root.system.on_event = recorder
        root.life_at("root").kill()
    assert recorder.trace() == [("exit", "a", "killed")]


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit])
async def test_what_no_supervisor_may_handle_comes_out_of_the_root(fatal: type[BaseException]) -> None:
    """Row 6: KeyboardInterrupt and SystemExit stop the tree in order, and are raised again at the root, bare."""
    recorder, go = Recorder(), trio.Event()

    async def start(life) -> None:
        life.ready()
        async with trio.open_nursery():
            await go.wait()
            raise fatal

    async def release() -> None:
        await recorder.wait(EventKind.STARTED, "root")
        go.set()

    inner = SupervisorSpec(children=[Scripted("b").spec(), ChildSpec(id="c", start=start)])
    spec = SupervisorSpec(
        children=[Scripted("a").spec(), supervisor_spec("sup", inner), Scripted("d").spec()]
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(release)
        with pytest.raises(fatal):
            await run_root(spec, on_event=recorder)
    assert [step[1] for step in recorder.trace()[-5:]] == ["c", "b", "sup", "d", "a"]


async def test_child_unlink(supervise, autojump_clock) -> None:
    """child_unlink, row 22: a child that shields itself is reported as stuck; the supervisor stays responsive."""
    stuck, other = Scripted("stuck", stubborn=True), Scripted("other")
    async with supervise(stuck.spec(shutdown=1), other.spec(), stuck_after=2) as sup:
        before = trio.current_time()
        with pytest.raises(AdminError, match="stuck"):
            await sup.handle.terminate_child("stuck")
        assert trio.current_time() - before == pytest.approx(3)
        assert sup.states() == {"stuck": "stuck", "other": "running"}
        assert sup.recorder.of(EventKind.STUCK)[0].path == "root/sup/stuck"
        for request in (sup.handle.terminate_child, sup.handle.restart_child, sup.handle.delete_child):
            with pytest.raises(AdminError, match="stuck"):
                await request("stuck")
        other.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "other", count=2)
        stuck.release()
        await sup.recorder.wait(EventKind.EXITED, "stuck")
        assert sup.states() == {"stuck": "stopped", "other": "running"}
        assert (await sup.handle.restart_child("stuck")).state == "running"


async def test_a_stuck_temporary_child_is_forgotten_once_gone(supervise, autojump_clock) -> None:
    stuck = Scripted("stuck", stubborn=True)
    async with supervise(stuck.spec(shutdown=1, restart=Restart.TEMPORARY)) as sup:
        with pytest.raises(AdminError, match="stuck"):
            await sup.handle.terminate_child("stuck")
        stuck.release()
        await sup.recorder.wait(EventKind.EXITED, "stuck")
        assert sup.states() == {}


async def test_a_stuck_dynamic_child_is_forgotten_once_gone(supervise_dynamic, autojump_clock) -> None:
    stuck = Scripted("stuck", stubborn=True)
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(stuck.spec(shutdown=1))
        with pytest.raises(AdminError, match="stuck"):
            await sup.handle.terminate_child("stuck")
        assert sup.states() == {"stuck": "stuck"}
        stuck.release()
        await sup.recorder.wait(EventKind.EXITED, "stuck")
        assert sup.states() == {}


async def test_a_stuck_sibling_is_started_again_once_it_is_gone(supervise, autojump_clock) -> None:
    """Row 22: never two incarnations at once; the others do not wait for it."""
    dying, stuck = Scripted("dying"), Scripted("stuck", stubborn=True)
    specs = [dying.spec(), stuck.spec(shutdown=1)]
    async with supervise(*specs, strategy=Strategy.ONE_FOR_ALL) as sup:
        dying.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "dying", count=2)
        assert (sup.states(), stuck.starts) == ({"dying": "running", "stuck": "stuck"}, 1)
        dying.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "dying", count=3)
        stuck.release()
        await sup.recorder.wait(EventKind.STARTED, "stuck", count=2)
        assert sup.states() == {"dying": "running", "stuck": "running"}


async def test_a_stuck_sibling_that_is_revived_during_a_restart_is_started_once(
    supervise, autojump_clock
) -> None:
    """Found by a race of the test above: it had been started again by the time its turn came."""
    gate = trio.Event()
    dying, stuck = Scripted("dying", None, None, gate), Scripted("stuck", stubborn=True)
    specs = [dying.spec(), stuck.spec(shutdown=1)]
    async with supervise(*specs, strategy=Strategy.ONE_FOR_ALL) as sup:
        dying.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "dying", count=2)
        await wait_all_tasks_blocked()
        dying.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert dying.starts == 3  # its init waits at the gate
        stuck.release()
        await sup.recorder.wait(EventKind.STARTED, "stuck", count=2)
        gate.set()
        await sup.recorder.wait(EventKind.STARTED, "dying", count=3)
        await wait_all_tasks_blocked()
        assert (sup.states(), stuck.starts) == ({"dying": "running", "stuck": "running"}, 2)


async def test_a_stuck_child_does_not_keep_the_others_from_stopping(supervise, autojump_clock) -> None:
    """Row 22: at the shutdown the rest is stopped in order; only the tree as a whole waits for it."""
    stuck = Scripted("stuck", stubborn=True)
    async with supervise(Scripted("a").spec(), stuck.spec(shutdown=1), stuck_after=1) as sup:
        sup.root.request_stop()
        await sup.recorder.wait(EventKind.EXITED, "a")
        assert sup.root.tree().find("stuck").state == "stuck"
        stuck.release()
        assert (await sup.exit()).kind is ExitKind.SHUTDOWN
    assert [step[1] for step in sup.trace()[-3:]] == ["a", "stuck", "sup"]


async def test_a_stop_overtakes_a_restart_that_is_under_way(supervise) -> None:
    """Row 12: the steps that are left are not carried out."""
    dying, slow = Scripted("dying"), Scripted("slow", deaf=True)
    async with supervise(dying.spec(), slow.spec(shutdown=60), strategy=Strategy.ONE_FOR_ALL) as sup:
        dying.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        sup.root.request_stop()
        await wait_all_tasks_blocked()
        slow.end()
    assert (dying.starts, slow.starts) == (1, 1)


async def test_the_first_fatal_error_is_the_one_that_comes_out() -> None:
    """A second one during the ordered stop does not replace it."""
    go = trio.Event()

    async def first(life) -> None:
        life.ready()
        await go.wait()
        raise KeyboardInterrupt

    async def second(life) -> None:
        life.ready()
        await life.until_stop()
        raise SystemExit(3)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: _release(go))
        with pytest.raises(KeyboardInterrupt):
            await run_root(
                SupervisorSpec(children=[ChildSpec(id=f.__name__, start=f) for f in (first, second)])
            )


async def _release(go: trio.Event) -> None:
    await wait_all_tasks_blocked()
    go.set()


async def test_two_may_ask_for_the_same_end(supervise_dynamic) -> None:
    """Row 19: both are answered when it is gone."""
    slow = Scripted("slow", deaf=True)
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(slow.spec(shutdown=60))
        async with trio.open_nursery() as nursery:
            for _ in range(2):
                nursery.start_soon(sup.handle.terminate_child, "slow")
            await wait_all_tasks_blocked()
            slow.end()
        assert sup.states() == {}


async def test_a_child_that_becomes_ready_while_it_is_stopped(supervise_dynamic) -> None:
    """Its init could not be interrupted; it is asked as soon as it listens, and who started it is answered."""
    gate = trio.Event()

    async def start(life) -> None:
        with trio.CancelScope(shield=True):
            await gate.wait()
        life.ready()
        await life.until_stop()

    async with supervise_dynamic() as sup, trio.open_nursery() as nursery:
        states = []

        async def ask() -> None:
            states.append((await sup.handle.start_child(ChildSpec(id="late", start=start))).state)

        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        nursery.start_soon(sup.handle.terminate_child, "late")
        await wait_all_tasks_blocked()
        gate.set()
        await wait_all_tasks_blocked()
        assert (states, sup.states()) == (["stopping"], {})
