"""The actor of claims: which session has which account, so that no login is used by more at once than it may be.

Owns: `.hub/claims.json`. A claim is on record before its agent is started, under the id of its dispatch.
Must not: choose an account (`hub.domain.routing` does), or know what a session does with it.

A session has one account at a time, so a claim takes the place of the one before: nothing has to be given back between
two agents of a session, and whatever dies in between leaves no account taken for ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import assert_never

import attrs

from hub.domain.routing import Target
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.store import RecordForm, RecordStore
from hub.messages import AccountFreed, ClaimAccount, ClaimsInbox, GetClaims, ReleaseAccount, RetainClaims
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

    async def started(self) -> None:
        """Read the claims back. Where they cannot be believed there are none: each agent's next start makes its own."""
        found, _ = self._store.load()
        self._held = (found or KeptClaims()).held

    async def handle(self, message: ClaimsInbox) -> Answer:
        """Take, give back, count."""
        match message:
            case ClaimAccount():
                return message.answer(self._claim(message))
            case ReleaseAccount(session_id=session_id):
                if session_id in self._held:
                    self._write({one: claim for one, claim in self._held.items() if one != session_id})
                return message.answer(None)
            case RetainClaims(sessions=sessions):
                if set(self._held) - set(sessions):
                    self._write({one: claim for one, claim in self._held.items() if one in sessions})
                return message.answer(None)
            case GetClaims(but=but):
                others = (claim.target for one, claim in self._held.items() if one != but)
                return message.answer(Counter(others))
            case _:
                assert_never(message)

    def _claim(self, asked: ClaimAccount) -> bool:
        others = sum(c.target == asked.target for one, c in self._held.items() if one != asked.session_id)
        if others >= asked.most:
            return False
        claim = AccountClaim(asked.target, asked.dispatch_id)
        if self._held.get(asked.session_id) != claim:
            self._write({**self._held, asked.session_id: claim})
        return True

    def _write(self, held: Mapping[str, AccountClaim]) -> None:
        """Keep them, and tell whoever waits where an account has come free.

        Raises:
            HubError: NO_SPACE, READ_ONLY...; nothing has changed.
        """
        self._store.save(KeptClaims(held), "claims")
        before, self._held = Counter(c.target for c in self._held.values()), held
        if before - Counter(c.target for c in held.values()):
            self._sessions.try_cast(AccountFreed())
