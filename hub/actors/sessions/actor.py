"""The register of sessions: the one inbox for all that is about sessions.

Owns: what is asked of all sessions, and what is said by a daemon that has none.
Must not: carry a session on (its own actor does), or keep what a session knows better: it asks.

A session's actor is started when its record begins, when a daemon finds it active, and when somebody asks for one that
has ended long ago. What has ended is let go of when another one begins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import assert_never

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.session import views
from hub.actors.session.context import SessionContext
from hub.actors.sessions import listing
from hub.actors.sessions.admission import Admission
from hub.actors.sessions.beginning import Beginnings
from hub.actors.sessions.provider_status import statuses
from hub.actors.sessions.queue import Queue
from hub.actors.sessions.roster import Roster
from hub.api.providers import ProviderStatus
from hub.api.session import Stopped
from hub.api.sessions import Session, Sessions
from hub.domain.failure import ErrorNote
from hub.domain.routing import Target
from hub.domain.session import meant_by, several_meant
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.messages.claims import AccountFreed, RetainClaims
from hub.messages.quota import QuotaSeen
from hub.messages.session import (
    Detach,
    GetContract,
    GetCost,
    GetInUse,
    GetProviders,
    GetRedactions,
    GetSessionFacts,
    GetSessions,
    GetStatus,
    ReleaseRun,
    RequestHandoff,
    RequestPause,
    RequestReply,
    RequestStop,
    SessionEnd,
    SessionFacts,
    SessionInbox,
    SessionNews,
    SessionsInbox,
    StartRun,
    StopAll,
    WhoBegins,
)
from supervisors import Actor, ActorDied, Answer, Ref

_BREATH = 2.0
"""Seconds until the end of a session is asked for again, where its actor cannot answer."""


@attrs.define
class Register(Actor[SessionsInbox]):
    """One for the daemon; every session's record outlives it."""

    context: SessionContext
    """Without a session: for what is asked before there is one."""
    roster: Roster
    queue: Queue
    beginnings: Beginnings
    admission: Admission = attrs.field(init=False)

    answers = (HubError, ActorDied)

    def __attrs_post_init__(self) -> None:
        self.admission = Admission(self.context, self.roster, self.queue, self.beginnings, self._begun)

    def _begun(self, session_id: str) -> None:
        self.ctx.nursery.start_soon(self._watch, session_id)

    async def started(self) -> None:
        """Read every record back; who is active is started by `continue_`."""
        for damage in self.roster.homes.load():
            await self._publish_damage(damage)
        failpoints.hit("recover.record")
        if (unread := self.queue.load()) is not None:
            await self._publish_damage(unread)

    async def _publish_damage(self, damage: HubError) -> None:
        self.context.shared.trouble = ErrorNote.of(damage)
        try:
            await self.context.store.trouble(damage)
        except HubError:
            return  # the status says it too

    async def continue_(self) -> None:
        """Take hold of what runs; of what has ended, the newest is there to be asked."""
        for session_id in self.roster.homes.unfinished:
            self.roster.active[session_id] = None
        newest = self.roster.homes.newest
        self.admission.runs |= self.roster.homes.runs
        for session_id in dict.fromkeys((*self.roster.active, *([newest] if newest else ()))):
            await self.roster.up(session_id)
        for session_id in self.roster.active:
            self.ctx.nursery.start_soon(self._watch, session_id)
        self.ctx.nursery.start_soon(self._retain_claims)
        self.admission.turn.set()  # a place may have come free while nobody looked
        self.ctx.nursery.start_soon(self.admission.take_turns)

    async def handle(self, message: SessionsInbox) -> Answer:
        """What is for one session is passed on to it; nobody waits behind it."""
        match message:
            case StartRun():
                return self.answer_later(message, self.admission.begin(message))
            case QuotaSeen() | Detach() | AccountFreed():
                await self._forward(message)
                return message.handled()
            case SessionEnd(session_id=session_id):
                return self.answer_later(
                    message, self.roster.pass_on(message, meant_by(session_id, self.roster.homes.known))
                )
            case RequestStop(session_id=given) if given and self._waits(given):
                return self.answer_later(message, self._withdraw(message))
            case GetStatus() | GetCost() | GetRedactions() | GetContract() | GetSessionFacts():
                if not (message.session_id or self.roster.homes.newest):
                    return views.answer(self, self.context, message)
                return self.forward(message, self.roster.up(self._meant(message.session_id)))
            case RequestHandoff() | RequestPause() | RequestReply() | RequestStop():
                return self.forward(message, self._ordered(message.session_id))
            case WhoBegins():
                return self.answer_later(message, self._who_begins(message))
            case GetSessions():
                return self.answer_later(message, self._listed())
            case GetInUse():
                return self.answer_later(message, self._in_use())
            case GetProviders():
                return self.answer_later(message, self._statuses())
            case StopAll(reason=reason):
                return self.answer_later(message, self._stop_all(reason))
            case ReleaseRun():
                return self.answer_later(message, self._release(message))
            case _:
                assert_never(message)

    def _waits(self, given: str) -> bool:
        """Whether an id means an order in the queue.

        Raises:
            HubError: `which_session`; it may as well mean a session.
        """
        waiting, known = self.queue.find(given), self.roster.homes.known
        if waiting is None or given in known:
            return False
        others = [one for one in known if one.startswith(given)]
        if others and given != waiting.session_id:
            raise several_meant([*others, waiting.session_id])
        return True

    async def _withdraw(self, order: RequestStop) -> Stopped:
        answer = await self.admission.withdraw(order.session_id)
        if answer is not None:
            return answer
        return await (await self._ordered(order.session_id)).call(order, math.inf)

    async def _in_use(self) -> Sequence[SessionFacts]:
        return [facts for facts in await self.roster.facts() if facts.active]

    async def _statuses(self) -> list[ProviderStatus]:
        working = [facts.working for facts in await self.roster.facts() if facts.working is not None]
        return await statuses(self.beginnings.routing, working)

    async def _release(self, message: ReleaseRun) -> None:
        self.admission.runs.discard(message.run_id)
        await self.roster.answers(message, self._of_run(message.run_id))
        self.admission.turn.set()

    def _of_run(self, run_id: str) -> Sequence[str]:
        """Who is up, and whoever worked for the run: the actors of its first nodes have ended long ago."""
        records = ((one, self.roster.homes.read(one)) for one in self.roster.homes.known)
        worked = (one for one, record in records if record is not None and record.run_id == run_id)
        return list(dict.fromkeys((*self.roster.up_now(), *worked)))

    # --- which session ----------------------------------------------------------------------------------

    async def _ordered(self, given: str) -> Ref[SessionInbox]:
        """Whom an order means that names this session, or none."""
        if not given and len(self.roster.active) > 1:
            active = [facts.session_id for facts in await self.roster.facts() if facts.active]
            if len(active) > 1:
                raise several_meant(active)
            given = active[0] if active else ""
        return await self.roster.up(self._meant(given))

    def _meant(self, given: str) -> str:
        """The session that is meant.

        Raises:
            HubError: `not_found`, also of one that waits for its turn: it has done nothing yet; `which_session`.
        """
        if given and self._waits(given):
            detail = f"Session {given} waits for its turn: it has not begun."
            hint = f"See how far it is: hub ls   Take it out of the queue: hub stop {given}"
            raise HubError(Code.NOT_FOUND, detail, hint=hint)
        return self.roster.meant(given)

    # --- the actors of the sessions ---------------------------------------------------------------------

    async def _forward(self, message: SessionNews) -> None:
        self.admission.closed = self.admission.closed or isinstance(message, Detach)
        for session_id in self.roster.active:
            self.roster.ref(session_id).try_cast(message)
        if isinstance(message, AccountFreed):
            self.admission.turn.set()

    async def _watch(self, session_id: str) -> None:
        """Until the session has ended; then its place is free."""
        while True:
            try:
                await (await self.roster.up(session_id)).call(SessionEnd(session_id), math.inf)
                break
            except (ActorDied, HubError):
                await trio.sleep(_BREATH)
        self.roster.active.pop(session_id, None)
        await self._retain_claims()
        self.admission.turn.set()

    async def _retain_claims(self) -> None:
        """Accounts of sessions that are over are free; on a full disk it is tried until it is so."""
        while True:
            try:
                await call_until_answered(self.context.claims, RetainClaims(list(self.roster.active)))
            except HubError:
                await trio.sleep(_BREATH)
            else:
                return

    async def _stop_all(self, reason: str) -> None:
        """Side by side.

        Raises:
            HubError: What keeps a session from ending; the others have ended.
        """
        failed: list[HubError] = []

        async def stop(session_id: str) -> None:
            try:
                await call_until_answered(await self.roster.up(session_id), RequestStop(reason), math.inf)
            except HubError as error:
                if error.code is not Code.NO_ACTIVE_SESSION:
                    failed.append(error)

        await self.admission.close()
        async with trio.open_nursery() as nursery:
            for session_id in tuple(self.roster.active):
                nursery.start_soon(stop, session_id)
        if failed:
            raise failed[0]

    # --- beginning --------------------------------------------------------------------------------------

    async def _who_begins(self, asked: WhoBegins) -> Target | None:
        await self.beginnings.routing.refresh_config()
        begins = await self.beginnings.begin(asked.order, by_hand=asked.by_hand, ends=asked.ends)
        return begins.choice.first

    # --- the list ---------------------------------------------------------------------------------------

    async def _listed(self) -> Sessions:
        up = await self.roster.answers(GetStatus(), self.roster.up_now())
        known = [session_id for session_id in self.roster.homes.known if session_id not in up]
        if known or self.queue.waiting:  # records and orders have tasks as they were given
            await self.context.secrets.arm()
        gone = await trio.to_thread.run_sync(self._from_records, known)
        found = {**gone, **{session_id: listing.of_status(status) for session_id, status in up.items()}}
        rows = [found[session_id] for session_id in self.roster.homes.known if session_id in found]
        hide = self.context.secrets.text
        for position, one in enumerate(self.queue.waiting, 1):
            rows.append(listing.of_queue(position, one.session_id, one.order.task, hide))
        return Sessions(sessions=rows, concurrent=self.context.config.session.concurrent)

    def _from_records(self, known: Sequence[str]) -> dict[str, Session]:
        records = (self.roster.homes.read(session_id) for session_id in known)
        return {
            r.session_id: listing.of_record(r, self.context.secrets.text) for r in records if r is not None
        }
