"""A change that another task makes wakes everybody who waits for it."""

import pytest
import trio
import trio.testing

from hub.actors.common.condition import Condition, beside
from hub.errors import Code, HubError


async def test_everybody_who_waits_is_woken_and_nobody_by_an_earlier_change():
    changed, woken = Condition(), []

    async def waiter(name):
        await changed.wait()
        woken.append(name)

    changed.notify_all()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(waiter, "a")
        nursery.start_soon(waiter, "b")
        await trio.testing.wait_all_tasks_blocked()
        assert woken == []
        changed.notify_all()
    assert sorted(woken) == ["a", "b"]


async def test_a_predicate_is_asked_again_at_each_change():
    changed, seen = Condition(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(changed.wait_for, lambda: len(seen) == 2)
        for number in range(2):
            await trio.testing.wait_all_tasks_blocked()
            seen.append(number)
            changed.notify_all()
    await changed.wait_for(lambda: True)


async def test_nobody_is_woken_for_whom_nothing_has_changed():
    """Four tasks of a session woke at each of its agent's lines, to find that they had nothing to do."""
    changed, asked = Condition(), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            changed.wait_for, lambda: asked.append(trio.lowlevel.current_task()) or len(asked) > 2
        )
        await trio.testing.wait_all_tasks_blocked()
        changed.notify_all()
        await trio.testing.wait_all_tasks_blocked()
        assert asked[1:] == [trio.lowlevel.current_task()]
        changed.notify_all()


async def test_what_goes_on_beside_the_work_ends_with_it():
    ended = []

    async def other():
        try:
            await trio.sleep_forever()
        finally:
            ended.append("other")

    async def work():
        await trio.testing.wait_all_tasks_blocked()
        return 7

    assert await beside(work, other, other) == 7
    assert ended == ["other", "other"]


async def test_an_error_of_the_work_comes_as_itself():
    async def work():
        raise HubError(Code.NO_SPACE)

    with pytest.raises(HubError) as caught:
        await beside(work, trio.sleep_forever)
    assert caught.value.code is Code.NO_SPACE
