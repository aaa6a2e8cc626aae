"""The outcomes actor: how each profile has done.

Owns: `.hub/outcomes.json`.
Must not: judge a session (the verifier does), or ask the session anything.

What it knows is a fold over the event log. It is written down, with the place in the log, when a session has ended; so
an actor that is killed reads the session under way again from its first event, and counts nothing twice.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import msgspec
import trio

from hub.domain.cost import Bill, Meter, bill
from hub.domain.event import EventType, Record
from hub.domain.outcome import Outcome, Run, counted, told
from hub.errors import HubError
from hub.io.places import Places
from hub.io.sealed import read_sealed, write_sealed
from hub.messages import EventsHead, GetOutcomes, Subscribe, Subscription, Unsubscribe
from supervisors import Actor, ActorDied, Exit, Ref

_LIMIT = 4 * 1024 * 1024
_TIMEOUT = 30.0


@attrs.frozen
class Kept:
    """The file."""

    cursor: int = 0
    """The id of the last event that is counted in."""
    outcomes: tuple[Outcome, ...] = ()


class Outcomes(Actor[Any]):
    """The tally of every profile."""

    answers = (HubError,)

    def __init__(self, places: Places, events: Ref[Any]) -> None:
        self._path = places.hub_dir / "outcomes.json"
        self._events = events
        self._kept = Kept()
        self._meters: dict[str, dict[str, Meter]] = {}
        """By session and dispatch, for sessions that have not ended."""
        self._token: int | None = None

    async def continue_(self) -> None:
        """Read back what is counted, and follow the log from there."""
        # A file that cannot be read is no loss: the log tells it all again.
        with contextlib.suppress(OSError, HubError, msgspec.MsgspecError):
            self._kept = msgspec.json.decode(read_sealed(self._path, _LIMIT), type=Kept)
        self.ctx.nursery.start_soon(self._follow)

    async def stopped(self, exit: Exit) -> None:  # noqa: A002, ARG002 - the hook's signature
        """Leave the log."""
        if self._token is not None:
            self._events.try_cast(Unsubscribe(self._token))

    async def handle(self, message: Any) -> Any:
        """Answer with the tally."""
        match message:
            case GetOutcomes():
                return [told(outcome) for outcome in self._kept.outcomes]
            case _:
                raise TypeError(f"{type(message).__name__} is not for the outcomes")

    async def _follow(self) -> None:
        while True:
            with contextlib.suppress(ActorDied, trio.TooSlowError):
                await self._read_on()
            await self._events.wait_alive(math.inf)

    async def _read_on(self) -> None:
        """Until the log goes down; begins at the last session's end, with nothing counted of the one under way."""
        head = await self._events.call(EventsHead(), timeout=_TIMEOUT)
        if self._kept.cursor > head:  # the log was put aside, and begins anew
            self._kept = attrs.evolve(self._kept, cursor=0)
        self._meters.clear()
        found: Subscription = await self._events.call(Subscribe(self._kept.cursor), timeout=_TIMEOUT)
        self._token = found.token
        with found.channel:
            async for records in found.channel:
                await self._take(records)

    async def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            session = str(record.meta.get("sessionId", ""))
            if record.meta.get("type") == EventType.USAGE:
                meters = self._meters.setdefault(session, {})
                meters.setdefault(str(record.meta.get("dispatchId", "")), Meter()).feed(record.meta)
            elif "ended" in record.meta and "type" not in record.meta:  # hub's own word, no agent's
                await self._ended(record, self._meters.pop(session, {}))

    async def _ended(self, record: Record, meters: dict[str, Meter]) -> None:
        name = str(record.meta.get("profile", ""))
        outcomes = self._kept.outcomes
        if name:
            outcomes = _with(outcomes, name, await _run(record, meters))
        self._kept = Kept(record.id, outcomes)
        # A disk that is full costs the note of it, not the count: the next one writes both.
        with contextlib.suppress(HubError, OSError):
            await trio.to_thread.run_sync(write_sealed, self._path, msgspec.json.encode(self._kept))


def _with(outcomes: Sequence[Outcome], name: str, run: Run) -> tuple[Outcome, ...]:
    found = {outcome.profile: outcome for outcome in outcomes}
    found[name] = counted(found.get(name, Outcome(name)), run)
    return tuple(found.values())


async def _run(record: Record, meters: Mapping[str, Meter]) -> Run:
    cost = await _billed(list(meters.values()))
    return Run(
        state=str(record.meta["ended"]),
        verified=record.meta.get("verified"),
        tokens=cost.tokens.tokens_in + cost.tokens.tokens_out,
        micros=None if cost.usd is None else cost.micros,
        at=str(record.meta.get("at", "")),
    )


async def _billed(meters: list[Meter]) -> Bill:
    if not any(meter.open() for meter in meters):
        return bill(meters, lambda _: None)
    from hub.io.prices import price  # noqa: PLC0415  # heavy, and most sessions need none

    return await trio.to_thread.run_sync(bill, meters, price)
