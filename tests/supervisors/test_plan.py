"""The pure rules, on all inputs hypothesis can think of (rows 6 to 9, 18)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from supervisors import AutoShutdown, Restart, Strategy
from supervisors.plan import (
    ChildView,
    Forget,
    Start,
    Stop,
    ends_supervisor,
    restart_steps,
)

views = st.lists(
    st.builds(ChildView, st.integers(0, 50), st.sampled_from(Restart), st.booleans(), st.booleans()),
    min_size=1,
    max_size=12,
    unique_by=lambda view: view.id,
)


@st.composite
def failures(draw: st.DrawFn) -> tuple[list[ChildView], ChildView]:
    """Children in start order, and the one of them that ended (which is not temporary: that is never restarted)."""
    children = draw(views)
    index = draw(st.integers(0, len(children) - 1))
    failed = ChildView(children[index].id, draw(st.sampled_from([Restart.PERMANENT, Restart.TRANSIENT])))
    children[index] = failed
    return children, failed


@given(failures())
def test_one_for_one_starts_the_failed_one_only(case: tuple[list[ChildView], ChildView]) -> None:
    children, failed = case
    assert restart_steps(Strategy.ONE_FOR_ONE, children, failed.id) == (Start(failed.id),)


@given(failures(), st.sampled_from([Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]))
def test_a_group_is_stopped_in_reverse_and_started_in_order(
    case: tuple[list[ChildView], ChildView], strategy: Strategy
) -> None:
    """All stops come before all starts; stops are the active ones of the group, reversed."""
    children, failed = case
    steps = restart_steps(strategy, children, failed.id)
    first = 0 if strategy is Strategy.ONE_FOR_ALL else children.index(failed)
    group = children[first:]
    stops = [step.id for step in steps if isinstance(step, Stop)]
    starts = [step.id for step in steps if isinstance(step, Start)]
    assert stops == [view.id for view in reversed(group) if view.active and view != failed]
    assert starts == [view.id for view in group if view.restart is not Restart.TEMPORARY]
    kinds = [isinstance(step, Start) for step in steps]
    assert kinds == sorted(kinds)


@given(failures(), st.sampled_from([Strategy.ONE_FOR_ALL, Strategy.REST_FOR_ONE]))
def test_a_temporary_bystander_is_forgotten_after_its_stop(
    case: tuple[list[ChildView], ChildView], strategy: Strategy
) -> None:
    children, failed = case
    steps = list(restart_steps(strategy, children, failed.id))
    for view in children:
        if Forget(view.id) in steps:
            assert view.restart is Restart.TEMPORARY
            assert not view.active or steps.index(Stop(view.id)) < steps.index(Forget(view.id))
            assert Start(view.id) not in steps


@given(failures())
def test_those_before_it_are_left_alone_by_rest_for_one(case: tuple[list[ChildView], ChildView]) -> None:
    children, failed = case
    touched = {step.id for step in restart_steps(Strategy.REST_FOR_ONE, children, failed.id)}
    assert touched.isdisjoint(view.id for view in children[: children.index(failed)])


@given(views, st.booleans())
def test_ends_supervisor(siblings: list[ChildView], significant: bool) -> None:
    """never: never; any: iff it was significant; all: iff no other significant one is active."""
    ended = ChildView("ended", Restart.TRANSIENT, significant, active=False)
    others = [view for view in siblings if view.significant and view.active]
    assert not ends_supervisor(AutoShutdown.NEVER, ended, siblings)
    assert ends_supervisor(AutoShutdown.ANY_SIGNIFICANT, ended, siblings) is significant
    assert ends_supervisor(AutoShutdown.ALL_SIGNIFICANT, ended, siblings) is (significant and not others)
