"""Mailboxes: bounds, order, overflow (row 24), and the one-shot reply (row 26)."""

from __future__ import annotations

import math

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import wait_all_tasks_blocked

from supervisors import (
    Actor,
    EventKind,
    MailboxFull,
    MailboxSpec,
    Overflow,
    Slot,
    SupervisorSpec,
    actor_spec,
)
from supervisors.call import Reply
from supervisors.mailbox import Envelope, Mailbox
from tests.trees import Recorder, running


class Gate(Actor):
    """Handles nothing until it is opened; keeps what it handled."""

    def __init__(self) -> None:
        self.open = trio.Event()
        self.seen: list[object] = []

    async def handle(self, message: object) -> object:
        await self.open.wait()
        self.seen.append(message)
        return message


def box(
    capacity: float = 2, overflow: Overflow = Overflow.BLOCK, **more: object
) -> tuple[Mailbox, list[object]]:
    lost: list[object] = []
    spec = MailboxSpec(capacity, overflow, **more)
    return Mailbox(spec, lambda envelope: lost.append(envelope.message)), lost


def drained(mailbox: Mailbox) -> list[object]:
    return [envelope.message for envelope in mailbox.close()]


@pytest.mark.parametrize("capacity", [0, -1, 1.5, True, "many"])
def test_capacity_is_checked(capacity: object) -> None:
    with pytest.raises(ValueError, match="capacity"):
        MailboxSpec(capacity, Overflow.BLOCK)


def test_overflow_is_checked() -> None:
    with pytest.raises(TypeError):
        MailboxSpec(1, "block")
    assert MailboxSpec(math.inf, Overflow.BLOCK).capacity == math.inf


async def full_actor(
    overflow: Overflow, gate: Gate, capacity: int = 2, **more: object
) -> tuple[SupervisorSpec, Slot]:
    slot: Slot = Slot("gate", MailboxSpec(capacity, overflow, **more))
    return SupervisorSpec(children=[actor_spec("gate", lambda: gate, slot)]), slot


async def test_block_makes_the_sender_wait() -> None:
    """Row 24, BLOCK: and nothing is lost or overtaken."""
    gate, recorder = Gate(), Recorder()
    spec, slot = await full_actor(Overflow.BLOCK, gate)
    async with running(spec, on_event=recorder), trio.open_nursery() as nursery:
        for number in range(3):  # one is being handled, two wait
            await slot.ref.cast(number)
            await wait_all_tasks_blocked()
        assert not slot.ref.try_cast("refused")
        nursery.start_soon(slot.ref.cast, 3)
        await wait_all_tasks_blocked()
        assert [event.detail for event in recorder.of(EventKind.MAILBOX_FULL)] == ["str", "int"]
        assert slot.gauge().depth == 2
        gate.open.set()
        assert await slot.ref.call(4, 5) == 4
        assert gate.seen == [0, 1, 2, 3, 4]
        assert slot.gauge().peak == 2


async def test_fail_refuses() -> None:
    """Row 24, FAIL: call, cast and try_cast each say so."""
    gate, recorder = Gate(), Recorder()
    spec, slot = await full_actor(Overflow.FAIL, gate, 1)
    async with running(spec, on_event=recorder):
        await slot.ref.cast(1)
        await wait_all_tasks_blocked()
        await slot.ref.cast(2)
        with pytest.raises(MailboxFull, match="gate"):
            await slot.ref.cast(3)
        with pytest.raises(MailboxFull):
            await slot.ref.call(4, 5)
        assert not slot.ref.try_cast(5)
        gate.open.set()
        await wait_all_tasks_blocked()
        assert gate.seen == [1, 2]
        assert len(recorder.of(EventKind.MAILBOX_FULL)) == 3


async def test_drop_oldest_prefers_casts() -> None:
    """Row 24, DROP_OLDEST: the oldest cast goes; only when calls alone wait, the oldest of them is refused."""
    gate, recorder, refused = Gate(), Recorder(), []
    spec, slot = await full_actor(Overflow.DROP_OLDEST, gate)

    async def call(number: int) -> None:
        try:
            await slot.ref.call(number, 5)
        except MailboxFull:
            refused.append(number)

    async with running(spec, on_event=recorder), trio.open_nursery() as nursery:
        assert slot.ref.try_cast(0)
        await wait_all_tasks_blocked()
        nursery.start_soon(call, 1)
        await wait_all_tasks_blocked()
        assert slot.ref.try_cast(2)
        assert slot.ref.try_cast(3)  # pushes 2 out, not the call
        nursery.start_soon(call, 4)  # pushes 3 out
        await wait_all_tasks_blocked()
        assert slot.ref.try_cast(5)  # two calls wait: the older one is refused
        await wait_all_tasks_blocked()
        assert refused == [1]
        gate.open.set()
        await wait_all_tasks_blocked()
        assert gate.seen == [0, 4, 5]
        assert len(recorder.of(EventKind.MAILBOX_FULL)) == 3


async def test_coalesce_keeps_the_latest_of_each_key_in_the_older_place() -> None:
    """Row 24, COALESCE."""
    gate = Gate()
    spec, slot = await full_actor(Overflow.COALESCE, gate, 3, key=lambda message: message[0])
    async with running(spec), trio.open_nursery() as nursery:
        await slot.ref.cast(("x", 0))
        await wait_all_tasks_blocked()
        for message in (("a", 1), ("b", 1), ("a", 2), (None, 1), ("b", 2), ("a", 3)):
            assert slot.ref.try_cast(message)
        assert not slot.ref.try_cast(("c", 1))
        assert not slot.ref.try_cast((None, 2))
        nursery.start_soon(slot.ref.cast, ("c", 2))
        await wait_all_tasks_blocked()
        assert slot.ref.try_cast(("c", 3))  # even one that still waits for room is replaced
        gate.open.set()
        assert await slot.ref.call(("a", "call"), 5) == ("a", "call")
        assert gate.seen == [("x", 0), ("a", 3), ("b", 2), (None, 1), ("c", 3), ("a", "call")]
        assert slot.ref.try_cast(("a", 9))
        await wait_all_tasks_blocked()
        assert gate.seen[-1] == ("a", 9)


async def test_a_cancelled_sender_leaves_no_key_behind() -> None:
    """COALESCE: a message that never got in is not replaced later, it is sent anew."""
    mailbox, _ = box(1, Overflow.COALESCE, key=lambda message: message[0])
    assert mailbox.put_nowait(Envelope(("a", 1)))
    with trio.move_on_after(0) as scope:
        await mailbox.put(Envelope(("b", 1)))
    assert scope.cancelled_caught
    assert (await mailbox.get()).message == ("a", 1)
    assert mailbox.put_nowait(Envelope(("b", 2)))
    await mailbox.put(Envelope(("b", 3)))
    assert drained(mailbox) == [("b", 3)]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers()), max_size=40), st.integers(1, 5))
def test_senders_keep_their_order(sent: list[tuple[int, int]], capacity: int) -> None:
    """Per-sender FIFO for every interleaving, whatever was pushed out."""

    async def main() -> None:
        mailbox, lost = box(capacity, Overflow.DROP_OLDEST)
        for message in sent:
            assert mailbox.put_nowait(Envelope(message))
        kept = drained(mailbox)
        assert [*lost, *kept] == sent
        assert len(kept) <= capacity

    trio.run(main)


async def test_unget() -> None:
    """What is put back comes first, and counts as waiting."""
    mailbox, _ = box(3)
    for message in "ab":
        mailbox.put_nowait(Envelope(message))
    mailbox.unget(await mailbox.get())
    assert mailbox.depth == 2
    assert drained(mailbox) == ["a", "b"]
    assert mailbox.closed


async def test_a_nudge_wakes_a_waiting_reader_only() -> None:
    mailbox, _ = box()
    mailbox.nudge()
    assert mailbox.depth == 0
    async with trio.open_nursery() as nursery:

        async def read() -> None:
            assert await mailbox.get() is None

        nursery.start_soon(read)
        await wait_all_tasks_blocked()
        mailbox.nudge()


async def test_a_reply_keeps_its_first_outcome() -> None:
    """Row 26: late and double answers are dropped, and never raise in the one who answers."""
    reply = Reply()
    assert reply._outcome is None
    reply.answer(1)
    reply.answer(2)
    reply.fail(ValueError("late"))
    assert await reply.wait() == 1
    failed, owner = Reply(), set()
    failed.defer(owner)
    assert owner == {failed}
    failed.fail(ValueError("no"))
    assert owner == set()
    with pytest.raises(ValueError, match="no"):
        await failed.wait()
    failed.defer(owner)
    assert owner == set()
