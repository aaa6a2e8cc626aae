"""The fixed shape of every actor, and the loop that runs one incarnation of it.

Owns: the order of the hooks, the handling of one message at a time, what a caller is told.
Must not: know supervisors' rules; keep anything for the next incarnation.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, ClassVar, Generic, TypeVar, cast

import trio

from supervisors import exits
from supervisors.backoff import Backoff
from supervisors.call import DEFER, NOTHING, Answer, Call, Reply, Sent
from supervisors.events import EventKind
from supervisors.exits import Exit
from supervisors.life import Life
from supervisors.mailbox import Envelope, Mailbox
from supervisors.ref import Ref, Slot
from supervisors.spec import Brutal, ChildSpec, Restart

A = TypeVar("A")
M = TypeVar("M")
N = TypeVar("N")


class ActorContext(Generic[M]):
    """What an actor knows of its place. Valid from `started` to the end of `stopped`."""

    __slots__ = ("_box", "_slot", "current_reply", "generation", "nursery", "path")

    def __init__(self, slot: Slot[M], box: Mailbox, life: Life, nursery: trio.Nursery) -> None:
        self._slot = slot
        self._box = box
        self.path = life.path
        """Ids from the root down."""
        self.generation = life.generation
        """Which incarnation this is."""
        self.nursery = nursery
        """For tasks that die with the incarnation; an error in one is the actor's error."""
        self.current_reply: Reply | None = None
        """Of the call being handled; None for a cast."""

    @property
    def name(self) -> str:
        """The actor's name."""
        return self._slot.name

    @property
    def ref(self) -> Ref[M]:
        """How others speak to this actor, and how its own tasks do."""
        return self._slot.ref

    @property
    def waiting(self) -> int:
        """How many messages wait behind the one being handled, for an actor that may take its time if nobody does."""
        return self._box.depth


class Actor(Generic[M]):
    """Base of every actor: override the hooks, answer messages in one `match`.

    Hooks run in one task, one at a time. An exception that leaves a hook ends the incarnation; its supervisor
    decides what
    comes next. A fresh instance is made for each incarnation.
    """

    answers: ClassVar[tuple[type[Exception], ...]] = ()
    """Domain errors: raised while a *call* is handled they are given to the caller, and the actor lives
    on."""
    drain_on_stop: ClassVar[bool] = False
    """Whether an orderly stop handles what already waits in the mailbox first (within the child's `shutdown`
    time)."""
    cleanup_timeout: ClassVar[float] = 2.0
    """Seconds `stopped` may take."""

    ctx: ActorContext[M]

    async def started(self) -> None:
        """Init: the child is ready when this returns. May raise Ignore. Messages sent meanwhile wait."""

    async def continue_(self) -> None:
        """The rest of a start that takes its time (OTP's `handle_continue`): the first thing after `started`.

        The child is ready by then, so its supervisor goes on to the next one. Messages wait, in order. Only a stop
        limits its time: like a handler, it is cancelled when the child's `shutdown` time is over. An error is the
        actor's error.
        """

    async def handle(self, message: M) -> Answer:
        """Handle one message: a call is answered by `message.answer` or `answer_later`, a cast by `message.handled`.

        A call left without an answer is an error of the actor's, for the type checker too. An `Actor[Never]` takes no
        message, and leaves this.
        """
        raise TypeError(f"{type(message).__name__} is not for {self.ctx.name}")

    async def stopped(self, exit: Exit) -> None:
        """Cleanup, if `started` succeeded (`continue_` need not have): shielded, at most `cleanup_timeout`.

        In an orderly stop the tasks of `ctx.nursery` still run, so they can be ended politely; after an error
        or a kill they
        are gone. The mailbox is closed: callers already have ActorDied.
        """

    def answer_later(self, message: Call[A], work: Awaitable[A]) -> Answer:  # noqa: ARG002 - says what the work must come to
        """Answer the message at hand with what `work` comes to, and go on with the next one meanwhile.

        `return self.answer_later(message, self._look())` in `handle`. Its errors count as if `handle` had raised them.
        """
        self.ctx.nursery.start_soon(_answer, work, self.ctx.current_reply, self.answers)
        return Answer(DEFER)

    def forward(self, message: N, to: Awaitable[Ref[N]]) -> Answer:
        """Answer the call at hand, whichever it is, with what another actor answers to it, however long that takes."""
        call = cast("Sent[N, object]", message)  # of a union of calls a type checker infers no inbox

        async def passed_on() -> object:
            return await (await to).call(call, math.inf)

        self.ctx.nursery.start_soon(_answer, passed_on(), self.ctx.current_reply, self.answers)
        return Answer(DEFER)


class _Runner(Generic[M]):
    """One incarnation of one actor."""

    __slots__ = ("actor", "box", "cleaned", "ctx", "life", "served", "slot")

    def __init__(self, life: Life, actor: Actor[M], slot: Slot[M]) -> None:
        self.life = life
        self.actor = actor
        self.slot = slot
        self.box = slot.open(life)
        self.served = False
        self.cleaned = False

    async def run(self) -> None:
        error: BaseException | None = None
        try:
            async with trio.open_nursery() as nursery:
                self.actor.ctx = self.ctx = ActorContext(self.slot, self.box, self.life, nursery)
                await self._started()
                await self.actor.continue_()
                await self._serve()
                if not self.life.killed:
                    await self._stopped(exits.SHUTDOWN)
                if nursery.child_tasks:
                    nursery.cancel_scope.cancel(reason="the actor stopped")
        except BaseException as caught:
            error = caught
            raise
        finally:
            end = self._end(error)
            del error  # a frame that holds its own traceback is a cycle, left to the collector
            if self.served and not self.cleaned:
                self.slot.refuse(self.box, end)
                end = await self._clean_after(end)
            self.slot.closed(self.box, self.life, end)

    def _end(self, error: BaseException | None) -> Exit:
        if self.life.killed:
            return exits.KILLED
        if error is None:
            return exits.SHUTDOWN
        fatal = exits.fatal_leaf(error)
        if isinstance(fatal, trio.Cancelled):
            return exits.SHUTDOWN if self.life.stop_requested else exits.KILLED
        return exits.from_error(error)

    async def _started(self) -> None:
        await self.actor.started()
        self.served = True
        self.life.on_stop(self._ask)
        self.life.on_kill = self._kill
        self.life.ready()
        self.slot.came()

    def _ask(self) -> bool:
        self.box.stopping = True
        return self.box.nudge()

    def _kill(self) -> bool:
        """Wake an idle actor instead of cancelling it: with nothing to unwind, that takes half the time."""
        return not self.ctx.nursery.child_tasks and self._ask()

    async def _serve(self) -> None:
        box = self.box
        drain = self.actor.drain_on_stop
        while not box.stopping or (drain and box.depth and not self.life.killed):
            envelope = await box.get()
            if envelope is None:
                continue
            if box.stopping and not drain:
                box.unget(envelope)
                break
            await self._handle(envelope)
        self.slot.refuse(self.box, self._end(None))

    async def _handle(self, envelope: Envelope) -> None:
        self.slot.current = envelope
        reply = self.ctx.current_reply = envelope.reply
        try:
            result = await self.actor.handle(envelope.message)
            if reply is not None:
                _insist_on_an_answer(envelope.message, result)
        except Exception as error:
            if not _told(reply, error, self.actor.answers):
                self.slot.refuse(self.box, exits.from_error(error))
                raise
        else:
            if reply is not None:
                if result is DEFER:
                    reply.defer(self.slot.deferred)
                else:
                    reply.answer(None if result is NOTHING else result)
        self.slot.current = None

    async def _stopped(self, end: Exit) -> None:
        self.cleaned = True
        self.ctx.current_reply = None
        life = self.life
        if type(self.actor).stopped is Actor.stopped:
            return  # nothing to shield: a restart is a tenth faster without the scope
        with trio.move_on_after(self.actor.cleanup_timeout, shield=True) as scope:
            await self.actor.stopped(end)
        if scope.cancelled_caught:
            detail = f"stopped() took longer than {self.actor.cleanup_timeout:g} s"
            life.system.emit(EventKind.CLEANUP_FAILED, life.path, life.generation, detail=detail)

    async def _clean_after(self, end: Exit) -> Exit:
        """Run the cleanup after a crash or a kill; its own error is reported beside the first one."""
        try:
            await self._stopped(end)
        except Exception as error:  # noqa: BLE001 - the first error is the one that counts
            detail = f"stopped() failed: {error!r}"
            self.life.system.emit(
                EventKind.CLEANUP_FAILED, self.life.path, self.life.generation, detail=detail
            )
        return end


def _insist_on_an_answer(message: object, result: object) -> None:
    if result is None and isinstance(message, Call):
        raise TypeError(f"{type(message).__name__} was left without an answer")


async def _answer(work: Awaitable[Any], reply: Reply | None, answers: tuple[type[Exception], ...]) -> None:
    try:
        found = await work
    except Exception as error:
        if not _told(reply, error, answers):
            raise
    else:
        if reply is not None:
            reply.answer(found)


def _told(reply: Reply | None, error: Exception, answers: tuple[type[Exception], ...]) -> bool:
    """Give the caller an error that is an answer; False where it is none, or nobody asked."""
    if reply is None or not exits.all_leaves(error, answers):
        return False
    reply.fail(next(exits.leaves(error)))
    return True


def actor_spec(
    id: Hashable,
    factory: Callable[[], Actor[M]],
    slot: Slot[M],
    *,
    restart: Restart = Restart.PERMANENT,
    shutdown: float | Brutal = 5.0,
    significant: bool = False,
    backoff: Backoff | None = None,
    start_timeout: float = 30.0,
) -> ChildSpec:
    """The spec of an actor.

    Args:
        id: Unique among its siblings.
        factory: Makes a fresh actor for each incarnation.
        slot: The name it fills; one child a slot.
        restart: When it is started again.
        shutdown: Seconds from the request to stop to the kill, `math.inf`, or `BRUTAL_KILL`.
        significant: Whether its end counts for the supervisor's `auto_shutdown`.
        backoff: How long to wait before a restart.
        start_timeout: Seconds `started` may take.

    Raises:
        SpecError: A value is out of its range.
    """

    async def start(life: Life) -> None:
        await _Runner(life, factory(), slot).run()

    return ChildSpec(
        id=id,
        start=start,
        restart=restart,
        shutdown=shutdown,
        significant=significant,
        backoff=backoff,
        start_timeout=start_timeout,
    )
