"""Classification of ends, on the leaves of groups (row 6, traps T2 and T3)."""

from __future__ import annotations

import pytest
import trio

from supervisors import Exit, ExitKind, IntensityReached, Shutdown, SupervisorSpec
from supervisors.child import Child, run_life
from supervisors.events import System
from supervisors.exits import all_leaves, fatal_leaf, from_error, leaves
from supervisors.life import Life
from tests.trees import Scripted, reason, running

BOTH = BaseExceptionGroup(
    "outer", [Shutdown("s"), BaseExceptionGroup("inner", [ValueError("v"), KeyError("k")])]
)


def test_leaves_are_found_however_deep() -> None:
    assert [str(leaf) for leaf in leaves(BOTH)] == ["s", "v", "'k'"]
    assert list(leaves(ValueError())) != []
    assert all_leaves(BOTH, Exception)
    assert not all_leaves(BOTH, (Shutdown, ValueError))


def test_a_fatal_leaf_is_found_inside_a_group() -> None:
    fatal = KeyboardInterrupt()
    assert fatal_leaf(BaseExceptionGroup("g", [ValueError(), fatal])) is fatal
    assert fatal_leaf(BOTH) is None


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (Shutdown(), ExitKind.SHUTDOWN, "shutdown"),
        (Shutdown("why"), ExitKind.SHUTDOWN, "why"),
        (IntensityReached("too many"), ExitKind.SHUTDOWN, "too many"),
        (ExceptionGroup("g", [Shutdown("a"), Shutdown("b")]), ExitKind.SHUTDOWN, "a"),
        (ValueError("v"), ExitKind.ERROR, "v"),
        (ValueError(), ExitKind.ERROR, "ValueError"),
        (BOTH, ExitKind.ERROR, "v"),
    ],
)
def test_from_error(error: BaseException, kind: ExitKind, text: str) -> None:
    end = from_error(error)
    assert (end.kind, str(end), end.error) == (kind, text, error)


def test_the_only_leaf_of_a_group_is_told_bare() -> None:
    leaf = ValueError("v")
    assert from_error(ExceptionGroup("g", [ExceptionGroup("h", [leaf])])).error is leaf


@pytest.mark.parametrize(
    ("kind", "abnormal"),
    [
        (ExitKind.NORMAL, False),
        (ExitKind.SHUTDOWN, False),
        (ExitKind.KILLED, True),
        (ExitKind.ERROR, True),
    ],
)
def test_abnormal(kind: ExitKind, abnormal: bool) -> None:
    assert Exit(kind).abnormal is abnormal
    assert str(Exit(kind)) == kind.value
    assert reason(Exit(kind, "text")) == ("text" if kind is ExitKind.ERROR else kind.value)


async def test_a_cancellation_from_above_is_not_handled() -> None:
    """Trap T3: a supervisor's nursery that is torn down takes its children along, unsupervised."""
    life = Life(Scripted("child").spec(), "child", 1, System())
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_life, life)
            await life.settled.wait()
            scope.cancel()
    assert (life.exit.kind, life.ended.is_set()) == (ExitKind.KILLED, True)


async def test_a_stop_requested_before_the_child_listens_is_not_lost() -> None:
    life = Life(Scripted("child").spec(), "child", 1, System())
    asked: list[int] = []
    life.on_stop(lambda: asked.append(1))
    life.request_stop()
    life.request_stop()
    assert asked == [1]
    life.on_stop(lambda: asked.append(2))
    assert asked == [1, 2]


async def test_a_child_that_is_killed_while_it_returns_is_killed() -> None:
    """The kill was sent before the end; a transient child comes back."""
    child = Scripted("child")
    async with running(SupervisorSpec(children=[child.spec()])) as root:
        life = root.life_at("child")
        child.end()
        life.kill()
        await life.ended.wait()
        assert life.exit.kind is ExitKind.KILLED


def test_a_record_that_never_ran() -> None:
    child = Child(Scripted("child").spec(), "root/child")
    assert (child.active, child.running) == (False, False)
    assert child.find("root/other") is None
    child.restarting()
    assert (child.active, child.running, child.ready_for) == (True, False, 0.0)
