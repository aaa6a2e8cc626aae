"""Starting: order, readiness, rollback, children that decline (rows 3, 4 and 5)."""

from __future__ import annotations

import pytest
import trio

from supervisors import (
    AdminCode,
    AdminError,
    ChildSpec,
    EventKind,
    ExitKind,
    Ignore,
    Restart,
    StartFailed,
    StartTimeout,
    SupervisorSpec,
    run_root,
    supervisor_spec,
)
from supervisors.exits import NotReady
from tests.trees import Recorder, Scripted, running

SHUT = [("exit", "sup", "shutdown")]


async def test_sup_start_normal(supervise) -> None:
    """sup_start_normal: a supervisor without children starts, and stops when asked."""
    async with supervise() as sup:
        assert sup.handle.which_children() == ()
    assert sup.trace() == SHUT


async def test_a_child_is_ready_before_the_next_one_starts() -> None:
    """Row 3: readiness, not creation, lets the next one start."""
    gate = trio.Event()
    first, second = Scripted("first", gate), Scripted("second")
    spec = SupervisorSpec(children=[first.spec(), second.spec()])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_root, spec)
        await trio.testing.wait_all_tasks_blocked()
        assert (first.starts, second.starts) == (1, 0)
        gate.set()
        await trio.testing.wait_all_tasks_blocked()
        assert second.starts == 1
        nursery.cancel_scope.cancel()


async def test_a_hung_init_ends_at_its_start_timeout(autojump_clock) -> None:
    """Row 3: OTP has no such bound, and hangs."""
    recorder = Recorder()
    hung = Scripted("hung", trio.Event()).spec(start_timeout=3)
    with pytest.raises(StartFailed) as caught:
        await run_root(SupervisorSpec(children=[hung]), on_event=recorder)
    assert isinstance(caught.value.__cause__, StartTimeout)
    assert trio.current_time() == pytest.approx(recorder.events[0].time)
    assert recorder.events[0].kind is EventKind.START_FAILED


async def test_the_start_timeout_is_over_once_ready(autojump_clock) -> None:
    """Row 3: the bound is for init only."""
    child = Scripted("child")
    async with running(SupervisorSpec(children=[child.spec(start_timeout=3)])) as root:
        await trio.sleep(10)
        assert root.tree().children[0].state == "running"


async def test_sup_start_fail() -> None:
    """sup_start_fail, row 4: the first failure stops what was started, in reverse; nothing is tried again."""
    recorder = Recorder()
    children = [Scripted("a"), Scripted("b"), Scripted("c", ValueError("no")), Scripted("d")]
    with pytest.raises(StartFailed) as caught:
        await run_root(SupervisorSpec(children=[child.spec() for child in children]), on_event=recorder)
    assert (caught.value.child, str(caught.value.__cause__)) == ("c", "no")
    assert caught.value.exit.kind is ExitKind.ERROR
    assert recorder.trace() == [
        ("start", "a", "ok"),
        ("start", "b", "ok"),
        ("exit", "b", "shutdown"),
        ("exit", "a", "shutdown"),
    ]
    assert [child.starts for child in children] == [1, 1, 1, 0]


async def test_faulty_application_shutdown() -> None:
    """faulty_application_shutdown: a failed start deep in the tree brings the whole tree down in order."""
    inner = SupervisorSpec(children=[Scripted("inner").spec(), Scripted("bad", ValueError("no")).spec()])
    outer = SupervisorSpec(children=[Scripted("outer").spec(), supervisor_spec("middle", inner)])
    recorder = Recorder()
    with pytest.raises(StartFailed) as caught:
        await run_root(outer, on_event=recorder)
    assert caught.value.child == "middle"
    assert isinstance(caught.value.__cause__, StartFailed)
    assert recorder.trace() == [
        ("start", "outer", "ok"),
        ("start", "inner", "ok"),
        ("exit", "inner", "shutdown"),
        ("exit", "outer", "shutdown"),
    ]


async def test_an_init_that_fails_inside_a_nursery_is_one_failure() -> None:
    """Trap T6: the error then arrives in a group."""

    async def start(life) -> None:
        async with trio.open_nursery():
            raise ValueError("no")

    with pytest.raises(StartFailed) as caught:
        await run_root(SupervisorSpec(children=[ChildSpec(id="child", start=start)]))
    assert str(caught.value.exit) == "no"


async def test_returning_without_being_ready_is_a_failure() -> None:
    """sup_start_error_return: a start function that returns what it must not."""

    async def start(life) -> None:
        """Never says that it is ready."""

    with pytest.raises(StartFailed) as caught:
        await run_root(SupervisorSpec(children=[ChildSpec(id="child", start=start)]))
    assert isinstance(caught.value.__cause__, NotReady)


async def test_ready_twice_is_ready_once() -> None:
    recorder = Recorder()

    async def start(life) -> None:
        life.ready()
        life.ready()
        await life.until_stop()

    async with running(SupervisorSpec(children=[ChildSpec(id="child", start=start)]), on_event=recorder):
        pass
    assert recorder.trace()[0] == ("start", "child", "ok")
    assert len(recorder.of(EventKind.STARTED, name="child")) == 1


async def test_stop_before_the_last_child_started() -> None:
    """A stop during the first start ends the init that is under way, and rolls back."""
    recorder = Recorder()
    spec = SupervisorSpec(children=[Scripted("a").spec(), Scripted("b", trio.Event()).spec()])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: run_root(spec, on_event=recorder))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert recorder.trace() == [("start", "a", "ok"), ("exit", "a", "shutdown")]


async def test_sup_start_ignore_init(supervise) -> None:
    """sup_start_ignore_init: a supervisor that declines is no failure of its parent's."""

    async def start(life) -> None:
        raise Ignore

    async with supervise(ChildSpec(id="child", start=start), Scripted("next").spec()) as sup:
        assert sup.states() == {"child": "stopped", "next": "running"}
        assert len(sup.recorder.of(EventKind.IGNORED, name="child")) == 1


async def test_sup_start_ignore_child(supervise) -> None:
    """sup_start_ignore_child: the spec of one that declined is kept, without an incarnation."""
    async with supervise() as sup:
        info = await sup.handle.start_child(Scripted("child1", Ignore()).spec())
        assert info.state == "stopped"
        await sup.handle.start_child(Scripted("child2").spec())
        assert sup.states() == {"child1": "stopped", "child2": "running"}
        assert sup.counts() == (2, 1, 0, 2)
        assert (await sup.handle.restart_child("child1")).state == "running"


async def test_sup_start_ignore_temporary_child(supervise) -> None:
    """sup_start_ignore_temporary_child: a temporary one that declines is forgotten."""
    children = [Scripted(name, *inits) for name, inits in (("child1", [Ignore()]), ("child2", []))]
    async with supervise(*(child.spec(restart=Restart.TEMPORARY) for child in children)) as sup:
        assert sup.states() == {"child2": "running"}
        assert sup.counts() == (1, 1, 0, 1)


async def test_sup_start_ignore_temporary_child_start_child(supervise) -> None:
    """sup_start_ignore_temporary_child_start_child: the same on demand."""
    async with supervise() as sup:
        await sup.handle.start_child(Scripted("child1", Ignore()).spec(restart=Restart.TEMPORARY))
        await sup.handle.start_child(Scripted("child2").spec(restart=Restart.TEMPORARY))
        assert sup.states() == {"child2": "running"}


@pytest.mark.parametrize("restart", [Restart.TEMPORARY, Restart.PERMANENT])
async def test_sup_start_ignore_start_child_simple(supervise_dynamic, restart: Restart) -> None:
    """sup_start_ignore_{temporary,permanent}_child_start_child_simple: a dynamic supervisor keeps neither."""
    async with supervise_dynamic() as sup:
        info = await sup.handle.start_child(Scripted("child1", Ignore()).spec(restart=restart))
        assert info.state == "stopped"
        await sup.handle.start_child(Scripted("child2").spec(restart=restart))
        assert sup.states() == {"child2": "running"}
        assert sup.counts() == (1, 1, 0, 1)
    assert sup.trace()[-2:] == [("exit", "child2", "shutdown"), ("exit", "sup", "shutdown")]


async def test_ignore_after_ready_is_an_error(supervise) -> None:
    """To decline is for init; later it is an error like any other."""
    child = Scripted("child")
    async with supervise(child.spec(restart=Restart.TEMPORARY)) as sup:
        child.end(Ignore())
        event = await sup.recorder.wait(EventKind.EXITED, "child")
        assert event.exit.kind is ExitKind.ERROR


async def test_sup_start_child_returns_error(supervise) -> None:
    """sup_start_child_returns_error: a failed start_child leaves nothing behind."""
    async with supervise() as sup:
        with pytest.raises(AdminError, match="reason") as caught:
            await sup.handle.start_child(Scripted("child1", ValueError("reason")).spec())
        assert caught.value.code is AdminCode.START_FAILED
        assert caught.value.exit.kind is ExitKind.ERROR
        assert sup.handle.which_children() == ()


async def test_sup_start_restart_child_returns_error(supervise) -> None:
    """sup_start_restart_child_returns_error: a failed restart_child keeps the spec."""
    async with supervise(Scripted("child1", None, ValueError("reason")).spec()) as sup:
        await sup.handle.terminate_child("child1")
        with pytest.raises(AdminError, match="reason"):
            await sup.handle.restart_child("child1")
        assert sup.states() == {"child1": "stopped"}


async def test_sup_start_child_returns_error_simple(supervise_dynamic) -> None:
    """sup_start_child_returns_error_simple: nothing is left behind, and nothing is tried again."""
    child = Scripted("child1", ValueError("reason"))
    async with supervise_dynamic() as sup:
        with pytest.raises(AdminError, match="reason"):
            await sup.handle.start_child(child.spec())
        assert sup.handle.which_children() == ()
        assert child.starts == 1
