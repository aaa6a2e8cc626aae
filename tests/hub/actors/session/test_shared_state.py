"""The board: wishes and waits, between the inbox that writes and the driver that waits."""

from __future__ import annotations

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hub.actors.session.shared_state import Board, Wish
from hub.errors import Code, HubError


def test_a_stop_wins_over_a_handoff_whichever_comes_first():
    """Whoever asked for the end gets it: a handoff would start the next agent."""
    for wishes in ((Wish.HANDOFF, Wish.STOP), (Wish.STOP, Wish.HANDOFF)):
        board = Board()
        for wish in wishes:
            board.ask(wish)
        assert board.wish is Wish.STOP


def test_a_refused_handoff_is_remembered_until_the_next_one():
    board, why = Board(), HubError(Code.NO_FALLBACK)
    board.ask(Wish.HANDOFF)
    board.settle(why)
    assert (board.wish, board.denied) == (None, why)
    board.ask(Wish.HANDOFF)
    assert (board.wish, board.denied) == (Wish.HANDOFF, None)


def test_a_stop_is_not_settled_by_anything_but_the_end():
    board = Board()
    board.ask(Wish.STOP)
    board.settle(HubError(Code.NO_FALLBACK))
    assert (board.wish, board.denied) == (Wish.STOP, None)


async def test_everybody_who_waits_is_woken_by_one_change(autojump_clock):
    board, seen = Board(), []

    async def wait(name):
        seen.append((name, await board.until(lambda: board.detached, 60)))

    async with trio.open_nursery() as nursery:
        for name in "ab":
            nursery.start_soon(wait, name)
        await wait_all_tasks_blocked()
        board.touch()
        await wait_all_tasks_blocked()
        assert seen == [], "a change that does not fit wakes nobody for good"
        board.detached = True
        board.touch()
    assert sorted(seen) == [("a", True), ("b", True)]


async def test_a_wait_that_is_over_says_so(autojump_clock):
    began = trio.current_time()
    assert await Board().until(lambda: False, 5) is False
    assert trio.current_time() - began == 5


async def test_a_fact_that_holds_is_not_waited_for(autojump_clock):
    assert await Board().until(lambda: "yes", 0) is True


async def test_long_work_is_cut_short_by_a_stop(autojump_clock):
    """X1: nobody waits ten minutes for an acceptance command of a session that is to end."""
    board, cut = Board(), []

    async def work():
        try:
            await trio.sleep_forever()
        finally:
            cut.append(True)

    async with trio.open_nursery() as nursery:

        async def ask():
            await wait_all_tasks_blocked()
            board.ask(Wish.HANDOFF)
            await wait_all_tasks_blocked()
            assert cut == [], "a handoff waits for the work"
            board.ask(Wish.STOP)

        nursery.start_soon(ask)
        with pytest.raises(HubError) as caught:
            await board.unless_stopped(work)
    assert (caught.value.code, cut, board.wish) == (Code.INTERRUPTED, [True], Wish.STOP)


async def test_work_that_ends_hands_its_result_on_and_its_error_as_itself():
    async def fine():
        return 7

    async def failing():
        raise HubError(Code.NO_SPACE, "full")

    board = Board()
    assert await board.unless_stopped(fine) == 7
    with pytest.raises(HubError) as caught:
        await board.unless_stopped(failing)
    assert caught.value.code is Code.NO_SPACE


async def test_a_callers_deadline_goes_through_the_work(autojump_clock):
    """It is cancelled from outside too, and that is no stop."""
    with trio.move_on_after(3) as scope:
        await Board().unless_stopped(trio.sleep_forever)
    assert scope.cancelled_caught
