"""The circuit breakers: one per provider and account, remembered over restarts.

Owns: `.hub/breakers.json` and the breakers' state; says every change of it in the event log and on the audit log.
Must not: hold the rule (`hub.domain.breaker` does), decide what a failure leads to, or keep a figure of a quota.

Whether a quota is used up the wallet knows (`hub.actors.quota`). It is asked before every answer, so that wallet,
breakers and the choice of who is next tell the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
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
from hub.messages.breakers import (
    BreakerAttempt,
    BreakerClosed,
    BreakerFailure,
    BreakersInbox,
    BreakerSnapshots,
    BreakerSuccess,
    BreakerWithdrawn,
    Shut,
)
from hub.messages.quota import GetStandings
from supervisors import Actor, Answer, Ref

_QUOTA_TIMEOUT = 10.0
_Key = tuple[str, str]
"""Provider and account."""
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
        self._breakers: Mapping[_Key, CircuitBreaker] = {}

    async def continue_(self) -> None:
        """Read the breakers back; a file that cannot be read is said, and no reason not to work."""
        with contextlib.suppress(HubError):
            kept, damage = self._store.load()
            self._breakers = {(b.provider, b.account): b for b in (kept or KeptBreakers()).breakers}
            if damage is not None:
                self.ctx.nursery.start_soon(self._outbox.trouble, damage)

    async def handle(self, message: BreakersInbox) -> Answer:
        """Count, or tell."""
        known = await self._by_now()
        now = self._clock()
        match message:
            case BreakerClosed():
                await self._try_to_keep(known)
                waits = {key: _shut(b, now) for key, b in known.items()}
                return message.answer({key: shut for key, shut in waits.items() if shut.until > now})
            case BreakerSnapshots():
                await self._try_to_keep(known)
                return message.answer([_shown(breaker.at(b, now)) for _, b in sorted(known.items())])
            case BreakerAttempt():
                new, allowed = breaker.allow(
                    _of(known, message), now, message.dispatch_id, insisted=message.insisted
                )
                await self._keep(known, new)
                return message.answer(allowed)
            case BreakerFailure() | BreakerSuccess() | BreakerWithdrawn():
                await self._keep(known, _told(_of(known, message), message, now))
                return message.answer(None)
            case _:
                assert_never(message)

    async def _by_now(self) -> Mapping[_Key, CircuitBreaker]:
        """The breakers as the clock and the wallet have them; one that does not answer costs nothing but that."""
        quotas = await call_or_none(self._quota, GetStandings(), _QUOTA_TIMEOUT) or {}
        now = self._clock()
        known = {key: breaker.set_back(b, now) for key, b in self._breakers.items()}
        for key, standing in quotas.items():
            known[key] = breaker.on_quota(known.get(key) or CircuitBreaker(*key), now, standing)
        return known

    async def _try_to_keep(self, known: Mapping[_Key, CircuitBreaker]) -> None:
        with contextlib.suppress(HubError):  # a full disk: it is taken over again with the next question
            await self._keep(known)

    async def _keep(self, known: Mapping[_Key, CircuitBreaker], *changed: CircuitBreaker) -> None:
        """In one write, and each that opened or closed in one line.

        Durable first: a sender whose message met a full disk sends it again, and it must not count twice.
        """
        before = self._breakers
        after = {**known, **{(b.provider, b.account): b for b in changed}}
        after = {key: b for key, b in after.items() if key in before or b != CircuitBreaker(*key)}
        if after == before:
            return
        if (
            self._store.refused is None
        ):  # beside a newer hub's record this one's are remembered while it lives
            self._store.save(KeptBreakers(tuple(b for _, b in sorted(after.items()))))
        self._breakers = after
        for key, new in after.items():
            old = before.get(key) or CircuitBreaker(*key)
            if (new.state, new.until) != (old.state, old.until):
                await self._say(new)

    async def _say(self, new: CircuitBreaker) -> None:
        until = f" until {iso(new.until)}" if new.until is not None and new.state is BreakerState.OPEN else ""
        why = f" ({_WHY[new.limited, new.cap]})" if new.state is BreakerState.OPEN else ""
        meta: EventMeta = {"provider": new.provider, "account": new.account, "breaker": str(new.state)}
        msg = f"breaker {new.name}: {new.state}{until}{why}"
        await self._outbox.publish(Tag.QUOTA, msg, meta)
        await self._outbox.record("breaker", {**meta, "summary": msg})


def _of(
    known: Mapping[_Key, CircuitBreaker],
    message: BreakerAttempt | BreakerFailure | BreakerSuccess | BreakerWithdrawn,
) -> CircuitBreaker:
    key = message.provider, message.account
    return known.get(key) or CircuitBreaker(*key)


def _told(
    b: CircuitBreaker, news: BreakerFailure | BreakerSuccess | BreakerWithdrawn, now: float
) -> CircuitBreaker:
    """The breaker after the end of a dispatch."""
    dispatch = news.dispatch_id
    match news:
        case BreakerWithdrawn():
            return breaker.on_withdrawal(b, dispatch)
        case BreakerSuccess():
            return breaker.on_success(breaker.at(b, now), dispatch)
        case BreakerFailure(failure=failure):
            old = breaker.at(b, now)
            old = breaker.on_work(old, dispatch) if news.worked else old
            return breaker.on_failure(old, failure.kind, now, failure.resets_at, dispatch)


def _shown(b: CircuitBreaker) -> api.Breaker:
    opened_at, until = (UNSET if at is None else iso(at) for at in (b.opened_at, b.until))
    return api.Breaker(name=b.name, state=b.state, failures=b.failures, opened_at=opened_at, until=until)


def _shut(b: CircuitBreaker, now: float) -> Shut:
    return Shut(breaker.ready_at(b, now), b.limited, b.cap, b.trial_at is not None)
