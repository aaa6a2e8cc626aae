"""The actor of claims: which session has which account, so that no login is used by more at once than it may be.

Owns: `.hub/claims.json`, and who waits for an account, first in, first out. A claim is on record before its agent is
started, under the id of its dispatch.
Must not: choose an account (`hub.domain.routing` does), or know what a session does with it.

A session has one account at a time, so a claim takes the place of the one before: nothing has to be given back between
two agents of a session, and whatever dies in between leaves no account taken for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import assert_never

import attrs

from hub.domain.routing import Target
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore
from hub.messages.claims import (
    AccountFreed,
    AwaitAccounts,
    ClaimAccount,
    ClaimsInbox,
    GetClaims,
    ReleaseAccount,
    RetainClaims,
)
from supervisors import Actor, Answer, Ref


@attrs.frozen
class AccountClaim:
    """What one session has."""

    target: Target
    dispatch_id: str


@attrs.frozen
class KeptClaims:
    """The record."""

    held: Mapping[str, AccountClaim] = attrs.field(factory=dict)
    """By the sessions' ids."""


class Claims(Actor[ClaimsInbox]):
    """Each claim outlives this actor and the daemon."""

    answers = (HubError,)

    def __init__(self, places: Places, sessions: Ref[AccountFreed]) -> None:
        self._store = RecordStore(places.claims, RecordForm(KeptClaims, "The claims"))
        self._sessions = sessions
        self._held: Mapping[str, AccountClaim] = {}
        self._awaited: Mapping[str, Sequence[Target]] = {}
        """By the sessions' ids, in the order in which they began to wait."""

    async def started(self) -> None:
        """Read the claims back. Where they cannot be believed there are none: each agent's next start makes its own."""
        found, _ = self._store.load()
        self._held = (found or KeptClaims()).held

    async def handle(self, message: ClaimsInbox) -> Answer:
        """Take, give back, count."""
        match message:
            case ClaimAccount():
                return message.answer(self._claim(message))
            case AwaitAccounts(session_id=session_id, targets=targets):
                waiting = {**self._awaited, session_id: targets}
                self._change(self._held, {one: some for one, some in waiting.items() if some})
                return message.answer(None)
            case ReleaseAccount(session_id=gone):
                held = {one: claim for one, claim in self._held.items() if one != gone}
                self._change(held, self._awaited)
                return message.answer(None)
            case RetainClaims(sessions=sessions):
                held = {one: claim for one, claim in self._held.items() if one in sessions}
                self._change(held, {one: some for one, some in self._awaited.items() if one in sessions})
                return message.answer(None)
            case GetClaims(but=but):
                return message.answer(self._taken(but))
            case _:
                assert_never(message)

    def _claim(self, asked: ClaimAccount) -> bool:
        mine = asked.session_id
        if self._taken(mine)[asked.target] >= asked.most:
            return False
        held = {**self._held, mine: AccountClaim(asked.target, asked.dispatch_id)}
        self._change(held, {one: some for one, some in self._awaited.items() if one != mine})
        return True

    def _taken(self, but: str = "") -> Counter[Target]:
        """How many sessions have each account, or come first there."""
        taken = Counter(claim.target for one, claim in self._held.items() if one != but)
        for session_id, targets in self._awaited.items():
            if session_id == but:
                break
            taken.update(targets)
        return taken

    def _change(self, held: Mapping[str, AccountClaim], awaited: Mapping[str, Sequence[Target]]) -> None:
        """Keep the claims, and tell whoever waits where an account has come free.

        Raises:
            HubError: NO_SPACE, READ_ONLY...; nothing has changed.
        """
        if held != self._held:
            self._store.save(KeptClaims(held), "claims")
        before, self._held, self._awaited = self._taken(), held, awaited
        if before - self._taken():
            self._sessions.try_cast(AccountFreed())
