"""The circuit breakers: one per provider and account, remembered over restarts.

Owns: `.hub/breakers.json` and the breakers' state; says every change of it in the event log and on the audit log.
Must not: hold the rule (`hub.domain.breaker` does), decide what a failure leads to, or keep a figure of a quota.

Whether a quota is used up the wallet knows (`hub.actors.quota`). It is asked before every answer, so that wallet,
breakers and the choice of who is next tell the same.
"""

from __future__ import annotations

import contextlib
from typing import assert_never

from hub.actors.common.calls import call_or_none
from hub.actors.common.outbox import Outbox
from hub.api import observability as api
from hub.api.meta import UNSET
from hub.domain import breaker
from hub.domain.breaker import BreakerState, CircuitBreaker
from hub.domain.event import Tag
from hub.domain.meta import EventMeta
from hub.domain.wallclock import iso
from hub.errors import HubError
from hub.io.project.places import Places
from hub.io.records.breakers import KeptBreakers, breaker_store
from hub.messages import (
    BreakerAttempt,
    BreakerClosed,
    BreakerFailure,
    BreakersInbox,
    BreakerSnapshots,
    BreakerSuccess,
    BreakerWithdrawn,
    GetStandings,
    Shut,
)
from supervisors import Actor, Answer, Ref

_QUOTA_TIMEOUT = 10.0
_WHY = {
    (False, False): "it failed too often",
    (True, False): "its usage limit is reached",
    (True, True): "its declared cap of tokens is spent",
}


class Breakers(Actor[BreakersInbox]):
    """Counts failures and says who must be left alone."""

    answers = (HubError,)

    def __init__(self, places: Places, outbox: Outbox, quota: Ref[GetStandings]) -> None:
        self._store = breaker_store(places)
        self._outbox = outbox
        self._clock = outbox.clock
        self._quota = quota
        self._breakers: dict[tuple[str, str], CircuitBreaker] = {}

    async def continue_(self) -> None:
        """Read the breakers back; a file that cannot be read is said, and no reason not to work."""
        with contextlib.suppress(HubError):
            kept, damage = self._store.load()
            self._breakers = {(b.provider, b.account): b for b in (kept or KeptBreakers()).breakers}
            if damage is not None:
                self.ctx.nursery.start_soon(self._outbox.trouble, damage)

    async def handle(self, message: BreakersInbox) -> Answer:
        """Count, or tell."""
        await self._look_at_quotas()
        now = self._clock()
        self._breakers = {key: breaker.set_back(b, now) for key, b in self._breakers.items()}
        match message:
            case BreakerFailure(provider=provider, account=account, failure=failure, dispatch_id=dispatch):
                old = breaker.at(self._of(provider, account), now)
                if message.worked:
                    old = breaker.on_work(old, dispatch)
                await self._keep(breaker.on_failure(old, failure.kind, now, failure.resets_at, dispatch))
                return message.answer(None)
            case BreakerSuccess(provider=provider, account=account, dispatch_id=dispatch):
                old = breaker.at(self._of(provider, account), now)
                await self._keep(breaker.on_success(old, dispatch))
                return message.answer(None)
            case BreakerAttempt(provider=provider, account=account, dispatch_id=dispatch):
                known = self._of(provider, account)
                new, allowed = breaker.allow(known, now, dispatch, insisted=message.insisted)
                await self._keep(new)
                return message.answer(allowed)
            case BreakerWithdrawn(provider=provider, account=account, dispatch_id=dispatch):
                await self._keep(breaker.on_withdrawal(self._of(provider, account), dispatch))
                return message.answer(None)
            case BreakerClosed():
                waits = {key: _shut(b, now) for key, b in self._breakers.items()}
                return message.answer({key: shut for key, shut in waits.items() if shut.until > now})
            case BreakerSnapshots():
                return message.answer([_shown(breaker.at(b, now)) for _, b in sorted(self._breakers.items())])
            case _:
                assert_never(message)

    async def _look_at_quotas(self) -> None:
        """Take over what the wallet knows; a wallet that does not answer costs nothing but that."""
        known = await call_or_none(self._quota, GetStandings(), _QUOTA_TIMEOUT) or {}
        now = self._clock()
        for key, standing in known.items():
            with contextlib.suppress(HubError):  # a full disk: it is taken over again with the next question
                await self._keep(breaker.on_quota(self._of(*key), now, standing))

    def _of(self, provider: str, account: str) -> CircuitBreaker:
        return self._breakers.get((provider, account)) or CircuitBreaker(provider, account)

    async def _keep(self, new: CircuitBreaker) -> None:
        key = new.provider, new.account
        old = self._of(*key)
        if new == old:
            return
        known = {**self._breakers, key: new}
        if (
            self._store.refused is None
        ):  # beside a newer hub's record they are remembered as long as this one lives
            # Durable first: a sender whose message met a full disk sends it again, and it must not count twice.
            self._store.save(KeptBreakers(tuple(b for _, b in sorted(known.items()))))
        self._breakers = known
        if (new.state, new.until) != (old.state, old.until):
            await self._say(new)

    async def _say(self, new: CircuitBreaker) -> None:
        until = f" until {iso(new.until)}" if new.until is not None and new.state is BreakerState.OPEN else ""
        why = f" ({_WHY[new.limited, new.cap]})" if new.state is BreakerState.OPEN else ""
        meta: EventMeta = {"provider": new.provider, "account": new.account, "breaker": str(new.state)}
        msg = f"breaker {new.name}: {new.state}{until}{why}"
        await self._outbox.publish(Tag.QUOTA, msg, meta)
        await self._outbox.record("breaker", {**meta, "summary": msg})


def _shown(b: CircuitBreaker) -> api.Breaker:
    opened_at, until = (UNSET if at is None else iso(at) for at in (b.opened_at, b.until))
    return api.Breaker(name=b.name, state=b.state, failures=b.failures, opened_at=opened_at, until=until)


def _shut(b: CircuitBreaker, now: float) -> Shut:
    return Shut(breaker.ready_at(b, now), b.limited, b.cap, b.trial_at is not None)
