"""The circuit breakers: one per provider and account, remembered over restarts.

Owns: `.hub/breakers.json` and the breakers' state; says every change of it in the event log.
Must not: hold the rule (`hub.domain.breaker` does), or decide what a failure leads to.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

import trio

from hub.actors.clock import iso
from hub.domain import breaker
from hub.domain.breaker import Breaker
from hub.domain.event import Tag
from hub.errors import HubError
from hub.io.places import Places
from hub.io.sealed import read_sealed, write_sealed
from hub.io.sqlite import NewEvent
from hub.messages import BreakerClosed, BreakerFailure, BreakerSnapshots, BreakerSuccess, EventAppend, Shut
from supervisors import Actor, ActorDied, Ref

_LIMIT = 1024 * 1024
_SAY_TIMEOUT = 10.0


class Breakers(Actor[Any]):
    """Counts failures and says who must be left alone."""

    answers = (HubError,)

    def __init__(self, places: Places, events: Ref[Any], clock: Callable[[], float]) -> None:
        self._path = places.hub_dir / "breakers.json"
        self._events = events
        self._clock = clock
        self._breakers: dict[tuple[str, str], Breaker] = {}

    async def started(self) -> None:
        """Read the breakers back; a file that cannot be read is no reason not to work."""
        with contextlib.suppress(OSError, HubError, ValueError, TypeError):
            for body in json.loads(read_sealed(self._path, _LIMIT)):
                found = breaker.from_json(body)
                self._breakers[found.provider, found.account] = found

    async def handle(self, message: Any) -> Any:
        """Count, or tell."""
        now = self._clock()
        match message:
            case BreakerFailure(provider=provider, account=account, failure=failure):
                old = self._of(provider, account)
                await self._keep(old, breaker.on_failure(old, failure.kind, now, failure.resets_at))
            case BreakerSuccess(provider=provider, account=account):
                old = self._of(provider, account)
                tried, allowed = breaker.allow(old, now)
                await self._keep(old, breaker.on_success(tried, now) if allowed else old)
            case BreakerClosed():
                waits = {key: Shut(breaker.ready_at(b, now), b.limited) for key, b in self._breakers.items()}
                return {key: shut for key, shut in waits.items() if shut.until > now}
            case BreakerSnapshots():
                return [breaker.snapshot(b) for _, b in sorted(self._breakers.items())]
            case _:
                raise TypeError(f"{type(message).__name__} is not for the breakers")
        return None

    def _of(self, provider: str, account: str) -> Breaker:
        return self._breakers.get((provider, account)) or Breaker(provider, account)

    async def _keep(self, old: Breaker, new: Breaker) -> None:
        if new == old:
            return
        known = {**self._breakers, (new.provider, new.account): new}
        body = [breaker.to_json(b) for _, b in sorted(known.items())]
        # Durable first: a sender whose message met a full disk sends it again, and it must not count twice.
        write_sealed(self._path, json.dumps(body).encode())
        self._breakers = known
        if new.state is not old.state:
            await self._say(new)

    async def _say(self, new: Breaker) -> None:
        until = f" until {iso(new.until)}" if new.until is not None else ""
        meta = {"provider": new.provider, "account": new.account, "breaker": str(new.state)}
        event = NewEvent(
            str(Tag.QUOTA), f"breaker {new.name}: {new.state}{until}", meta, int(self._clock() * 1000)
        )
        # The state itself is durable already; a log that is restarting costs the line about it, nothing else.
        with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self._events.call(EventAppend([event]), timeout=_SAY_TIMEOUT)
