"""The loop that carries a session from state to state: look at the record, do what its state asks, look again.

Owns: the order of steps, what an error in a step leads to, and which helper knows which other.
Must not: remember anything between two steps; a restart enters the loop at the same place.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable

import attrs
import trio

from hub.actors.common.transient import passes, shortage
from hub.actors.session.agent_control import Desk
from hub.actors.session.allotting import Allotting, start_handoff
from hub.actors.session.amending import Amending
from hub.actors.session.assignment_builder import Orders
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.context import Kit
from hub.actors.session.drafting import Drafting
from hub.actors.session.ending import Ending
from hub.actors.session.evidence import Evidence
from hub.actors.session.following import Following
from hub.actors.session.handoff_steps import Passing
from hub.actors.session.permission_broker import Asks
from hub.actors.session.routing import Routing
from hub.actors.session.scores import Scores
from hub.actors.session.setting_up import SettingUp
from hub.actors.session.shared_state import Wish
from hub.actors.session.signed import Signed
from hub.actors.session.spending import Spending
from hub.actors.session.starting import Starting
from hub.actors.session.work import Work
from hub.actors.session.worktree_watch import Stillness
from hub.domain.event import Tag
from hub.domain.handoff import State, Trigger
from hub.domain.session import ErrorNote, SessionRecord, SessionState
from hub.errors import Code, HubError
from hub.messages import AdapterInbox, Dispatch
from supervisors import ChildSpec, DynamicHandle, Ref

_NEEDS_DECISION = frozenset({Code.DISPATCH_AMBIGUOUS})
"""Errors only the user can resolve: nothing is done until they hand over or stop."""
_TROUBLE_PAUSE = 2.0
_LOG = logging.getLogger(__name__)
AdapterSpec = Callable[[Dispatch], tuple[ChildSpec, Ref[AdapterInbox]]]


@attrs.define
class Driver:
    """Runs as the session actor's one background task."""

    kit: Kit
    desk: Desk
    work: Work
    passing: Passing
    ending: Ending
    asks: Asks
    starting: Starting
    chronicler: Chronicler
    scores: Scores
    following: Following
    _told: Code | None = None

    async def run(self) -> None:
        """Go on for ever; returns only when the daemon lets go of the session."""
        async with trio.open_nursery() as beside:
            beside.start_soon(self.chronicler.run)
            beside.start_soon(self.scores.run)
            await self._drive()
            beside.cancel_scope.cancel(reason="the session is let go of")

    async def _drive(self) -> None:
        board = self.kit.board
        while not board.detached:
            record = self.kit.ledger.record
            if record is None or not (record.session_state.active or self.kit.ledger.owes):
                await board.until(lambda: board.detached)
                break
            await self._try_step(record)
            board.touch()
        await self.desk.release()

    async def _try_step(self, record: SessionRecord) -> None:
        """One step, and what follows its error; an error that comes on top of it leaves the step to be tried again."""
        try:
            await self._step(record)
        except HubError as error:
            try:
                await self._trouble(self.kit.ledger.now, error)
            except HubError as another:
                await self._wait_for_better(another)
        except Exception as error:
            if (short := shortage(error)) is not None:
                await self._wait_for_better(short)
                return
            # A restart may heal it: the record says where to go on. One that comes back every time would take
            # the daemon with it, so it ends the session instead.
            if not self.kit.crash_loop.again(record.session_id, record.seq):
                raise
            _LOG.exception("the session cannot go on")
            await self._give_up(record)
        else:
            self._told, self.kit.board.trouble = None, None

    async def _give_up(self, record: SessionRecord) -> None:
        error = HubError(
            Code.INTERNAL, "hub made the same mistake again and again; the session cannot go on."
        )
        try:
            await self.ending.failed(record, error)
        except HubError as another:
            await self._wait_for_better(another)
        except Exception:  # noqa: BLE001 - whatever it is, the daemon is worth more than this session
            _LOG.exception("the session cannot even be ended in order")
            await self.ending.abandoned(record, error)

    async def _step(self, record: SessionRecord) -> None:
        if self.kit.ledger.owes:
            # Nothing of a task is told before all that finds secrets in it is ready; that takes seconds on a new machine.
            await self.kit.secrets.arm()
            await self.kit.ledger.tell()
            if not record.previous:
                await self.starting.tell(record)
            return
        if self.kit.board.wish is Wish.STOP:
            await self.ending.stopped(record, "user")
            self.kit.board.wish = None
        elif record.error is not None and record.error.code in _NEEDS_DECISION:
            await self._await_decision()
        elif record.paused and self._would_start(record):
            await self.work.unpaused()
        elif record.state is State.RUNNING:
            await self.work.step(record)
        else:
            await self.passing.step(record)

    def _would_start(self, record: SessionRecord) -> bool:
        """Whether the next step brings an agent nearer to its start: a user's pause holds until it is lifted."""
        match record.state:
            case State.RUNNING:
                return record.worktree_ready and not record.wait and not self.desk.has_run(record)
            case State.DISPATCHED | State.RESUMING:
                return not self.desk.has_run(record)
            case _:
                return True

    async def _await_decision(self) -> None:
        """The user says what an unknowable dispatch is to be: a handoff request starts the next one."""
        board = self.kit.board
        await board.until(lambda: board.wish or board.detached)
        if board.wish is not Wish.HANDOFF:
            return
        board.wish = None
        record = self.kit.ledger.now
        if record.state is not State.RUNNING:
            await self.passing.abandon_dispatch(record)
            return
        await self.work.routing.ended(record)
        record = await self.kit.ledger.update(
            error=None, needs_input=False, dispatch_id="", session_state=SessionState.RUNNING
        )
        if await self.work.routing.next(record, None) is not None:
            await start_handoff(
                self.kit, record, Trigger.MANUAL_HANDOFF, "the user decided to hand over", None
            )

    async def _trouble(self, record: SessionRecord, error: HubError) -> None:
        if error.code is Code.INTERRUPTED and self.kit.board.wish is Wish.STOP:
            return  # the next step stops
        if passes(error):
            await self._wait_for_better(error)
        elif error.code in _NEEDS_DECISION:
            await self.kit.ledger.say(Tag.ERROR, error.detail, code=str(error.code), hint=error.hint)
            await self.kit.ledger.update(
                error=ErrorNote(error.code, error.detail, error.hint),
                session_state=SessionState.WAITING,
                needs_input=True,
            )
        else:
            await self.ending.failed(record, error)

    async def _wait_for_better(self, error: HubError) -> None:
        """Said once, as soon as it can be, and tried every two seconds: a full disk ends no session."""
        self.kit.board.trouble = ErrorNote(error.code, error.detail, error.hint)
        if self.kit.board.wish is Wish.HANDOFF:
            self.kit.board.settle(error)  # whoever asked for it is told, and may ask again
        if self._told is not error.code:
            with trio.move_on_after(_TROUBLE_PAUSE), contextlib.suppress(HubError):
                await self.kit.ledger.say(Tag.ERROR, error.detail, code=str(error.code), hint=error.hint)
                self._told = error.code
        before = self.kit.board.wish
        await self.kit.board.until(lambda: self.kit.board.wish not in (before, None), _TROUBLE_PAUSE)


def hire(kit: Kit, adapters: DynamicHandle, adapter_spec: AdapterSpec) -> Driver:
    """A fresh driver and its helpers, for one incarnation of the session.

    Args:
        kit: What they share.
        adapters: Where the agents' adapters run.
        adapter_spec: The child that carries a dispatch, and how it is spoken to.
    """
    desk = Desk(kit, adapters, adapter_spec)
    chronicler = Chronicler(kit)
    routing, orders, asks = Routing(kit), Orders(kit), Asks(kit, desk)
    evidence, scores = Evidence(kit, chronicler), Scores(kit, chronicler)
    stillness, signed = Stillness(kit.places.root), Signed(kit)
    amending = Amending(kit, desk)
    drafting = Drafting(kit, evidence, chronicler)
    passing = Passing(
        kit, desk, routing, orders, evidence, asks, stillness, signed, amending, drafting, scores
    )
    ending = Ending(kit, desk, routing, evidence, passing, scores)
    allotting = Allotting(kit, routing, asks)
    spending = Spending(kit, desk, asks)
    work = Work(kit, desk, routing, orders, ending, allotting, amending, SettingUp(kit), spending)
    following = Following(kit, drafting)
    return Driver(kit, desk, work, passing, ending, asks, Starting(kit), chronicler, scores, following)
