"""How actors are named and spoken to: a `Slot` outlives incarnations, a `Ref` points to a slot.

Owns: the binding of a name to the incarnation of the moment, call and cast, ActorDied; a registry of names, as a value
that is passed in.
Must not: hold a message across incarnations; let a caller wait for an actor that is gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any, Generic, TypeVar

import trio

from supervisors.call import Reply, Sent
from supervisors.events import EventKind
from supervisors.exits import Exit
from supervisors.life import Life
from supervisors.mailbox import Envelope, Mailbox, MailboxFull, MailboxSpec, Overflow
from supervisors.monitor import Down, Monitor
from supervisors.tree import Gauge

A = TypeVar("A")
M = TypeVar("M")
M_contra = TypeVar("M_contra", contravariant=True)


class ActorDied(Exception):
    """The actor is not there, is ending, or ended before it answered.

    Args:
        name: The actor.
        exit: How the incarnation ended; None when it never ran or is only about to end.
    """

    def __init__(self, name: str, exit: Exit | None = None) -> None:
        super().__init__(f"{name} is not running" if exit is None else f"{name} died: {exit}")
        self.name = name
        self.exit = exit


class CallCycle(RuntimeError):
    """A call that could only end by its timeout: the actor called waits, directly or not, for the caller."""


class SlotInUse(RuntimeError):
    """Two children share one slot."""


class Slot(Generic[M]):
    """A name with a mailbox, filled by one incarnation after the other.

    Args:
        name: Said in errors, events and the tree.
        mailbox: Capacity and overflow rule of every incarnation's mailbox.
    """

    __slots__ = (
        "__weakref__", "_came", "_down", "blocked_in", "box", "current", "dead_letters", "deferred",
        "life", "mailbox", "name", "ref", "task", "watchers",
    )  # fmt: skip

    def __init__(self, name: str, mailbox: MailboxSpec) -> None:
        self.name = name
        self.mailbox = mailbox
        self.ref: Ref[M] = Ref(self)
        self.box: Mailbox | None = None
        self.life: Life | None = None
        self.task: trio.lowlevel.Task | None = None
        self.current: Envelope | None = None
        self.blocked_in: Slot[Any] | None = None
        self.dead_letters = 0
        self.deferred: set[Reply] = set()
        self.watchers: dict[Monitor, None] = {}
        self._came = trio.Event()
        self._down = Down(name, 0, None)

    def __repr__(self) -> str:
        return f"Slot({self.name!r})"

    @property
    def alive(self) -> bool:
        """Whether an incarnation is ready and takes messages."""
        return self.box is not None and self.box.accepting and self.life is not None and self.life.is_ready

    @property
    def last_exit(self) -> Exit | None:
        """How the last incarnation ended; None when none has, or one is there."""
        return self._down.exit if self.box is None else None

    def open(self, life: Life) -> Mailbox:
        """Bind a fresh mailbox to an incarnation that runs in the current task.

        Raises:
            SlotInUse: Another incarnation is still there.
        """
        if self.box is not None:
            raise SlotInUse(f"{self.name} already runs as {self.life.path if self.life else '?'}")
        self.life = life
        self.task = trio.lowlevel.current_task()
        self.box = Mailbox(self.mailbox, self._overflowed)
        CURRENT.set(self)
        life.gauge = self.gauge
        life.on_dying = partial(self._dying, self.box)
        return self.box

    def came(self) -> None:
        """The incarnation is ready: those who wait for it go on."""
        self._came.set()

    async def wait_ready(self) -> None:
        """Return when an incarnation is ready."""
        while not self.alive:
            await self._came.wait()
        await trio.lowlevel.checkpoint()

    def _dying(self, box: Mailbox) -> None:
        """Take no more messages: the end has been decided. Idempotent."""
        box.accepting = False
        if self._came.is_set():
            self._came = trio.Event()

    def refuse(self, box: Mailbox, end: Exit) -> None:
        """Fail all that was accepted and not answered. Never awaits, so nothing interrupts it; idempotent."""
        if box.closed:
            return
        self._dying(box)
        lost = box.close()
        if self.current is not None:
            if self.current.reply is not None:
                self.current.reply.fail(ActorDied(self.name, end))
            self.current = None
        for envelope in lost:
            envelope.lost = True
            if envelope.reply is None:
                self.dead_letter(envelope.message)
            else:
                envelope.reply.fail(ActorDied(self.name, end))
        for reply in tuple(self.deferred):
            reply.fail(ActorDied(self.name, end))

    def closed(self, box: Mailbox, life: Life, end: Exit) -> None:
        """The incarnation is over: free the name and tell those who watch."""
        self.refuse(box, end)
        self.box = self.life = self.task = self.blocked_in = None
        self._down = Down(self.name, life.generation, end)
        for monitor in tuple(self.watchers):
            life.system.guard(monitor.fire, self._down)

    def watch(self, callback: Callable[[Down], object]) -> Monitor:
        """Watch the incarnation of the moment; told at once when there is none."""
        monitor = Monitor(callback, self.watchers)
        if self.box is None:
            monitor.fire(self._down)
        return monitor

    def dead_letter(self, message: object) -> None:
        """Count a lost cast."""
        self.dead_letters += 1
        self._emit(EventKind.DEAD_LETTER, message)

    def full(self, message: object) -> None:
        """Report a message refused or pushed out."""
        self._emit(EventKind.MAILBOX_FULL, message)

    def _overflowed(self, envelope: Envelope) -> None:
        envelope.lost = True
        self.full(envelope.message)
        if envelope.reply is not None:
            envelope.reply.fail(MailboxFull(self.name))

    def _emit(self, kind: EventKind, message: object) -> None:
        if self.life is not None:
            self.life.system.emit(kind, self.life.path, self.life.generation, detail=type(message).__name__)

    def gauge(self) -> Gauge:
        """What the tree shows of this actor."""
        box = self.box
        return Gauge(
            depth=box.depth if box else 0,
            peak=box.peak if box else 0,
            capacity=self.mailbox.capacity,
            dead_letters=self.dead_letters,
            current=type(self.current.message).__name__ if self.current else None,
            blocked_in=self.blocked_in.name if self.blocked_in else None,
        )


CURRENT: ContextVar[Slot[Any] | None] = ContextVar("supervisors_current_actor", default=None)
"""The actor on whose behalf the current task runs (its own task, or one of its nursery)."""


class Ref(Generic[M_contra]):
    """How others speak to an actor. Survives its restarts: it points to a slot, never to an incarnation.

    A ref of a whole inbox serves where one of a few of its messages is wanted, never the other way round.
    """

    __slots__ = ("_slot",)

    def __init__(self, slot: Slot[M_contra]) -> None:
        self._slot = slot

    def __repr__(self) -> str:
        return f"Ref({self.name!r})"

    @property
    def name(self) -> str:
        """The actor's name."""
        return self._slot.name

    @property
    def alive(self) -> bool:
        """Whether an incarnation is ready and takes messages."""
        return self._slot.alive

    async def wait_alive(self, timeout: float = math.inf) -> None:
        """Wait until an incarnation is ready.

        Raises:
            trio.TooSlowError: None was, in time.
        """
        with trio.fail_after(timeout):
            await self._slot.wait_ready()

    def monitor(self, callback: Callable[[Down], object]) -> Monitor:
        """Call `callback(Down)` once, when the incarnation of the moment ends; at once if there is none."""
        return self._slot.watch(callback)

    async def call(self, message: Sent[M_contra, A], timeout: float = 5.0) -> A:
        """Send a message and wait for its answer. `timeout` covers both.

        At most once: after ActorDied or TooSlowError the message may or may not have been handled.

        Raises:
            ActorDied: The actor is not there, is ending, or ended before it answered. Raised promptly, never
            by timeout.
            MailboxFull: The overflow rule refused the message.
            CallCycle: The actor waits for the caller.
            trio.TooSlowError: No answer in time. The answer, if it comes, is dropped.
            Exception: One that the actor's class lists in `answers`.
        """
        slot = self._slot
        box = slot.box
        if box is None or not box.accepting:
            raise ActorDied(slot.name, slot.last_exit)
        reply = Reply()
        envelope = Envelope(message, reply)
        caller = _caller()
        if caller is not None:
            _enter(caller, slot)
        try:
            with trio.CancelScope(deadline=trio.current_time() + timeout):
                if not box.put_nowait(envelope):
                    await _put(slot, box, envelope)
                answer: A = await reply.wait()
                return answer
            raise trio.TooSlowError(f"{slot.name} did not answer in time")
        finally:
            if caller is not None:
                caller.blocked_in = None

    async def cast(self, message: M_contra) -> None:
        """Send a message and return as soon as it is accepted. Waits for room when the overflow rule says so.

        Raises:
            ActorDied: The actor is not there or is ending, or ended while this waited for room.
            MailboxFull: The overflow rule refused the message.
            CallCycle: There is no room, and the actor waits for the sender.
        """
        slot = self._slot
        box = slot.box
        await trio.lowlevel.checkpoint()
        if box is None or not box.accepting:
            slot.dead_letter(message)
            raise ActorDied(slot.name, slot.last_exit)
        envelope = Envelope(message)
        if box.put_nowait(envelope):
            return
        caller = _caller()
        if caller is not None:
            _enter(caller, slot)
        try:
            await _put(slot, box, envelope)
        finally:
            if caller is not None:
                caller.blocked_in = None
        if envelope.lost:
            raise ActorDied(slot.name, slot.last_exit)

    def try_cast(self, message: M_contra) -> bool:
        """Send a message if it is accepted at once. Never blocks, never raises; False means lost."""
        slot = self._slot
        box = slot.box
        if box is None or not box.accepting:
            slot.dead_letter(message)
            return False
        if box.put_nowait(Envelope(message)):
            return True
        slot.full(message)
        return False


async def _put(slot: Slot[Any], box: Mailbox, envelope: Envelope) -> None:
    slot.full(envelope.message)
    if box.spec.overflow is Overflow.FAIL:
        raise MailboxFull(slot.name)
    await box.put(envelope)


def _caller() -> Slot[Any] | None:
    """The actor whose own task this is; None in a task of its nursery, which stops nobody by waiting."""
    slot = CURRENT.get()
    return slot if slot is not None and slot.task is trio.lowlevel.current_task() else None


def _enter(caller: Slot[Any], target: Slot[Any]) -> None:
    names = [caller.name]
    waits: Slot[Any] | None = target
    while waits is not None:
        names.append(waits.name)
        if waits is caller:
            raise CallCycle(" -> ".join(names))
        waits = waits.blocked_in
    caller.blocked_in = target


class NameTaken(ValueError):
    """A name was given twice."""


class Registry:
    """Slots by name: registered while an incarnation runs, free when none does, the same after a restart."""

    __slots__ = ("_slots",)

    def __init__(self) -> None:
        self._slots: dict[str, Slot[Any]] = {}

    def slot(self, name: str, mailbox: MailboxSpec) -> Slot[Any]:
        """Make the slot of this name.

        Raises:
            NameTaken: The name has one already.
        """
        return self.add(Slot(name, mailbox))

    def add(self, slot: Slot[Any]) -> Slot[Any]:
        """Enter a slot made elsewhere.

        Raises:
            NameTaken: The name has one already.
        """
        if slot.name in self._slots:
            raise NameTaken(f"there is already a slot named {slot.name!r}")
        self._slots[slot.name] = slot
        return slot

    def ref(self, name: str) -> Ref[Any]:
        """The ref of this name, whether it runs or not. Raises KeyError for a name nobody gave."""
        return self._slots[name].ref

    def whereis(self, name: str) -> Ref[Any] | None:
        """The ref of this name if an incarnation runs."""
        slot = self._slots.get(name)
        return slot.ref if slot is not None and slot.alive else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __contains__(self, name: object) -> bool:
        return name in self._slots
