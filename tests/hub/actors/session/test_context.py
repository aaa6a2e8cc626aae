"""The board: wishes and waits, between the inbox that writes and the driver that waits."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from hub.actors.session.context import PendingCommand, SharedState
from hub.errors import Code, HubError
from tests.refusals import refuses


def test_a_stop_wins_over_a_handoff_whichever_comes_first():
    """Whoever asked for the end gets it: a handoff would start the next agent."""
    for wishes in (
        (PendingCommand.HANDOFF, PendingCommand.STOP),
        (PendingCommand.STOP, PendingCommand.HANDOFF),
    ):
        shared = SharedState()
        for pending in wishes:
            shared.ask(pending)
        assert shared.pending is PendingCommand.STOP


def test_a_refused_handoff_is_remembered_until_the_next_one():
    shared, why = SharedState(), HubError(Code.NO_FALLBACK)
    shared.ask(PendingCommand.HANDOFF)
    shared.settle(why)
    assert (shared.pending, shared.denied) == (None, why)
    shared.ask(PendingCommand.HANDOFF)
    assert (shared.pending, shared.denied) == (PendingCommand.HANDOFF, None)


def test_a_stop_is_not_settled_by_anything_but_the_end():
    shared = SharedState()
    shared.ask(PendingCommand.STOP)
    shared.settle(HubError(Code.NO_FALLBACK))
    assert (shared.pending, shared.denied) == (PendingCommand.STOP, None)


async def test_a_wait_that_is_over_says_so(autojump_clock):
    began = trio.current_time()
    assert await SharedState().wait_for(lambda: False, 5) is False
    assert trio.current_time() - began == 5


async def test_a_fact_that_holds_is_not_waited_for(autojump_clock):
    assert await SharedState().wait_for(lambda: "yes", 0) is True


async def test_long_work_is_cut_short_by_a_stop(autojump_clock):
    """X1: nobody waits ten minutes for an acceptance command of a session that is to end."""
    shared, cut = SharedState(), []

    async def work():
        try:
            await trio.sleep_forever()
        finally:
            cut.append(True)

    async with trio.open_nursery() as nursery:

        async def ask():
            await wait_all_tasks_blocked()
            shared.ask(PendingCommand.HANDOFF)
            await wait_all_tasks_blocked()
            assert cut == [], "a handoff waits for the work"
            shared.ask(PendingCommand.STOP)

        nursery.start_soon(ask)
        with pytest.raises(HubError) as caught:
            await shared.unless_stopped(work)
    assert (caught.value.code, cut, shared.pending) == (Code.INTERRUPTED, [True], PendingCommand.STOP)


async def test_work_that_ends_hands_its_result_on_and_its_error_as_itself():
    async def fine():
        return 7

    async def failing():
        raise HubError(Code.NO_SPACE, "full")

    shared = SharedState()
    assert await shared.unless_stopped(fine) == 7
    with refuses(Code.NO_SPACE):
        await shared.unless_stopped(failing)


async def test_a_callers_deadline_goes_through_the_work(autojump_clock):
    """It is cancelled from outside too, and that is no stop."""
    with trio.move_on_after(3) as scope:
        await SharedState().unless_stopped(trio.sleep_forever)
    assert scope.cancelled_caught
