"""Who may begin: the guard over the places for sessions, and whose turn it is.

Owns: the order "guard, record, actor", one at a time, and the turns of the queue.
Must not: make a record (`beginning` does), or speak to a session but about its place.
Tests: tests/hub/actors/sessions/test_actor.py
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Unpack

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.common.transient import TRANSIENT
from hub.actors.session.context import SessionContext
from hub.actors.sessions.beginning import Beginnings
from hub.actors.sessions.queue import Queue, Queued
from hub.actors.sessions.roster import PATIENCE, Roster
from hub.api.session import Started, Stopped
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.session import SessionRecord, meant_by
from hub.errors import Code, HubError
from hub.messages.claims import RetainClaims
from hub.messages.session import DraftFollowUp, GetSessionFacts, SessionEnd, SessionFacts, StartRun
from supervisors import ActorDied

_LOOK = 10.0
"""Seconds after which the queue is looked at again without a place having come free."""
_BREATH = 2.0
"""Seconds until the queue is looked at again after a trouble that passes by itself."""


@attrs.define
class Admission:
    """Lets sessions begin."""

    context: SessionContext
    roster: Roster
    queue: Queue
    beginnings: Beginnings
    watch: Callable[[str], None]
    """Called with the id of each session that has begun."""
    closed: bool = False
    """Whether nobody's turn comes any more: the daemon ends."""
    runs: set[str] = attrs.field(factory=set)
    """Pipeline runs that go on: between two nodes of one its place is its own."""
    turn: trio.Event = attrs.field(factory=trio.Event)
    """Set when a place has come free."""
    _beginning: trio.Lock = attrs.field(factory=trio.Lock)

    async def begin(self, order: StartRun) -> Started:
        """Beside the inbox, one at a time. The same id is begun once, however often it is asked for."""
        async with self._beginning:
            if self.closed:
                raise HubError(Code.UNAVAILABLE, "The daemon is ending.")
            if self.queue.waiting:
                self.turn.set()  # there may be more places than there were
            if order.session_id in self.roster.homes.known:
                ref = await self.roster.up(order.session_id)
                return _started((await call_until_answered(ref, GetSessionFacts())).record)
            if order.session_id and (there := self.queue.find(order.session_id)):
                return self.queue.told(there)
            trouble = await self._refreshed()
            full = self._full(await self.roster.facts(), order.run_id)
            if full is None and self.queue.waiting and not order.run_id:
                full = HubError(Code.SESSION_ALREADY_RUNNING, "Other sessions are waiting and come first.")
            if full is not None and not order.queue:
                raise full
            if trouble is not None:
                raise trouble
            if full is None:
                try:
                    return await self._enter(order)
                except HubError as error:
                    if error.code is not Code.ACCOUNT_IN_USE or not order.queue:
                        raise
            return await self._queue_up(order)

    async def _refreshed(self) -> HubError | None:
        try:
            await self.beginnings.routing.refresh_config()
        except HubError as error:
            return error
        return None

    def _full(self, there: Sequence[SessionFacts], run_id: str) -> HubError | None:
        """The guard: why no further session may begin now; between the nodes of a pipeline run its place is its own."""
        active = [facts for facts in there if facts.active]
        working = {facts.record.run_id for facts in active}
        between = self.runs - working - {run_id}
        places = self.context.config.session.concurrent
        if len(active) + len(between) < places:
            return None
        if active:
            names = ", ".join(facts.session_id for facts in active)
            verb = "is" if len(active) == 1 else "are"
            noun = "Session" if len(active) == 1 else "Sessions"
            return HubError(Code.SESSION_ALREADY_RUNNING, f"{noun} {names} {verb} running.")
        holder = next(iter(between))
        detail = f"The pipeline run {holder} is running, between two nodes."
        return HubError(Code.SESSION_ALREADY_RUNNING, detail)

    async def _enter(self, order: StartRun) -> Started:
        """Put the session on record, and start its actor: what follows is its own."""
        there = await self.roster.facts()
        active = [facts.session_id for facts in there if facts.active]
        ended = [facts.session_id for facts in there if not facts.active]
        for session_id in ended:
            await self._closed(session_id)
        await call_until_answered(self.context.claims, RetainClaims(active))
        order = await self._followed(order)
        record = await self.beginnings.first_record(order)
        await self.roster.add(record, active, ended)
        self.context.shared.trouble = None
        if order.run_id:
            self.runs.add(order.run_id)
        self.watch(record.session_id)
        await self.roster.up(record.session_id)
        return _started(record)

    async def _followed(self, order: StartRun) -> StartRun:
        """An order that goes on where a session ended, with that one's work and a contract made of it.

        Raises:
            HubError: `not_found`, `which_session`, or why that cannot be.
        """
        if not order.continues or order.adopted:
            return order
        before = meant_by(order.continues, self.roster.homes.known)
        new_id = order.session_id or self.context.new_id("s")
        verify = order.verify if order.verify is not None else self.context.config.session.verify
        found = await self.roster.pass_on(DraftFollowUp(before, new_id, order.task, tuple(verify)), before)
        return attrs.evolve(
            order, continues=before, session_id=new_id, base=found.base, first=found.first, adopted=True
        )

    async def _closed(self, session_id: str) -> None:
        """Wait until the end of a session that is over is told as well: what is to be told stands in its record.

        Raises:
            HubError: `session_already_running`; it cannot be told now.
        """
        try:
            with trio.fail_after(PATIENCE):
                await self.roster.pass_on(SessionEnd(session_id), session_id)
        except trio.TooSlowError:
            detail = f"The end of session {session_id} is still being written."
            raise HubError(Code.SESSION_ALREADY_RUNNING, detail) from None

    async def _queue_up(self, order: StartRun) -> Started:
        await self.beginnings.insist_possible(order)
        session_id = order.session_id or self.context.new_id("s")
        known = attrs.evolve(order, session_id=session_id, task_id=self.context.new_id("t"), queue=False)
        waiting = Queued(known, self.context.clock())
        self.queue.add(waiting)
        self.turn.set()
        answer = self.queue.told(waiting)
        msg = f"waits for its turn, as number {answer.position}"
        await self._say(Tag.WAITING, msg, f"queued:{session_id}", sessionId=session_id)
        return answer

    async def take_turns(self) -> None:
        """Whenever a place comes free, the first that waits begins; the settings may make room too, or an account."""
        while True:
            with trio.move_on_after(_LOOK if self.queue.waiting else math.inf):
                await self.turn.wait()
            self.turn = trio.Event()
            while self.queue.waiting and not self.closed:
                try:
                    if not await self._next():
                        break
                except (HubError, ActorDied):  # a full disk: what waits goes on waiting
                    await trio.sleep(_BREATH)

    async def close(self) -> None:
        """Nobody begins any more; who is just beginning has begun when this returns."""
        self.closed = True
        async with self._beginning:
            return

    async def withdraw(self, given: str) -> Stopped | None:
        """Take an order out of the queue; None where its turn has come meanwhile."""
        async with self._beginning:
            waiting = self.queue.find(given)
            if waiting is None:
                return None
            self.queue.remove(waiting.session_id)
        more: EventMeta = {"sessionId": waiting.session_id, "ended": "stopped"}
        await self._say(Tag.SYSTEM, "taken out of the queue", f"withdrawn:{waiting.session_id}", **more)
        return Stopped(session_id=waiting.session_id, state="stopped", begun=False)

    async def _say(self, tag: Tag, msg: str, source: str, **meta: Unpack[EventMeta]) -> None:
        """What is on record already is said if it can be."""
        with contextlib.suppress(HubError):
            await self.context.store.say(tag, msg, source=source, **meta)

    async def _next(self) -> bool:
        """Begin the first that waits; whether there may be room for another."""
        async with self._beginning:
            if not self.queue.waiting:
                return False
            first = self.queue.waiting[0]
            if (
                first.session_id in self.roster.homes.known
            ):  # it began, and the daemon died before it was taken out
                self.queue.remove(first.session_id)
                return True
            trouble = await self._refreshed()
            if self._full(await self.roster.facts(), ""):
                return False
            try:
                if trouble is not None:
                    raise trouble
                # What the project would do may be another thing than when the order was given.
                await self.beginnings.insist_trusted()
                await self._enter(first.order)
            except HubError as error:
                if error.code is Code.ACCOUNT_IN_USE:
                    return False
                if error.code in TRANSIENT:
                    await trio.sleep(_BREATH)
                    return True
                await self._dropped(first, error)
            self.queue.remove(first.session_id)
            return True

    async def _dropped(self, waiting: Queued, error: HubError) -> None:
        """Its turn has come and it cannot begin: that is said, and the next one's turn comes."""
        msg = f"the session that waited for its turn cannot begin: {error.detail}"
        more: EventMeta = {
            "sessionId": waiting.session_id,
            "hint": error.hint,
            "code": str(error.code),
            "ended": "failed",
        }
        await self._say(Tag.ERROR, msg, f"dropped:{waiting.session_id}", **more)


def _started(record: SessionRecord) -> Started:
    return Started(
        session_id=record.session_id,
        task_id=record.task_id,
        branch=record.branch,
        withheld=list(record.withheld),
        worktree=record.worktree,
        position=0,
    )
