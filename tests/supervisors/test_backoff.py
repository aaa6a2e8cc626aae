"""Delayed restarts (row 13, which OTP does not have)."""

from __future__ import annotations

import math

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from supervisors import Backoff, EventKind, IntensityReached, Strategy
from supervisors.engine import Again, Due
from tests.trees import Scripted

backoffs = st.builds(
    Backoff,
    first=st.floats(0.001, 10),
    factor=st.floats(1, 10),
    cap=st.floats(0.001, 1000),
    jitter=st.floats(0, 1),
    reset_after=st.floats(0.1, 100),
)
chances = st.floats(0, 1, exclude_max=True)


@given(backoffs, st.integers(1, 10**6), chances)
def test_a_delay_is_within_its_bounds(backoff: Backoff, attempt: int, chance: float) -> None:
    """Never above the cap, never negative, never infinite, however many attempts."""
    delay = backoff.delay(attempt, chance)
    assert 0 <= delay <= backoff.cap
    assert math.isfinite(delay)


@given(backoffs, st.integers(1, 60))
def test_backoff_grows(backoff: Backoff, attempt: int) -> None:
    """backoff_grows: never shorter than the one before (for equal luck)."""
    assert backoff.delay(attempt + 1) >= backoff.delay(attempt) * (1 - 1e-9)


@given(backoffs, st.integers(1, 60))
def test_the_exponent_is_exact_below_the_cap(backoff: Backoff, attempt: int) -> None:
    plain = backoff.first * backoff.factor ** (attempt - 1)
    assert backoff.delay(attempt, 0.5) == pytest.approx(min(plain, backoff.cap))


@given(backoffs, st.integers(1, 60), chances)
def test_jitter_stays_in_its_band(backoff: Backoff, attempt: int, chance: float) -> None:
    middle = backoff.delay(attempt, 0.5)
    low, high = middle * (1 - backoff.jitter), middle * (1 + backoff.jitter)
    assert low * (1 - 1e-9) <= backoff.delay(attempt, chance) <= high * (1 + 1e-9)


@given(backoffs, st.integers(0, 100), st.floats(0, 1000))
def test_a_quiet_period_starts_anew(backoff: Backoff, previous: int, ready_for: float) -> None:
    quiet = ready_for >= backoff.reset_after
    assert backoff.attempt(previous, ready_for) == (1 if quiet else previous + 1)


async def test_restarts_wait_longer_and_longer(supervise, autojump_clock) -> None:
    """backoff_grows, measured; and the events say so."""
    child = Scripted("child", None, ValueError("again"), ValueError("again"))
    backoff = Backoff(first=1, factor=2, jitter=0)
    async with supervise(child.spec(backoff=backoff)) as sup:
        before = trio.current_time()
        child.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "child", count=2)
        assert trio.current_time() - before == pytest.approx(1 + 2 + 4)
        events = sup.recorder.of(EventKind.RESTARTING)
        assert [(event.attempt, event.delay) for event in events] == [(1, 1), (2, 2), (3, 4)]


async def test_backoff_resets_after_quiet(supervise, autojump_clock) -> None:
    """backoff_resets_after_quiet: an incarnation that lasted starts the count anew."""
    child = Scripted("child")
    backoff = Backoff(first=1, factor=2, jitter=0, reset_after=60)
    async with supervise(child.spec(backoff=backoff), intensity=10) as sup:
        for count, quiet in enumerate((0, 0, 100, 0), 2):
            await trio.sleep(quiet)
            child.end(ValueError("boom"))
            await sup.recorder.wait(EventKind.STARTED, "child", count=count)
        assert [event.delay for event in sup.recorder.of(EventKind.RESTARTING)] == [1, 2, 1, 2]


@pytest.mark.parametrize("strategy", Strategy)
async def test_shutdown_during_backoff_is_immediate(supervise, autojump_clock, strategy: Strategy) -> None:
    """shutdown_during_backoff_is_immediate: the timer is cancelled first."""
    child = Scripted("child")
    async with supervise(child.spec(backoff=Backoff(first=20)), strategy=strategy) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        before = trio.current_time()
        await sup.root.stop()
        assert trio.current_time() == before


@pytest.mark.parametrize("strategy", Strategy)
async def test_intensity_still_counts(supervise, autojump_clock, strategy: Strategy) -> None:
    """Row 13: a backoff delays the give-up, and does not prevent it."""
    child = Scripted("child", None, *[ValueError("again")] * 9)
    backoff = Backoff(first=1, factor=1, jitter=0)
    async with supervise(child.spec(backoff=backoff), strategy=strategy, intensity=3, period=100) as sup:
        child.end(ValueError("boom"))
        end = await sup.exit()
        assert isinstance(end.error, IntensityReached)
        assert child.starts == 4


async def test_a_group_restart_overtakes_the_wait_of_a_sibling(supervise, autojump_clock) -> None:
    """The sibling's restart started it, so what its timer says later is stale."""
    waiting, dying = Scripted("waiting"), Scripted("dying")
    specs = [waiting.spec(backoff=Backoff(first=5)), dying.spec()]
    async with supervise(*specs, strategy=Strategy.ONE_FOR_ALL) as sup:
        waiting.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        assert sup.states() == {"waiting": "restarting", "dying": "running"}
        dying.end(ValueError("boom"))
        await sup.recorder.wait(EventKind.STARTED, "dying", count=2)
        assert sup.states() == {"waiting": "running", "dying": "running"}
        await trio.sleep(100)
        assert (waiting.starts, dying.starts) == (2, 2)


@pytest.mark.parametrize("strategy", [Strategy.ONE_FOR_ONE, Strategy.REST_FOR_ONE])
async def test_terminate_calls_a_delayed_restart_off(supervise, autojump_clock, strategy: Strategy) -> None:
    child = Scripted("child")
    async with supervise(child.spec(backoff=Backoff(first=5)), strategy=strategy) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        await sup.handle.terminate_child("child")
        await trio.sleep(100)
        assert (sup.states(), child.starts) == ({"child": "stopped"}, 1)


async def test_a_timer_that_rang_in_vain(supervise, autojump_clock) -> None:
    """It rang while the supervisor was about to call the restart off: what it says is stale."""
    child, slow = Scripted("child"), Scripted("slow", deaf=True)
    async with supervise(child.spec(backoff=Backoff(first=5, jitter=0)), slow.spec(shutdown=10)) as sup:
        child.end(ValueError("boom"))
        await wait_all_tasks_blocked()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sup.handle.terminate_child, "slow")
            await wait_all_tasks_blocked()
            nursery.start_soon(sup.handle.terminate_child, "child")
        await trio.sleep(100)
        assert (sup.states(), child.starts) == ({"child": "stopped", "slow": "stopped"}, 1)


async def test_every_stale_event_is_dropped(supervise, supervise_dynamic) -> None:
    """One that names a past generation, or a child that needs no restart."""
    for sup_of in (supervise, supervise_dynamic):
        child = Scripted("child")
        async with sup_of() as sup:
            await sup.handle.start_child(child.spec())
            engine = sup.handle._target
            record = engine.children["child"]
            for event in (Again(record, 0), Due(record, 0), Again(record, 1), Due(record, 1)):
                await engine._dispatch(event)
            assert child.starts == 1
