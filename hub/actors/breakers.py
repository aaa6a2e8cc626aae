"""The circuit breakers: one per provider and account, remembered over restarts.

Owns: `.hub/breakers.json` and the breakers' state; says every change of it in the event log and on the audit log.
Must not: hold the rule (`hub.domain.breaker` does), decide what a failure leads to, or keep a figure of a quota.

Whether a quota is used up the wallet knows (`hub.actors.quota`). It is asked before every answer, so that wallet,
breakers and the choice of who is next tell the same.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import trio

from hub.actors.clock import iso
from hub.domain import breaker
from hub.domain.breaker import Breaker, State
from hub.domain.event import Tag
from hub.domain.quota.window import Standing
from hub.errors import HubError
from hub.io.breakers import breakers
from hub.io.places import Places
from hub.io.sealed import write_sealed
from hub.io.sqlite import NewEvent
from hub.messages import (
    AuditAppend,
    AuditEntry,
    BreakerAttempt,
    BreakerClosed,
    BreakerFailure,
    BreakerSnapshots,
    BreakerSuccess,
    BreakerWithdrawn,
    EventAppend,
    GetStandings,
    Shut,
)
from supervisors import Actor, ActorDied, Ref

_SAY_TIMEOUT = 10.0
_QUOTA_TIMEOUT = 10.0
_WHY = {
    (False, False): "it failed too often",
    (True, False): "its usage limit is reached",
    (True, True): "its declared cap of tokens is spent",
}


class Breakers(Actor[Any]):
    """Counts failures and says who must be left alone."""

    answers = (HubError,)

    def __init__(
        self,
        places: Places,
        events: Ref[Any],
        clock: Callable[[], float],
        quota: Ref[Any] | None = None,
        audit: Ref[Any] | None = None,
    ) -> None:
        self._places = places
        self._path = places.hub_dir / "breakers.json"
        self._events = events
        self._clock = clock
        self._quota = quota
        self._audit = audit
        self._breakers: dict[tuple[str, str], Breaker] = {}

    async def continue_(self) -> None:
        """Read the breakers back; a file that cannot be read is no reason not to work."""
        self._breakers = {(found.provider, found.account): found for found in breakers(self._places)}

    async def handle(self, message: Any) -> Any:
        """Count, or tell."""
        await self._look_at_quotas()
        now = self._clock()
        match message:
            case BreakerFailure(provider=provider, account=account, failure=failure, dispatch_id=dispatch):
                old = breaker.at(self._of(provider, account), now)
                if message.worked:
                    old = breaker.on_work(old, dispatch)
                await self._keep(breaker.on_failure(old, failure.kind, now, failure.resets_at, dispatch))
            case BreakerSuccess(provider=provider, account=account, dispatch_id=dispatch):
                old = breaker.at(self._of(provider, account), now)
                await self._keep(breaker.on_success(old, now, dispatch))
            case BreakerAttempt(provider=provider, account=account, dispatch_id=dispatch):
                known = self._of(provider, account)
                new, allowed = breaker.allow(known, now, dispatch, insisted=message.insisted)
                await self._keep(new)
                return allowed
            case BreakerWithdrawn(provider=provider, account=account, dispatch_id=dispatch):
                await self._keep(breaker.on_withdrawal(self._of(provider, account), dispatch))
            case BreakerClosed():
                waits = {key: _shut(b, now) for key, b in self._breakers.items()}
                return {key: shut for key, shut in waits.items() if shut.until > now}
            case BreakerSnapshots():
                return [breaker.snapshot(breaker.at(b, now)) for _, b in sorted(self._breakers.items())]
            case _:
                raise TypeError(f"{type(message).__name__} is not for the breakers")
        return None

    async def _look_at_quotas(self) -> None:
        """Take over what the wallet knows; a wallet that does not answer costs nothing but that."""
        if self._quota is None:
            return
        try:
            known: Mapping[tuple[str, str], Standing] = await self._quota.call(
                GetStandings(), timeout=_QUOTA_TIMEOUT
            )
        except (ActorDied, trio.TooSlowError, HubError):
            return
        now = self._clock()
        for key, standing in known.items():
            with contextlib.suppress(HubError):  # a full disk: it is taken over again with the next question
                await self._keep(breaker.on_quota(self._of(*key), now, standing))

    def _of(self, provider: str, account: str) -> Breaker:
        return self._breakers.get((provider, account)) or Breaker(provider, account)

    async def _keep(self, new: Breaker) -> None:
        key = new.provider, new.account
        old = self._of(*key)
        if new == old:
            return
        known = {**self._breakers, key: new}
        body = [breaker.to_json(b) for _, b in sorted(known.items())]
        # Durable first: a sender whose message met a full disk sends it again, and it must not count twice.
        write_sealed(self._path, json.dumps(body).encode())
        self._breakers = known
        if (new.state, new.until) != (old.state, old.until):
            await self._say(new)

    async def _say(self, new: Breaker) -> None:
        until = f" until {iso(new.until)}" if new.until is not None and new.state is State.OPEN else ""
        why = f" ({_WHY[new.limited, new.cap]})" if new.state is State.OPEN else ""
        meta = {"provider": new.provider, "account": new.account, "breaker": str(new.state)}
        msg = f"breaker {new.name}: {new.state}{until}{why}"
        event = NewEvent(str(Tag.QUOTA), msg, meta, int(self._clock() * 1000))
        # The state itself is durable already; a log that is restarting costs the line about it, nothing else.
        with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self._events.call(EventAppend([event]), timeout=_SAY_TIMEOUT)
        if self._audit is None:
            return
        with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self._audit.call(
                AuditAppend([AuditEntry("breaker", {**meta, "summary": msg})]), timeout=_SAY_TIMEOUT
            )


def _shut(b: Breaker, now: float) -> Shut:
    return Shut(breaker.ready_at(b, now), b.limited, b.cap, b.trial_at is not None)
