"""The sessions of the daemon: whom a message means, and the way to each one's actor.

Owns: which of the sessions on record have an actor, and that one is started for whoever is asked something.
Must not: say who may begin (`admission` does), or keep what a session knows better.
Tests: tests/hub/actors/sessions/test_actor.py
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs
import trio

from hub.actors.sessions.homes import Homes
from hub.domain.session import SessionRecord, SessionState, meant_by
from hub.errors import Code, HubError
from hub.io.project.places import Places
from hub.messages.session import GetSessionFacts, SessionFacts, SessionInbox
from supervisors import ActorDied, AdminCode, AdminError, ChildSpec, DynamicHandle, Ref, Sent

A = TypeVar("A")
PATIENCE = 10.0
"""Seconds that a session's actor may take to come back, for whoever asks it something."""
_GLANCE = 0.5
"""Seconds after which it is seen whether an actor that is away is still to come back."""
SessionSpec = Callable[[Places, str], tuple[ChildSpec, Ref[SessionInbox]]]


@attrs.define
class Roster:
    """Every session on record; those that run, and those that somebody asked for, have an actor."""

    homes: Homes
    running: DynamicHandle
    session_spec: SessionSpec
    active: dict[str, None] = attrs.field(factory=dict)
    """Ids of those that have not ended, as far as was heard; in the order of their beginning."""
    _raising: trio.Lock = attrs.field(factory=trio.Lock)

    def meant(self, given: str) -> str:
        """Whom a question means: the one that is named, else the only active one, else the newest.

        Raises:
            HubError: `not_found`, `which_session`, `no_active_session`.
        """
        if given:
            return meant_by(given, self.homes.known)
        if not self.homes.newest:
            raise HubError(Code.NO_ACTIVE_SESSION)
        return next(iter(self.active)) if len(self.active) == 1 else self.homes.newest

    def ref(self, session_id: str) -> Ref[SessionInbox]:
        """How the session's actor is spoken to, whether it is there or not."""
        return self.session_spec(self.homes.of(session_id), session_id)[1]

    async def up(self, session_id: str) -> Ref[SessionInbox]:
        """The session's actor, started if it is not there."""
        ref = self.ref(session_id)
        async with self._raising:
            spec, _ = self.session_spec(self.homes.of(session_id), session_id)
            if session_id not in self.up_now():
                try:
                    await self.running.start_child(spec)
                except AdminError as error:
                    if error.code is not AdminCode.ALREADY_STARTED:
                        raise ActorDied(ref.name) from error
        try:
            await ref.wait_alive(PATIENCE)
        except trio.TooSlowError:
            raise ActorDied(ref.name) from None
        return ref

    def up_now(self) -> list[str]:
        """Who has an actor."""
        return [str(child.id) for child in self.running.which_children()]

    async def facts(self) -> list[SessionFacts]:
        """Of every session whose actor is up, by its own word."""
        up = [session_id for session_id in self.up_now() if session_id in self.homes.known]
        found: dict[str, SessionFacts | None] = {}

        async def look(session_id: str) -> None:
            found[session_id] = await self._facts_of(session_id)

        async with trio.open_nursery() as nursery:
            for session_id in up:
                nursery.start_soon(look, session_id)
        seen = [facts for session_id in up if (facts := found[session_id]) is not None]
        away = set(self.active) - {facts.session_id for facts in seen}
        # Who is just being started again has not ended, and keeps his place.
        starting = (SessionRecord(session_id=one, session_state=SessionState.STARTING) for one in away)
        return [*seen, *(SessionFacts(record, closed=False) for record in starting)]

    async def add(self, record: SessionRecord, active: Sequence[str], ended: Sequence[str]) -> None:
        """Put a new session on record, in the project's place if no active one has it; who has ended is let go of.

        Raises:
            HubError: As `Homes.begin`.
        """
        async with self._raising:
            place = self.homes.place(record.session_id, active)
            for session_id in ended:
                self.active.pop(session_id, None)
                with contextlib.suppress(AdminError):
                    await self.running.terminate_child(session_id)
            await self.homes.begin(place, record)
            self.active[record.session_id] = None

    async def _facts_of(self, session_id: str) -> SessionFacts | None:
        """None where it was let go of meanwhile."""
        ref = self.ref(session_id)
        while session_id in self.up_now():
            with contextlib.suppress(ActorDied, trio.TooSlowError):
                await ref.wait_alive(_GLANCE)
                return await ref.call(GetSessionFacts(), PATIENCE)
        return None

    async def answers(self, message: Sent[SessionInbox, A], session_ids: Sequence[str]) -> dict[str, A]:
        """What each of them answers, asked side by side; who cannot answer in time, or at all, is left out."""
        found: dict[str, A] = {}

        async def ask(session_id: str) -> None:
            with contextlib.suppress(ActorDied, HubError), trio.move_on_after(PATIENCE):
                found[session_id] = await self.pass_on(message, session_id)

        async with trio.open_nursery() as nursery:
            for session_id in session_ids:
                nursery.start_soon(ask, session_id)
        return found

    async def pass_on(self, message: Sent[SessionInbox, A], session_id: str) -> A:
        """Ask the session's actor, however long it takes.

        Raises:
            ActorDied, HubError: Of the actor.
        """
        return await (await self.up(session_id)).call(message, math.inf)
