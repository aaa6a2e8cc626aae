"""A change that another task makes wakes everybody who waits for it."""

from __future__ import annotations

import trio
import trio.testing

from hub.actors.common.condition import Condition


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
