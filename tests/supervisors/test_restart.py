"""Who is restarted, and with whom (rows 6 to 9); retries that do not block (row 12)."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    BRUTAL_KILL,
    AdminError,
    ChildSpec,
    EventKind,
    ExitKind,
    Ignore,
    IntensityReached,
    Restart,
    Shutdown,
    Strategy,
    SupervisorHandle,
    SupervisorSpec,
    run_root,
    supervisor_spec,
)
from tests.trees import Recorder, Scripted

ENDINGS = {
    "normal": None,
    "shutdown": Shutdown(),
    "shutdown_term": Shutdown("term"),
    "abnormal": ValueError("abnormal"),
}
ALL = [Strategy.ONE_FOR_ONE, Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]


ENDED = {
    Restart.PERMANENT: dict.fromkeys(ENDINGS, ("running", 2)),
    Restart.TRANSIENT: {**dict.fromkeys(ENDINGS, ("stopped", 1)), "abnormal": ("running", 2)},
    Restart.TEMPORARY: dict.fromkeys(ENDINGS, (None, 1)),
}
"""The state of a child after it ended, and how often it was started. Permanent: restarted all the same. Transient: down, its spec kept; a shutdown counts as normal. Temporary: forgotten."""


@pytest.mark.parametrize("how", ENDINGS)
@pytest.mark.parametrize("restart", Restart)
async def test_who_is_restarted(supervise, restart: Restart, how: str) -> None:
    """{permanent,transient,temporary}_{normal,shutdown,abnormal}."""
    child = Scripted("child1")
    async with supervise(child.spec(restart=restart)) as sup:
        child.end(ENDINGS[how])
        await wait_all_tasks_blocked()
        assert (sup.states().get("child1"), child.starts) == ENDED[restart][how]


@pytest.mark.parametrize(
    ("restart", "state"), [(Restart.TRANSIENT, "stopped"), (Restart.PERMANENT, "running")]
)
async def test_shutdown_raised_inside_a_nursery_is_a_shutdown(
    supervise, restart: Restart, state: str
) -> None:
    """Trap T2: it arrives in a group, which must be judged by its leaves."""
    go, starts = trio.Event(), []

    async def start(life) -> None:
        starts.append(1)
        life.ready()
        async with trio.open_nursery():
            if len(starts) > 1:
                await trio.sleep_forever()
            await go.wait()
            raise Shutdown

    async with supervise(ChildSpec(id="child", start=start, restart=restart)) as sup:
        go.set()
        event = await sup.recorder.wait(EventKind.EXITED, "child")
        await wait_all_tasks_blocked()
        assert event.exit.kind is ExitKind.SHUTDOWN
        assert sup.states() == {"child": state}


async def test_one_error_among_shutdowns_is_an_error(supervise) -> None:
    """Trap T2: one leaf is enough."""
    go = trio.Event()

    async def start(life) -> None:
        life.ready()
        await go.wait()
        raise ExceptionGroup("both", [Shutdown(), ExceptionGroup("inner", [ValueError("worse")])])

    async with supervise(ChildSpec(id="child", start=start, restart=Restart.TEMPORARY)) as sup:
        go.set()
        event = await sup.recorder.wait(EventKind.EXITED, "child")
        assert (event.exit.kind, event.exit.reason) == (ExitKind.ERROR, "worse")


async def test_a_killed_child_is_restarted_when_transient(supervise) -> None:
    """Row 6: `killed` is abnormal."""
    async with supervise(Scripted("child").spec(restart=Restart.TRANSIENT)) as sup:
        sup.root.life_at("child").kill()
        event = await sup.recorder.wait(EventKind.EXITED, "child")
        await sup.recorder.wait(EventKind.STARTED, "child", count=2)
        assert event.exit.kind is ExitKind.KILLED


@pytest.mark.parametrize("strategy", ALL)
async def test_escalation(supervise, strategy: Strategy) -> None:
    """one_for_one_escalation, one_for_all_escalation, rest_for_one_escalation: a restart that keeps failing.

    Each failed retry counts as a restart (Elixir).
    """
    bad = Scripted("child1", None, *[ValueError("again")] * 10)
    async with supervise(bad.spec(), Scripted("child2").spec(), strategy=strategy, intensity=4) as sup:
        bad.end(ValueError("boom"))
        end = await sup.exit()
        assert (end.kind, isinstance(end.error, IntensityReached)) == (ExitKind.SHUTDOWN, True)
        assert bad.starts == 5
    assert sup.trace()[-2:] in (
        [("exit", "child2", "shutdown"), ("exit", "sup", "shutdown")],
        [("exit", "child1", "boom"), ("exit", "sup", "shutdown")],  # child2 was down, waiting for child1
    )


async def test_one_for_all_other_child_fails_restart(supervise) -> None:
    """one_for_all_other_child_fails_restart: the sibling that fails is tried again, with all of them."""
    first, second = Scripted("child1"), Scripted("child2", None, ValueError("once"))
    async with supervise(first.spec(), second.spec(), strategy=Strategy.ONE_FOR_ALL) as sup:
        first.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "running", "child2": "running"}
        assert (first.starts, second.starts) == (3, 3)
        assert len(sup.recorder.of(EventKind.RESTARTING)) == 2


async def test_rest_for_one_other_child_fails_restart(supervise) -> None:
    """rest_for_one_other_child_fails_restart: the retry goes on from the child that failed, not from the first."""
    first, second, third = Scripted("a"), Scripted("b", None, ValueError("once")), Scripted("c")
    specs = [child.spec() for child in (first, second, third)]
    async with supervise(*specs, strategy=Strategy.REST_FOR_ONE) as sup:
        first.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert (first.starts, second.starts, third.starts) == (2, 3, 2)
        assert set(sup.states().values()) == {"running"}


async def test_a_temporary_bystander_that_ends_by_itself_meanwhile(supervise) -> None:
    """A step about a child that is no longer there is no step."""
    dying, slow, bystander = Scripted("a"), Scripted("slow", deaf=True), Scripted("t")
    specs = [dying.spec(), bystander.spec(restart=Restart.TEMPORARY), slow.spec(shutdown=60)]
    async with supervise(*specs, strategy=Strategy.ONE_FOR_ALL) as sup:
        dying.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states()["slow"] == "stopping"
        bystander.end()
        await wait_all_tasks_blocked()
        assert sup.states() == {"a": "restarting", "slow": "stopping"}
        slow.end()
        await wait_all_tasks_blocked()
        assert sup.states() == {"a": "running", "slow": "running"}
        slow.end()


async def test_a_sibling_that_dies_during_a_restart_is_not_restarted_twice(supervise) -> None:
    """Every event names its generation, and a stale one is dropped."""
    gate = trio.Event()
    first, second, third = Scripted("a"), Scripted("b", None, gate), Scripted("c", deaf=True)
    specs = [child.spec(shutdown=60) for child in (first, second, third)]
    async with supervise(*specs, strategy=Strategy.ONE_FOR_ALL) as sup:
        first.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        second.end(ValueError("boom, too"))
        await wait_all_tasks_blocked()
        third.end()
        gate.set()
        await wait_all_tasks_blocked()
        assert (first.starts, second.starts, third.starts) == (2, 2, 2)
        assert len(sup.recorder.of(EventKind.RESTARTING)) == 1
        third.end()


async def test_multiple_restarts(supervise) -> None:
    """multiple_restarts: more than the intensity, but not within the period."""
    child = Scripted("child1")
    async with supervise(child.spec(), intensity=1, period=0.000001) as sup:
        for generation in range(2, 6):
            child.end(ValueError("boom"))
            await sup.recorder.wait(EventKind.STARTED, "child1", count=generation)
        assert sup.handle.alive


@pytest.mark.parametrize("strategy", ALL)
async def test_hanging_restart_loop(supervise, strategy: Strategy) -> None:
    """hanging_restart_loop (OTP-9549): a restart whose init hangs leaves the supervisor answering and stoppable."""
    child = Scripted("child1", None, trio.Event(), None, trio.Event())
    async with supervise(child.spec(shutdown=BRUTAL_KILL), strategy=strategy) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "restarting"}
        assert sup.counts() == (1, 0, 0, 1)
        with trio.fail_after(5):
            await sup.handle.terminate_child("child1")
        assert sup.states() == {"child1": "stopped"}
        await sup.handle.restart_child("child1")
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "restarting"}
    assert sup.trace()[-1] == ("exit", "sup", "shutdown")


async def test_hanging_restart_loop_vocabulary(supervise) -> None:
    """hanging_restart_loop: start, restart and delete say why they refuse while a restart hangs."""
    child = Scripted("child1", None, trio.Event())
    async with supervise(child.spec()) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        for request, word in (
            (sup.handle.start_child(child.spec()), "already_present"),
            (sup.handle.restart_child("child1"), "restarting"),
            (sup.handle.delete_child("child1"), "restarting"),
        ):
            with pytest.raises(AdminError, match=word):
                await request


async def test_hanging_restart_loop_rest_for_one(supervise) -> None:
    """hanging_restart_loop_rest_for_one: those after the hanging one are down, those before it run."""
    hanging = Scripted("child2", None, trio.Event())
    specs = [Scripted("child1").spec(), hanging.spec(), Scripted("child3").spec()]
    async with supervise(*specs, strategy=Strategy.REST_FOR_ONE) as sup:
        hanging.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "running", "child2": "restarting", "child3": "stopped"}
        assert sup.counts() == (3, 1, 0, 3)
        await sup.handle.terminate_child("child2")
        assert sup.states() == {"child1": "running", "child2": "stopped", "child3": "stopped"}
        await sup.handle.restart_child("child2")
        assert sup.states()["child2"] == "running"


async def test_hanging_restart_loop_simple(supervise_dynamic) -> None:
    """hanging_restart_loop_simple."""
    child = Scripted("child1", None, trio.Event(), None, trio.Event())
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(child.spec(shutdown=BRUTAL_KILL))
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "restarting"}
        assert sup.counts() == (1, 0, 0, 1)
        with pytest.raises(AdminError, match="already_present"):
            await sup.handle.start_child(child.spec())
        await sup.handle.terminate_child("child1")
        assert sup.states() == {}
        await sup.handle.start_child(child.spec(shutdown=BRUTAL_KILL))
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"child1": "restarting"}
    assert sup.trace()[-1] == ("exit", "sup", "shutdown")


async def test_child_is_restarted_with_different_values(supervise) -> None:
    """Elixir: ok, error, ignore, ok: each value of a start in turn."""
    child = Scripted("child", None, ValueError("error"), None, Ignore())
    async with supervise(child.spec()) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert (sup.states(), child.starts) == ({"child": "running"}, 3)
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert (sup.states(), child.starts) == ({"child": "stopped"}, 4)


async def test_tree() -> None:
    """tree, rows 16 and 17: give-up escalates; a restarted supervisor has its static children, no others."""
    worker, extra, handle, recorder = (
        Scripted("worker"),
        Scripted("extra"),
        SupervisorHandle("sup"),
        Recorder(),
    )
    inner = SupervisorSpec(intensity=0, children=[worker.spec()])
    outer = SupervisorSpec(
        intensity=1, children=[Scripted("sibling").spec(), supervisor_spec("sup", inner, handle=handle)]
    )

    async def drive() -> None:
        await recorder.wait(EventKind.STARTED, "root")
        await handle.start_child(extra.spec())
        worker.end(ValueError("boom"))
        await recorder.wait(EventKind.STARTED, "sup", count=2)
        assert [info.id for info in handle.which_children()] == ["worker"]
        worker.end(ValueError("boom"))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(drive)
        with pytest.raises(IntensityReached):
            await run_root(outer, on_event=recorder)
    assert recorder.trace()[-3:] == [
        ("exit", "worker", "boom"),
        ("exit", "sup", "shutdown"),
        ("exit", "sibling", "shutdown"),
    ]


async def test_a_transient_supervisor_that_gives_up_is_not_restarted() -> None:
    """Row 16: its own reason is `shutdown`, so only a permanent one comes back."""
    worker, recorder = Scripted("worker"), Recorder()
    inner = SupervisorSpec(intensity=0, children=[worker.spec()])
    outer = SupervisorSpec(children=[supervisor_spec("sup", inner, restart=Restart.TRANSIENT)])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: run_root(outer, on_event=recorder))
        await recorder.wait(EventKind.STARTED, "root")
        worker.end(ValueError("boom"))
        await recorder.wait(EventKind.EXITED, "sup")
        await wait_all_tasks_blocked()
        assert len(recorder.of(EventKind.STARTED, name="sup")) == 1
        nursery.cancel_scope.cancel()
