"""Timeouts that share one timer: never early, at most a millisecond late, and nothing is kept of what was answered."""

from __future__ import annotations

import math

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from supervisors.call import Reply
from supervisors.deadlines import Deadlines


async def given_up(deadlines: Deadlines, deadline: float) -> float:
    """When a call with this deadline is given up."""
    reply = Reply()
    deadlines.add(reply, deadline, "actor")
    with pytest.raises(trio.TooSlowError, match="actor did not answer in time"):
        await reply.wait()
    return trio.current_time()


@given(st.lists(st.floats(-1, 100), min_size=1, max_size=12))
def test_each_is_given_up_in_its_millisecond(waits: list[float]) -> None:
    """In whatever order they were asked for."""

    async def main() -> None:
        deadlines = Deadlines()
        start = trio.current_time()

        async def check(wait: float) -> None:
            late = await given_up(deadlines, start + wait) - max(start, start + wait)
            assert -1e-9 <= late <= 0.001 + 1e-9

        async with trio.open_nursery() as nursery:
            nursery.start_soon(deadlines.run)
            async with trio.open_nursery() as callers:
                for wait in waits:
                    callers.start_soon(check, wait)
            deadlines.close()
        assert deadlines._filed == {}

    trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))


async def test_an_earlier_deadline_wakes_the_timer(autojump_clock) -> None:
    deadlines = Deadlines()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        start = trio.current_time()
        late = Reply()
        deadlines.add(late, start + 60, "late")
        assert await given_up(deadlines, start + 1) == pytest.approx(start + 1)
        assert not late.done
        deadlines.close()


async def test_what_was_answered_is_not_kept(autojump_clock) -> None:
    """The next time the timer rings, it clears the empty milliseconds that are still to come too."""
    deadlines = Deadlines()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        start = trio.current_time()
        replies = [Reply() for _ in range(100)]
        for number, reply in enumerate(replies):
            deadlines.add(reply, start + 1 + number, "actor")
            deadlines.add(reply, start + 1 + number, "actor")
            reply.answer(number)
        assert not any(deadlines._filed.values())
        await given_up(deadlines, start + 0.5)
        assert deadlines._filed == {}
        deadlines.close()


async def test_what_was_answered_is_not_kept_until_the_timer_rings() -> None:
    """A busy tree filed five thousand milliseconds before the first was due, and cleared them in one turn of the loop."""
    deadlines = Deadlines()
    for number in range(100):
        reply = Reply()
        deadlines.add(reply, 1.0 + number, "actor")
        reply.answer(number)
    assert len(deadlines._filed) == 1


async def test_what_needs_no_deadline_is_not_filed() -> None:
    deadlines, answered = Deadlines(), Reply()
    answered.answer(1)
    deadlines.add(answered, 1.0, "actor")
    deadlines.add(Reply(), math.inf, "actor")
    assert deadlines._filed == {}


async def test_closed_before_it_ran() -> None:
    deadlines = Deadlines()
    deadlines.close()
    deadlines.close()
    await deadlines.run()


async def test_it_outlives_a_cancellation(autojump_clock) -> None:
    """A tree that is stopped from outside still makes calls, and they still end in time."""
    deadlines = Deadlines()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(deadlines.run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        start = trio.current_time()
        with trio.CancelScope(shield=True):
            assert await given_up(deadlines, start + 2) == pytest.approx(start + 2)
        deadlines.close()
